"""
Gemini CLI chats: one JSON document, or JSON Lines with ``$set`` and ``$rewindTo`` records.

A tool call and its result stand in one record: it is read as a message of the model with calls,
and one with results behind it. What is sent is what Gemini CLI sends on resume: notices (``info``,
``error``, ``warning``), slash commands and the ``thoughts``, which are a summary for the screen,
are not. A later line with the id of an earlier one replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from foldline.formats.arrangement import weave
from foldline.formats.json_document import JsonDocument
from foldline.formats.recording import RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.gemini_cli.read import (
    DIALECT,
    GeminiChat,
    GeminiLines,
    GeminiTurn,
    read,
    tool_calls,
)
from foldline.values.identity import derived_id
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


class GeminiCli:
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
        chat, warnings = read(source)
        transcript = Transcript(chat.messages, DIALECT.name)
        return Recording(self.name, (RecordedConversation(chat.id, transcript),), chat, warnings)

    def encode(self, recording: Recording) -> bytes:
        """
        Write a chat.

        Untouched records stay as they are, a changed message changes its record, which loses the
        ``resultDisplay`` of a changed result; a new message becomes a record of its own.
        """
        return _write(recording)


def _write(recording: Recording) -> bytes:
    chat: GeminiChat = recording.document
    messages = recording.current.transcript.messages
    shelf = chat.shelf
    if messages == chat.messages and all(message.intact for message in messages):
        return shelf.source.data if shelf.source else b"".join(shelf.lines.data)
    entries = list(_entries(chat, messages))
    owned = {turn.record for turn in chat.turns.values()}
    silent = [n for n in range(len(chat.records)) if n not in owned]
    if shelf.source is not None:
        new = weave(chat.records, silent, ((place, [record]) for place, record in entries))
        return JsonDocument(shelf.source).with_values({("messages",): new})
    if shelf.line is not None:
        new = weave(chat.records, silent, ((place, [record]) for place, record in entries))
        return _with_list(shelf, shelf.line, new)
    return _with_lines(chat, owned, entries)


def _with_list(shelf: GeminiLines, line: int, records: list[Any]) -> bytes:
    value = shelf.lines.value(line)
    value["$set"] = {**value["$set"], "messages": records}
    changed = shelf.lines.write(value, like=line)
    return shelf.lines.assemble((*shelf.lines.data[:line], changed, *shelf.lines.data[line + 1 :]))


def _with_lines(
    chat: GeminiChat, owned: set[int], entries: Sequence[tuple[int | None, dict[str, Any]]]
) -> bytes:
    lines, places = chat.shelf.lines, chat.shelf.places
    spoken = {line for record in owned for line in places[record]}
    silent = [line for line in range(len(lines.data)) if line not in spoken]
    like = places[min(owned)][0] if owned else 0
    after: list[tuple[int | None, list[bytes]]] = []
    for place, record in entries:
        if place is not None and record is chat.records[place]:
            after.append((places[place][0], [lines.data[line] for line in places[place]]))
            continue
        old = None if place is None else places[place][0]
        after.append((old, [lines.write(record, like=like if old is None else old)]))
    return lines.assemble(weave(lines.data, silent, after))


def _entries(
    chat: GeminiChat, messages: Sequence[Message]
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield the records of the changed chat with their old positions; None for a new one."""
    shown = {message.id: message for message in messages}
    begun: set[int] = set()
    halves: dict[int, list[tuple[str, GeminiTurn]]] = {}
    for key, half in chat.turns.items():
        halves.setdefault(half.record, []).append((key, half))
    for message in messages:
        turn = chat.turns.get(message.id)
        if turn is None:
            yield from ((None, record) for record in _new(message, chat))
        elif turn.record not in begun:
            begun.add(turn.record)
            record = chat.records[turn.record]
            # Answers first: they are found by the position of their call.
            for key, half in reversed(halves[turn.record]):
                record = _update(record, half, shown.get(key))
            if record is not None:
                yield turn.record, record


def _update(record: Any, turn: GeminiTurn, message: Message | None) -> Any:
    """Return a record with what became of one of its contents; the same one if nothing did."""
    if message is not None and message.intact:
        return record
    parts: list[Any] = [None] * len(turn.origins)
    if message is not None:
        parts = [_wire(message, part, wire) for part, wire in _pairs(message, turn)]
    if turn.answers:
        return _with_answers(record, turn, parts)
    return _with_content(record, turn, parts)


def _pairs(message: Message, turn: GeminiTurn) -> Iterator[tuple[Any, Any]]:
    yield from zip(message.parts, turn.wire["parts"], strict=False)


def _wire(message: Message, part: Any, wire: Any) -> Any:
    """Write one part; None when nothing of it is left."""
    raw = {**message.raw, "parts": [wire]}
    contents = DIALECT.messages([replace(message, parts=(part,), raw=raw)])
    return contents[0]["parts"][0] if contents else None


def _with_answers(
    record: dict[str, Any], turn: GeminiTurn, parts: Sequence[Any]
) -> dict[str, Any]:
    calls = list(tool_calls(record, turn.record))
    for position in {origin.call for origin in turn.origins if origin.call is not None}:
        numbers = [n for n, origin in enumerate(turn.origins) if origin.call == position]
        result = [parts[n] for n in numbers if parts[n] is not None]
        if all(parts[n] is turn.wire["parts"][n] for n in numbers):
            continue
        bare = {k: v for k, v in calls[position].items() if k not in ("result", "resultDisplay")}
        calls[position] = {**bare, "result": result} if result else bare
    return {**record, "toolCalls": calls}


def _with_content(record: dict[str, Any], turn: GeminiTurn, parts: Sequence[Any]) -> Any:
    calls: list[Any] = list(tool_calls(record, turn.record))
    content = []
    for origin, part in zip(turn.origins, parts, strict=False):
        if origin.call is None:
            content += [part] if part is not None else []
        elif part is None:
            calls[origin.call] = None
        else:
            args = part["functionCall"].get("args")
            calls[origin.call] = {**calls[origin.call], "args": args}
    left = [call for call in calls if call is not None]
    if not content and not left:
        return None
    field = "content" if record.get("content") is not None else "parts"
    plain = isinstance(record.get(field), str)
    changed = {**record, field: _plain(content) if plain else content}
    return {**changed, "toolCalls": left} if "toolCalls" in record else changed


def _plain(parts: Sequence[dict[str, Any]]) -> Any:
    """Return text parts as a string, as the file has them."""
    texts = [part.get("text") for part in parts if part.keys() == {"text"}]
    return "\n".join(str(text) for text in texts) if len(texts) == len(parts) else list(parts)


def _new(message: Message, chat: GeminiChat) -> Iterator[dict[str, Any]]:
    """Make the records of a message that the chat did not have."""
    near = next((r for r in chat.records if isinstance(r, dict) and "timestamp" in r), {})
    stamp = {"timestamp": near["timestamp"]} if near else {}
    for number, content in enumerate(DIALECT.messages([message])):
        kind = "gemini" if content["role"] == "model" else "user"
        said = [part for part in content["parts"] if "functionCall" not in part]
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        record = {"id": derived_id(message.id, str(number)), **stamp, "type": kind}
        record["content"] = _plain(said)
        yield {**record, "toolCalls": calls} if calls else record
