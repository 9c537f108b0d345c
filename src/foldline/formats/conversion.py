"""Converting messages of another dialect: legal call ids, tool names, merged turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from foldline.blake2 import blake2b
from foldline.frozen import replace
from foldline.lazy import lazy_pattern
from foldline.values.groups import Site, pair
from foldline.values.messages import Media, Message, Opaque, Part, Role, Text, ToolCall, ToolResult
from foldline.values.transcript import Transcript

OPENING_TURN = "[The recorded conversation starts here, with a turn of the model.]"
"""Text of a user message put before a leading model turn, which some wires do not allow."""


def is_own(message: Message, dialect: str) -> bool:
    """Return True if a message has an original in this dialect, not only neutral parts."""
    return message.dialect == dialect and message.raw is not None


_AS_BEFORE = {"gemini": "tool", "openai-responses": "assistant"}
"""The role whose messages are written depending on the preceding ones."""


def is_context_free(message: Message, dialect: str) -> bool:
    """
    Return True if a message is written unchanged, and so are unchanged messages after it.

    Args:
        message: The message.
        dialect: The target dialect; LangChain's foreign messages look like its others.
    """
    if not (message.intact and is_own(message, dialect)) or dialect == "langchain":
        return False
    return message.role != _AS_BEFORE.get(dialect)


def adapt(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
    """
    Complete messages of another dialect with what a wire may need and neutral parts may lack.

    Calls without an id get one that depends only on the content of their message; results get
    the id and the tool name of their call; adjacent assistant messages are merged, because
    parallel calls must share a message. Tool calls by the user, which no wire supports, become
    user text. Messages that have an original in ``dialect`` are returned unchanged.

    Args:
        messages: The conversation in order.
        dialect: The target dialect.
    """
    if all(is_own(message, dialect) for message in messages):
        return messages
    ready = with_legal_ids(_user_calls_as_text(messages, dialect), dialect)
    return _merge_assistant(ready, dialect)


def _user_calls_as_text(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
    """Turn tool calls by the user, and their results, into user text."""
    calling = {
        index
        for index, message in enumerate(messages)
        if message.role == "user" and message.calls and not is_own(message, dialect)
    }
    if not calling:
        return messages
    sites = [Site(index, at) for index in calling for at in range(len(messages[index].parts))]
    sites += [
        answer
        for call, answer in pair(messages).answers.items()
        if call.message in calling and not is_own(messages[answer.message], dialect)
    ]
    changed = Counter(index for index, _ in sites)
    indexes_to_user = {index for index, n in changed.items() if n == len(messages[index].parts)}
    parts = {Site(index, at): _as_text(messages[index].parts[at]) for index, at in sites}
    return [
        replace(message, role="user") if index in indexes_to_user else message
        for index, message in enumerate(_replace_parts(messages, parts))
    ]


def _as_text(part: Part) -> Part:
    match part:
        case ToolCall():
            return Text(f"[{part.name} {part.arguments}]")
        case ToolResult():
            return Text(part.text or f"[{part.name or 'The tool'} returned nothing.]")
        case _:
            return part


def leading_system(transcript: Transcript) -> tuple[str, Sequence[Message]]:
    """Return the system prompt with the system messages at the start, and the other messages."""
    messages = transcript.messages
    texts = [message.text for message in takewhile(lambda m: m.role == "system", messages)]
    return "\n\n".join(filter(None, (transcript.system, *texts))), messages[len(texts) :]


def placeholder(part: Media | Opaque) -> str:
    """Return the text that replaces a part which a wire cannot carry."""
    kind = part.media_type if isinstance(part, Media) else part.text
    if isinstance(part, Opaque) and kind:
        return kind
    return f"[{part.kind} {kind}]" if kind else f"[{part.kind}]"


def _replace_parts(messages: Sequence[Message], parts: Mapping[Site, Part]) -> list[Message]:
    """Return messages with some parts replaced."""
    changed = {site.message for site in parts}
    return [
        replace(
            message,
            parts=tuple(parts.get(Site(index, at), p) for at, p in enumerate(message.parts)),
        )
        if index in changed
        else message
        for index, message in enumerate(messages)
    ]


def _merge_assistant(messages: Iterable[Message], dialect: str) -> list[Message]:
    out: list[Message] = []
    for message in messages:
        before = out[-1] if out else None
        both = before is not None and before.role == message.role == "assistant"
        if before is None or not both or is_own(before, dialect) or is_own(message, dialect):
            out.append(message)
            continue
        out[-1] = replace(before, parts=(*before.parts, *message.parts), raw=None, dialect="")
    return out


def envelope(message: Message, dialect: str) -> dict[str, Any]:
    """Return a copy of the wire original, whose other fields survive an edit, or a bare role."""
    if is_own(message, dialect) and isinstance(message.raw, dict):
        return dict(message.raw)
    return {"role": message.role}


def write_messages(
    messages: Sequence[Message],
    dialect: str,
    update: Callable[[Message], list[Any]],
    build: Callable[[Message], list[Any]],
    join: str = "",
    joined: Collection[Role] = (),
) -> list[Any]:
    """
    Write a conversation message by message.

    Args:
        messages: The conversation in order.
        dialect: The target dialect.
        update: Writes a message of this dialect after an edit.
        build: Writes a message without an original here; its calls and results have legal ids.
        join: The key of the list in which adjacent wire messages are merged.
        joined: The roles whose adjacent messages without an original here are merged.
    """
    if all(message.intact and is_own(message, dialect) for message in messages):
        return [message.raw for message in messages]
    out: list[Any] = []
    growing: Role | None = None
    for message in adapt(messages, dialect):
        if is_own(message, dialect):
            out += [message.raw] if message.intact else update(message)
            growing = None
            continue
        wires = build(message)
        if wires and message.role == growing:
            out[-1][join] += wires[0][join]
        elif wires:
            out += wires
            growing = message.role if message.role in joined else None
    return out


def write_entries(
    messages: Iterable[Message],
    dialect: str,
    write_result: Callable[[ToolResult, Message], Any],
    write_rest: Callable[[Message, Sequence[Part]], Any],
) -> Iterator[Any]:
    """
    Write messages as entries of a file in which each result has its own entry.

    Args:
        messages: The conversation in order; unchanged ones are written as their original entries.
        dialect: The format of the file.
        write_result: Writes one result of a message.
        write_rest: Writes the other parts of a message; not called if there are none.
    """
    for message in messages:
        if message.intact and message.dialect == dialect:
            yield message.raw
            continue
        results = message.results
        yield from (write_result(result, message) for result in results)
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        if rest or not results:
            yield write_rest(message, rest)


MAX_LENGTH = 64
"""Longest id that OpenAI accepts, in characters."""

_ILLEGAL = lazy_pattern(r"[^a-zA-Z0-9_-]")


_ANY_ID = frozenset({"gemini", "langchain"})
"""Dialects that accept any id."""


def with_legal_ids(messages: Sequence[Message], dialect: str) -> Sequence[Message]:
    """
    Give legal ids to calls and results of another dialect or of Foldline itself.

    An id is kept if it is legal (letters, digits, ``_`` and ``-``, at most 64) and unused, or if
    the dialect accepts any. A call with a missing or repeated id gets one that depends only on
    its message, so that it is the same in the next request. A result gets the id of its call, and
    the tool name of its call if it has none.

    Args:
        messages: The conversation in order.
        dialect: The target format; ids of its own messages are kept.
    """
    if all(is_own(m, dialect) or not (m.calls or m.results) for m in messages):
        return messages
    pairing, calls = pair(messages), _calls(messages, dialect)
    call_sites = {result: call for call, result in pairing.answers.items()} | pairing.late
    parts: dict[Site, Part] = {}
    for index, message in enumerate(messages):
        for position, part in enumerate(() if is_own(message, dialect) else message.parts):
            site = Site(index, position)
            if isinstance(part, ToolCall):
                parts[site] = calls[site]
            elif isinstance(part, ToolResult):
                kept = part.call_id if dialect in _ANY_ID else None
                call = calls[call_sites[site]] if site in call_sites else None
                if call is not None:
                    name, number = part.name or call.name, kept or call.id
                    parts[site] = replace(part, call_id=number, name=name)
                elif dialect not in _ANY_ID:
                    number = legal_id(part.call_id or "") or _invent_id(message, site)
                    parts[site] = replace(part, call_id=number)
    return _replace_parts(messages, parts)


def _calls(messages: Sequence[Message], dialect: str) -> dict[Site, ToolCall]:
    """Return every call with the id to write."""
    calls: dict[Site, ToolCall] = {}
    taken: set[str] = set()
    for index, message in enumerate(messages):
        own, any_id = is_own(message, dialect), dialect in _ANY_ID
        for position, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                site, number = Site(index, position), part.id or ""
                if not (own or any_id):
                    number = legal_id(number)
                    number = "" if number in taken else number
                if not number and not (own and any_id):
                    number = _invent_id(message, site)
                calls[site] = replace(part, id=number or None)
                taken.add(number)
    return calls


def legal_id(number: str) -> str:
    """Return an id in the letters and the length that every provider accepts."""
    legal = _ILLEGAL.sub("_", number)
    if len(legal) <= MAX_LENGTH:
        return legal
    digest = blake2b(number.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{legal[: MAX_LENGTH - 17]}_{digest}"


def _invent_id(message: Message, site: Site) -> str:
    return f"call_{message.id[:16] or site.message}_{site.part}"


def flat_text(parts: Iterable[Part]) -> str:
    """Join the readable content of parts: text as it is, media as a short note."""
    kinds = (Text, Media, Opaque)
    seen = (part for part in parts if isinstance(part, kinds))
    return "\n".join(part.text if isinstance(part, Text) else placeholder(part) for part in seen)
