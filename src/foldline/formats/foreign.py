"""Messages of another dialect, made ready to be written: call ids, tool names, merged turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from foldline.values.groups import Site, pair
from foldline.values.messages import Media, Message, Opaque, Part, Text, ToolCall, ToolResult

START = "[The recorded conversation starts here, with a turn of the model.]"
"""What a user says first where the model would, which some wires do not allow."""


def is_own(message: Message, dialect: str) -> bool:
    """Tell whether a message has an original in this dialect, rather than only neutral parts."""
    return message.dialect == dialect and message.raw is not None


_AS_BEFORE = {"gemini": "tool", "openai-responses": "assistant"}
"""The role whose messages are written one way or another after what stands before them."""


def stands_alone(message: Message, dialect: str) -> bool:
    """
    Tell whether a message is written as it came, and so is what follows it as it came.

    Args:
        message: The message.
        dialect: The dialect that is written; LangChain's foreign messages look like its others.
    """
    if not (message.intact and is_own(message, dialect)) or dialect == "langchain":
        return False
    return message.role != _AS_BEFORE.get(dialect)


def adapted(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
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
    messages = _voiced(messages, dialect)
    parts = _paired(messages, dialect)
    ready = [
        replace(message, parts=_changed(message, index, parts)) if index in parts else message
        for index, message in enumerate(messages)
    ]
    return _merged(ready, dialect)


def _voiced(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
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
            said = _said(messages[answer.message].parts[answer.part])
            parts.setdefault(answer.message, {})[answer.part] = said
    for index in calling:
        said_parts = enumerate(messages[index].parts)
        parts.setdefault(index, {}).update({at: _said(part) for at, part in said_parts})
    return [
        replace(
            message,
            role="user" if len(parts[index]) == len(message.parts) else message.role,
            parts=_changed(message, index, parts),
        )
        if index in parts
        else message
        for index, message in enumerate(messages)
    ]


def _said(part: Part) -> Part:
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


def _paired(messages: Sequence[Message], dialect: str) -> dict[int, dict[int, Part]]:
    pairing = pair(messages)
    out: dict[int, dict[int, Part]] = {}
    for site in (*pairing.answers, *pairing.open):
        call = _numbered(messages, site, dialect)
        if call is not messages[site.message].parts[site.part]:
            out.setdefault(site.message, {})[site.part] = call
        answer = pairing.answers.get(site)
        if answer is not None and not is_own(messages[answer.message], dialect):
            out.setdefault(answer.message, {})[answer.part] = _named(messages, answer, call)
    for answer, site in pairing.late.items():
        if not is_own(messages[answer.message], dialect):
            call = _numbered(messages, site, dialect)
            out.setdefault(answer.message, {})[answer.part] = _named(messages, answer, call)
    return out


def _numbered(messages: Sequence[Message], site: Site, dialect: str) -> ToolCall:
    message = messages[site.message]
    call = message.parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # pair() lists calls only
    if call.id or is_own(message, dialect):
        return call
    return replace(call, id=f"call_{message.id[:16] or site.message}_{site.part}")


def _named(messages: Sequence[Message], site: Site, call: ToolCall) -> ToolResult:
    result = messages[site.message].parts[site.part]
    assert isinstance(result, ToolResult)  # noqa: S101  # pair() lists results only
    return replace(result, call_id=result.call_id or call.id, name=result.name or call.name)


def _changed(message: Message, index: int, parts: dict[int, dict[int, Part]]) -> tuple[Part, ...]:
    changed = parts[index]
    return tuple(changed.get(position, part) for position, part in enumerate(message.parts))


def _merged(messages: Iterable[Message], dialect: str) -> list[Message]:
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
