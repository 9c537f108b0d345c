"""Messages of another dialect, made ready to be written: call ids, tool names, merged turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from foldline.lazy_patterns import lazy_pattern
from foldline.values.groups import Site, pair
from foldline.values.messages import Media, Message, Opaque, Part, Text, ToolCall, ToolResult

START = "[The recorded conversation starts here, with a turn of the model.]"
"""What a user says first where the model would, which some wires do not allow."""


def is_own(message: Message, dialect: str) -> bool:
    """Return True if a message has an original in this dialect, rather than only neutral parts."""
    return message.dialect == dialect and message.raw is not None


_AS_BEFORE = {"gemini": "tool", "openai-responses": "assistant"}
"""The role whose messages are written one way or another after what stands before them."""


def stands_alone(message: Message, dialect: str) -> bool:
    """
    Return True if a message is written as it came, and so is what follows it as it came.

    Args:
        message: The message.
        dialect: The dialect that is written; LangChain's foreign messages look like its others.
    """
    if not (message.intact and is_own(message, dialect)) or dialect == "langchain":
        return False
    return message.role != _AS_BEFORE.get(dialect)


def adapt(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
    """
    Give foreign messages what a wire may need and neutral parts may lack.

    Calls without an id get one that depends on the content of their message only; results learn
    the id and the tool name of their call; neighbouring assistant messages become one, because
    parallel calls must share a message. Tools that the user ran, which no wire knows, become what
    the user said. Messages that have an original in ``dialect`` are returned as they are.

    Args:
        messages: The conversation in order.
        dialect: The dialect that will be written.
    """
    if all(is_own(message, dialect) for message in messages):
        return messages
    messages = _user_calls_as_text(messages, dialect)
    parts = _complete_pairs(messages, dialect)
    ready = [
        replace(message, parts=_replace_parts(message, index, parts))
        if index in parts
        else message
        for index, message in enumerate(messages)
    ]
    return _merge_assistant(ready, dialect)


def _user_calls_as_text(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
    """Turn the calls of a user, and what these gave, into text that the user says."""
    calling = {
        index
        for index, message in enumerate(messages)
        if message.role == "user" and message.calls and not is_own(message, dialect)
    }
    if not calling:
        return messages
    parts: dict[int, dict[int, Part]] = {}
    for call, answer in pair(messages).answers.items():
        if call.message in calling and not is_own(messages[answer.message], dialect):
            said = _as_text(messages[answer.message].parts[answer.part])
            parts.setdefault(answer.message, {})[answer.part] = said
    for index in calling:
        said_parts = enumerate(messages[index].parts)
        parts.setdefault(index, {}).update({at: _as_text(part) for at, part in said_parts})
    return [
        replace(
            message,
            role="user" if len(parts[index]) == len(message.parts) else message.role,
            parts=_replace_parts(message, index, parts),
        )
        if index in parts
        else message
        for index, message in enumerate(messages)
    ]


def _as_text(part: Part) -> Part:
    match part:
        case ToolCall():
            return Text(f"[{part.name} {part.arguments}]")
        case ToolResult():
            return Text(part.text or f"[{part.name or 'The tool'} returned nothing.]")
        case _:
            return part


def note(part: Media | Opaque) -> str:
    """Return the text that stands for a part which a wire cannot carry."""
    kind = part.media_type if isinstance(part, Media) else part.text
    if isinstance(part, Opaque) and kind:
        return kind
    return f"[{part.kind} {kind}]" if kind else f"[{part.kind}]"


def _complete_pairs(messages: Sequence[Message], dialect: str) -> dict[int, dict[int, Part]]:
    pairing = pair(messages)
    out: dict[int, dict[int, Part]] = {}
    for site in (*pairing.answers, *pairing.open):
        call = _with_id(messages, site, dialect)
        if call is not messages[site.message].parts[site.part]:
            out.setdefault(site.message, {})[site.part] = call
        answer = pairing.answers.get(site)
        if answer is not None and not is_own(messages[answer.message], dialect):
            out.setdefault(answer.message, {})[answer.part] = _with_name(messages, answer, call)
    for answer, site in pairing.late.items():
        if not is_own(messages[answer.message], dialect):
            call = _with_id(messages, site, dialect)
            out.setdefault(answer.message, {})[answer.part] = _with_name(messages, answer, call)
    return out


def _with_id(messages: Sequence[Message], site: Site, dialect: str) -> ToolCall:
    message = messages[site.message]
    call = message.parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # pair() lists calls only
    if call.id or is_own(message, dialect):
        return call
    return replace(call, id=f"call_{message.id[:16] or site.message}_{site.part}")


def _with_name(messages: Sequence[Message], site: Site, call: ToolCall) -> ToolResult:
    result = messages[site.message].parts[site.part]
    assert isinstance(result, ToolResult)  # noqa: S101  # pair() lists results only
    return replace(result, call_id=result.call_id or call.id, name=result.name or call.name)


def _replace_parts(
    message: Message, index: int, parts: dict[int, dict[int, Part]]
) -> tuple[Part, ...]:
    changed = parts[index]
    return tuple(changed.get(position, part) for position, part in enumerate(message.parts))


def _merge_assistant(messages: Iterable[Message], dialect: str) -> list[Message]:
    out: list[Message] = []
    for message in messages:
        before = out[-1] if out else None
        both = before is not None and before.role == message.role == "assistant"
        if before is None or not both or is_own(before, dialect) or is_own(message, dialect):
            out.append(message)
            continue
        joined = (*before.parts, *message.parts)
        out[-1] = replace(before, parts=joined, raw=None, dialect="")
    return out


def envelope(message: Message, dialect: str) -> dict[str, Any]:
    """Return a copy of the wire original whose other fields survive an edit, or a bare role."""
    if is_own(message, dialect) and isinstance(message.raw, dict):
        return dict(message.raw)
    return {"role": message.role}


MAX_LENGTH = 64
"""Longest id that OpenAI accepts, in characters."""

_ILLEGAL = lazy_pattern(r"[^a-zA-Z0-9_-]")


def wire_ids(messages: Sequence[Message], dialect: str) -> dict[Site, str]:
    """
    Choose the ids of calls and results that another dialect, or Foldline itself, has made.

    An id is kept where it is legal (letters, digits, ``_`` and ``-``, at most 64) and new. A call
    without one, or with one that an earlier call has, gets one that depends on its message only,
    so that it is the same on the next request. A result gets the id of the call that it answers.

    Args:
        messages: The conversation in order.
        dialect: The format that is written; ids of its own messages stay.

    Returns:
        An id for every call and result, or nothing when no message needs one.
    """
    if all(is_own(m, dialect) or not (m.calls or m.results) for m in messages):
        return {}
    pairing = pair(messages)
    numbers: dict[Site, str] = {}
    taken: set[str] = set()
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                kept = (part.id or "") if is_own(message, dialect) else _new(part.id, taken)
                numbers[Site(index, position)] = kept or _made_up(message, index, position)
                taken.add(numbers[Site(index, position)])
    numbers |= {result: numbers[call] for call, result in pairing.answers.items()}
    numbers |= {late: numbers[call] for late, call in pairing.late.items()}
    for site in pairing.orphans:
        message = messages[site.message]
        part = message.parts[site.part]
        number = legal_id(part.call_id or "") if isinstance(part, ToolResult) else ""
        numbers[site] = number or _made_up(message, site.message, site.part)
    return numbers


def legal_id(number: str) -> str:
    """Return an id in the letters and the length that every provider accepts."""
    legal = _ILLEGAL.sub("_", number)
    if len(legal) <= MAX_LENGTH:
        return legal
    digest = blake2b(number.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{legal[: MAX_LENGTH - 17]}_{digest}"


def _new(number: str | None, taken: set[str]) -> str:
    legal = legal_id(number or "")
    return "" if legal in taken else legal


def _made_up(message: Message, index: int, position: int) -> str:
    return f"call_{message.id[:16] or index}_{position}"


def flat_text(parts: Iterable[Part]) -> str:
    """Join what a reader sees of some parts: text as it is, media as a short note."""
    pieces = []
    for part in parts:
        if isinstance(part, Media):
            pieces.append(f"[{part.kind} {part.media_type}".rstrip() + "]")
        elif isinstance(part, Text):
            pieces.append(part.text)
        elif isinstance(part, Opaque):
            pieces.append(part.text or f"[{part.kind}]")
    return "\n".join(pieces)
