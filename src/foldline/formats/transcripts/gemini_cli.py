"""
Gemini CLI chats: one JSON document, or JSON Lines with ``$set`` and ``$rewindTo`` records.

A tool call and its result share one record: it is read as a message of the model with calls,
followed by one with results. As when Gemini CLI resumes, notices (``info``, ``error``,
``warning``), slash commands and the ``thoughts``, which are a summary for display, are not part
of the conversation. A later line with the id of an earlier one replaces it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.arrangement import merge_entries
from foldline.formats.fields import expect, prefix_errors, text_or, token_counts, usage_of
from foldline.formats.gemini import GeminiDialect
from foldline.formats.json_document import JsonDocument, is_unchanged
from foldline.formats.jsonl import Lines, read_lines
from foldline.formats.recording import FileFormat, RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.frozen import field, frozen, replace
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Usage
from foldline.values.transcript import Transcript

DIALECT = GeminiDialect()

_CONTENT = (str, list, dict, type(None))


@frozen
class GeminiTurn:
    """
    One content of a record.

    ``answers`` is True if it holds the results of calls. ``calls`` has for each of its parts the
    position of its tool call in the record, None for a part of the content.
    """

    record: int
    answers: bool
    calls: tuple[int | None, ...]
    wire: dict[str, Any] = field(repr=False)


@frozen
class GeminiChat:
    """
    A parsed chat, with all that is needed to write it.

    In a JSON document the records are its list of messages. In JSON Lines ``places`` has the lines
    of each record, or ``whole`` is the line whose ``$set`` holds all of them.
    """

    id: str
    source: TranscriptSource
    records: tuple[Any, ...] = field(repr=False)
    messages: tuple[Message, ...] = field(repr=False)
    turns: Mapping[str, GeminiTurn] = field(repr=False)
    lines: Lines | None = None
    places: tuple[tuple[int, ...], ...] = ()
    whole: int | None = None


class GeminiCli(FileFormat):
    """The chat files under ``~/.gemini/tmp/*/chats``."""

    name = "gemini-cli"
    title = "Gemini CLI chat (.json, .jsonl)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the session header and its messages."""
        records = [value for value in source.head if isinstance(value, dict)]
        header = records[0] if records else source.document
        if not isinstance(header, dict) or "sessionId" not in header:
            return 0.0
        if isinstance(header.get("messages"), list):
            return 1.0 if "projectHash" in header or "startTime" in header else 0.5
        return 0.9 if "projectHash" in header else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of a chat."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        chat, warnings = _read(source)
        transcript = Transcript(chat.messages, DIALECT.name)
        return Recording(self.name, (RecordedConversation(chat.id, transcript),), chat, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a chat.

        Unchanged records are kept, a changed message changes its record, which loses the
        ``resultDisplay`` of a changed result; a new message becomes its own record.
        """
        chat: GeminiChat = recording.document
        messages = recording.current.transcript.messages
        if is_unchanged(chat.messages, messages):
            return chat.source.data
        entries = list(_entries(chat, messages))
        owned = {turn.record for turn in chat.turns.values()}
        if chat.lines is not None and chat.whole is None:
            return _with_lines(chat, chat.lines, owned, entries)
        silent = set(range(len(chat.records))) - owned
        new = merge_entries(chat.records, silent, ((place, [record]) for place, record in entries))
        if chat.lines is None or chat.whole is None:
            return JsonDocument(chat.source).with_values({("messages",): new})
        data, value = list(chat.lines.data), chat.lines.value(chat.whole)
        value["$set"] = {**value["$set"], "messages": new}
        data[chat.whole] = chat.lines.write(value, like=chat.whole)
        return chat.lines.assemble(data)


# --- reading -------------------------------------------------------------------------------


def _read(source: TranscriptSource) -> tuple[GeminiChat, tuple[str, ...]]:
    header = source.document
    warnings: tuple[str, ...] = ()
    shelf: dict[str, Any] = {}
    if isinstance(header, dict) and isinstance(header.get("messages"), list):
        records = list(header["messages"])
    else:
        lines, values, warnings = read_lines(source)
        header, records, shelf = _replay(values)
        shelf["lines"] = lines
    turns = [turn for n, record in enumerate(records) for turn in _turns(record, n)]

    def record_of(error: InputError) -> str:
        if error.index is None:
            return ""
        error.index = turns[error.index].record
        return f"record {error.index}"

    with prefix_errors(record_of):
        messages = DIALECT.decode([turn.wire for turn in turns]).messages
    counted = tuple(
        message if turn.answers else replace(message, usage=_usage(records[turn.record]))
        for message, turn in zip(messages, turns, strict=True)
    )
    by_id = {message.id: turn for message, turn in zip(messages, turns, strict=True)}
    name = text_or(header.get("sessionId"), "chat")
    return GeminiChat(name, source, tuple(records), counted, by_id, **shelf), warnings


def _replay(values: Sequence[Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Replay JSON Lines to the final state: header, records, and the lines of the records."""
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
        return header, list(values[whole]["$set"]["messages"]), {"whole": whole}
    records = [values[numbers[-1]] for numbers in found.values()]
    return header, records, {"places": tuple(map(tuple, found.values()))}


def _rewind(found: dict[str, list[int]], back: str) -> None:
    """Remove a record and all after it; all records if it does not exist."""
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
            yield GeminiTurn(number, False, (None,) * len(parts), {"role": "user", "parts": parts})
    elif kind in ("gemini", "model"):
        yield from _model_turns(value, number)


def _model_turns(record: dict[str, Any], number: int) -> Iterator[GeminiTurn]:
    parts = _content(record, number)
    origins: list[int | None] = [None] * len(parts)
    calls = _tool_calls(record, number)
    known = [call for part in parts if isinstance(call := part.get("functionCall"), dict)]
    for position, call in enumerate(calls):
        wire = {key: call[key] for key in ("id", "name", "args") if call.get(key) is not None}
        twin = next((one for one in known if _is_same(one, wire)), None)
        if twin is not None:
            known.remove(twin)
            continue
        parts.append({"functionCall": wire})
        origins.append(position)
    if parts:
        yield GeminiTurn(number, False, tuple(origins), {"role": "model", "parts": parts})
    results = [(n, part) for n, call in enumerate(calls) for part in _answer(call, number)]
    if results:
        wire = {"role": "user", "parts": [part for _, part in results]}
        yield GeminiTurn(number, True, tuple(n for n, _ in results), wire)


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one.get("id") and other.get("id"):
        return bool(one["id"] == other["id"])
    return one.get("name") == other.get("name") and one.get("args") == other.get("args")


def _content(record: dict[str, Any], number: int) -> list[dict[str, Any]]:
    key = "content" if record.get("content") is not None else "parts"
    return _parts(record.get(key), number, key)


def _parts(value: Any, number: int, path: str) -> list[dict[str, Any]]:
    expect(value, _CONTENT, number, path)
    items = value if isinstance(value, list) else [value] if value else []
    return [
        {"text": item} if isinstance(item, str) else expect(item, dict, number, path)
        for item in items
    ]


def _tool_calls(record: dict[str, Any], number: int) -> list[dict[str, Any]]:
    calls = expect(record.get("toolCalls"), (list, type(None)), number, "toolCalls") or []
    return [expect(call, dict, number, f"toolCalls[{n}]") for n, call in enumerate(calls)]


def _answer(call: dict[str, Any], number: int) -> list[dict[str, Any]]:
    result = call.get("result")
    if result and isinstance(result, str):
        named = {key: call[key] for key in ("id", "name") if call.get(key) is not None}
        return [{"functionResponse": {**named, "response": {"output": result}}}]
    return _parts(result, number, "toolCalls.result")


def _usage(record: dict[str, Any]) -> Usage | None:
    keys = ("input", "output", "thoughts", "cached")
    given, output, thoughts, cached = token_counts(record.get("tokens"), *keys)
    return usage_of(given, output + thoughts, min(cached, given))


# --- writing -------------------------------------------------------------------------------


def _with_lines(
    chat: GeminiChat,
    lines: Lines,
    owned: set[int],
    entries: Sequence[tuple[int | None, dict[str, Any]]],
) -> bytes:
    record_lines = {line for record in owned for line in chat.places[record]}
    like = min(record_lines, default=0)
    after: list[tuple[int | None, list[bytes]]] = []
    for place, record in entries:
        rows = () if place is None else chat.places[place]
        if place is not None and record is chat.records[place]:
            after.append((rows[0], [lines.data[row] for row in rows]))
        elif rows:
            after.append((rows[0], [lines.write(record, like=rows[0])]))
        else:
            after.append((None, [lines.write(record, like=like)]))
    return lines.replace(record_lines, after)


def _entries(
    chat: GeminiChat, messages: Sequence[Message]
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield the records of the changed chat with their old positions; None for a new one."""
    messages_by_id = {message.id: message for message in messages}
    begun: set[int] = set()
    halves: dict[int, list[tuple[str, GeminiTurn]]] = defaultdict(list)
    for key, half in chat.turns.items():
        halves[half.record].append((key, half))
    for message in messages:
        turn = chat.turns.get(message.id)
        if turn is None:
            yield from ((None, record) for record in _new(message, chat))
        elif turn.record not in begun:
            begun.add(turn.record)
            record = chat.records[turn.record]
            # Answers first: they are located by the position of their call.
            for key, half in reversed(halves[turn.record]):
                record = _update(record, half, messages_by_id.get(key))
            if record is not None:
                yield turn.record, record


def _update(record: Any, turn: GeminiTurn, message: Message | None) -> Any:
    """Return a record with one of its contents updated; the same object if nothing changed."""
    if message is not None and message.intact:
        return record
    parts: list[Any] = [None] * len(turn.calls)
    if message is not None:
        pairs = zip(message.parts, turn.wire["parts"], strict=False)
        parts = [_wire(message, part, wire) for part, wire in pairs]
    return (_with_answers if turn.answers else _with_content)(record, turn, parts)


def _wire(message: Message, part: Any, wire: Any) -> Any:
    """Write one part; None if it was removed."""
    raw = {**message.raw, "parts": [wire]}
    contents = DIALECT.messages([replace(message, parts=(part,), raw=raw)])
    return contents[0]["parts"][0] if contents else None


def _with_answers(record: dict[str, Any], turn: GeminiTurn, parts: Sequence[Any]) -> Any:
    calls = _tool_calls(record, turn.record)
    for position in {call for call in turn.calls if call is not None}:
        numbers = [n for n, call in enumerate(turn.calls) if call == position]
        result = [parts[n] for n in numbers if parts[n] is not None]
        if all(parts[n] is turn.wire["parts"][n] for n in numbers):
            continue
        bare = {k: v for k, v in calls[position].items() if k not in ("result", "resultDisplay")}
        calls[position] = {**bare, "result": result} if result else bare
    return {**record, "toolCalls": calls}


def _with_content(record: dict[str, Any], turn: GeminiTurn, parts: Sequence[Any]) -> Any:
    calls: list[Any] = list(_tool_calls(record, turn.record))
    content = []
    for call, part in zip(turn.calls, parts, strict=False):
        if call is None:
            content += [part] if part is not None else []
        elif part is None:
            calls[call] = None
        else:
            calls[call] = {**calls[call], "args": part["functionCall"].get("args")}
    left = [call for call in calls if call is not None]
    if not content and not left:
        return None
    key = "content" if record.get("content") is not None else "parts"
    changed = {**record, key: _plain(content) if isinstance(record.get(key), str) else content}
    return {**changed, "toolCalls": left} if "toolCalls" in record else changed


def _plain(parts: Sequence[dict[str, Any]]) -> Any:
    """Return text parts as a string, the form used in the file."""
    texts = [part.get("text") for part in parts if part.keys() == {"text"}]
    return "\n".join(str(text) for text in texts) if len(texts) == len(parts) else list(parts)


def _new(message: Message, chat: GeminiChat) -> Iterator[dict[str, Any]]:
    """Create the records of a new message."""
    near = next((r for r in chat.records if isinstance(r, dict) and "timestamp" in r), {})
    stamp = {"timestamp": near["timestamp"]} if near else {}
    for number, content in enumerate(DIALECT.messages([message])):
        kind = "gemini" if content["role"] == "model" else "user"
        parts = [part for part in content["parts"] if "functionCall" not in part]
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        record = {"id": derived_id(message.id, str(number)), **stamp, "type": kind}
        record["content"] = _plain(parts)
        yield {**record, "toolCalls": calls} if calls else record
