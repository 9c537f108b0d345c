"""Reading a Gemini CLI chat: its records, and the contents that they are sent as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import expect, named_errors, text_or, token_counts
from foldline.formats.gemini import GeminiDialect
from foldline.formats.jsonl import Lines, read_lines
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message, Usage

DIALECT = GeminiDialect()

MODEL = ("gemini", "model")


@dataclass(frozen=True, slots=True)
class GeminiLines:
    """
    Where the records stand.

    In a JSON document they are its list of messages. In JSON Lines ``places`` has the lines of
    each record, or ``line`` the one line whose ``$set`` holds all of them.
    """

    source: TranscriptSource | None = None
    lines: Lines = field(default_factory=lambda: Lines(()))
    places: tuple[tuple[int, ...], ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """
    Where a part comes from.

    ``call`` is the position of its tool call in the record, None for a part of the content.
    """

    call: int | None = None


@dataclass(frozen=True, slots=True)
class GeminiTurn:
    """One content that a record is sent as: its record, whether it is an answer, its parts."""

    record: int
    answers: bool
    origins: tuple[Origin, ...]
    wire: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class GeminiChat:
    """A chat, ready to be written again."""

    id: str
    shelf: GeminiLines
    records: tuple[Any, ...] = field(repr=False)
    messages: tuple[Message, ...] = field(repr=False)
    turns: Mapping[str, GeminiTurn] = field(repr=False)


def read(source: TranscriptSource) -> tuple[GeminiChat, tuple[str, ...]]:
    """
    Read a chat file.

    Raises:
        InputError: Naming the record and the field that is malformed.
    """
    header = source.document
    warnings: tuple[str, ...] = ()
    if isinstance(header, dict) and isinstance(header.get("messages"), list):
        records, shelf = list(header["messages"]), GeminiLines(source)
    else:
        lines, values, warnings = read_lines(source)
        header, records, shelf = _replay(lines, values)
    turns = [turn for n, record in enumerate(records) for turn in _turns(record, n)]

    def record_of(error: InputError) -> str:
        if error.index is None:
            return ""
        error.index = turns[error.index].record
        return f"record {error.index}"

    with named_errors(record_of):
        messages = DIALECT.decode([turn.wire for turn in turns]).messages
    counted = tuple(
        message if turn.answers else replace(message, usage=_usage(records[turn.record]))
        for message, turn in zip(messages, turns, strict=True)
    )
    by_id = {message.id: turn for message, turn in zip(messages, turns, strict=True)}
    name = text_or(header.get("sessionId"), "chat")
    return GeminiChat(name, shelf, tuple(records), counted, by_id), warnings


def _replay(
    lines: Lines, values: Sequence[Any]
) -> tuple[dict[str, Any], list[dict[str, Any]], GeminiLines]:
    """Follow the records of JSON Lines to what they amount to."""
    header: dict[str, Any] = {}
    found: dict[str, list[int]] = {}
    whole: int | None = None
    for number, value in enumerate(values):
        if not isinstance(value, dict):
            continue
        patch, back, key = value.get("$set"), value.get("$rewindTo"), value.get("id")
        if isinstance(back, str):
            _rewind(found, back)
        elif isinstance(key, str):
            found.setdefault(key, []).append(number)
        elif isinstance(patch, dict):
            header |= {name: patch[name] for name in patch if name != "messages"}
            if isinstance(patch.get("messages"), list):
                whole = number if patch["messages"] else None
        else:
            header |= value
    if whole is not None:
        return (
            header,
            list(values[whole]["$set"]["messages"]),
            GeminiLines(lines=lines, line=whole),
        )
    records = [values[numbers[-1]] for numbers in found.values()]
    return header, records, GeminiLines(lines=lines, places=tuple(map(tuple, found.values())))


def _rewind(found: dict[str, list[int]], back: str) -> None:
    """Leave out a record and all behind it; all of them when it is not there."""
    known = back in found
    while found:
        key, _ = found.popitem()
        if known and key == back:
            return


def _turns(record: Any, number: int) -> Iterator[GeminiTurn]:
    value = expect(record, dict, number, "")
    kind = value.get("type")
    if kind == "user":
        parts = _content(value, number)
        text = "".join(p["text"] for p in parts if isinstance(p.get("text"), str)).strip()
        if parts and not text.startswith(("/", "?")):
            wire = {"role": "user", "parts": parts}
            yield GeminiTurn(number, False, (Origin(),) * len(parts), wire)
    elif kind in MODEL:
        yield from _model_turns(value, number)


def _model_turns(record: dict[str, Any], number: int) -> Iterator[GeminiTurn]:
    parts = _content(record, number)
    origins = [Origin()] * len(parts)
    calls = tool_calls(record, number)
    known = [call for part in parts if isinstance(call := part.get("functionCall"), dict)]
    for position, call in enumerate(calls):
        wire = {key: call[key] for key in ("id", "name", "args") if call.get(key) is not None}
        twin = next((one for one in known if _is_same(one, wire)), None)
        if twin is not None:
            known.remove(twin)
            continue
        parts.append({"functionCall": wire})
        origins.append(Origin(position))
    if parts:
        wire = {"role": "model", "parts": parts}
        yield GeminiTurn(number, False, tuple(origins), wire)
    results = [(n, part) for n, call in enumerate(calls) for part in _answer(call, number)]
    if results:
        wire = {"role": "user", "parts": [part for _, part in results]}
        yield GeminiTurn(number, True, tuple(Origin(n) for n, _ in results), wire)


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one.get("id") and other.get("id"):
        return bool(one["id"] == other["id"])
    return one.get("name") == other.get("name") and one.get("args") == other.get("args")


def _content(record: dict[str, Any], number: int) -> list[dict[str, Any]]:
    field_name = "content" if record.get("content") is not None else "parts"
    kinds = (str, list, dict, type(None))
    content = expect(record.get(field_name), kinds, number, field_name)
    items = content if isinstance(content, list) else [content] if content else []
    return [
        {"text": item} if isinstance(item, str) else expect(item, dict, number, field_name)
        for item in items
    ]


def tool_calls(record: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Return the tool calls of a record."""
    calls = expect(record.get("toolCalls"), (list, type(None)), number, "toolCalls") or []
    return [expect(call, dict, number, f"toolCalls[{n}]") for n, call in enumerate(calls)]


def _answer(call: dict[str, Any], number: int) -> list[dict[str, Any]]:
    kinds = (str, list, dict, type(None))
    result = expect(call.get("result"), kinds, number, "toolCalls.result")
    if not result:
        return []
    if isinstance(result, str):
        named = {key: call[key] for key in ("id", "name") if call.get(key) is not None}
        return [{"functionResponse": {**named, "response": {"output": result}}}]
    items = result if isinstance(result, list) else [result]
    return [
        {"text": item} if isinstance(item, str) else expect(item, dict, number, "toolCalls.result")
        for item in items
    ]


def _usage(record: dict[str, Any]) -> Usage | None:
    keys = ("input", "output", "thoughts", "cached")
    given, output, thoughts, cached = token_counts(record.get("tokens"), *keys)
    cached = min(cached, given)
    return Usage(given - cached, output + thoughts, cached) if given or output else None
