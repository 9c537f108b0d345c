"""
Event files of OpenHands (V1): JSON Lines with actions, observations, messages, condensations.

Adjacent actions of one model response are one assistant message with parallel calls. A
condensation forgets earlier events and puts a summary at an offset among the remaining ones: the
conversation is the model's view after it, the forgotten events stay in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from foldline.formats.arrangement import merge_entries
from foldline.formats.json_document import is_unchanged
from foldline.formats.jsonl import Lines, at_line, read_lines
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.openhands.parts import (
    KINDS,
    NAME,
    new_events,
    read_event,
    role_of,
    write_events,
)
from foldline.frozen import field, frozen
from foldline.values.messages import Message, Text
from foldline.values.transcript import Transcript

SUMMARY = "Condensation"
_ENDINGS = ("Event", "Observation", SUMMARY)

_Response: TypeAlias = list[tuple[int, dict[str, Any]]]
"""Events, each with the number of its line."""


@frozen
class EventLog:
    """
    An event file: its lines, the messages read, and the lines of each message.

    ``summaries`` maps the id of a summary message to the line of its condensation.
    """

    source: TranscriptSource
    lines: Lines
    messages: tuple[Message, ...] = field(repr=False)
    rows: Mapping[str, tuple[int, ...]] = field(repr=False)
    summaries: Mapping[str, int] = field(repr=False)


def is_event_log(source: TranscriptSource) -> bool:
    """Return True if the first lines are events."""
    head = source.head[:20]
    return all(
        isinstance(event, dict) and {"kind", "source", "id"} <= event.keys() for event in head
    ) and any(str(event["kind"]).endswith(_ENDINGS) for event in head)


def decode_events(source: TranscriptSource) -> Recording:
    """Read the one conversation of an event file."""
    lines, values, warnings = read_lines(source)
    visible = _view([(row, value) for row, value in enumerate(values) if value is not None])
    responses = _responses(visible)
    with at_line(range(len(values))):
        messages = [_message(response) for response in responses]
    prompts = (event for _, event in visible if event["kind"] == "SystemPromptEvent")
    tools = next((e["tools"] for e in prompts if isinstance(e.get("tools"), list)), ())
    there = Transcript.of(messages, NAME, tools=tuple(tools))
    rows: dict[str, tuple[int, ...]] = {}
    summaries: dict[str, int] = {}
    for message, response in zip(there.messages, responses, strict=True):
        if response[0][1]["kind"] == SUMMARY:
            summaries[message.id] = response[0][0]
        else:
            rows[message.id] = tuple(row for row, _ in response)
    document = EventLog(source, lines, there.messages, rows, summaries)
    return Recording(NAME, (RecordedConversation("events", there),), document, warnings)


def encode_events(recording: Recording) -> bytes:
    """Write the events."""
    document: EventLog = recording.document
    messages = recording.conversations[0].transcript.messages
    if is_unchanged(document.messages, messages):
        return document.source.data
    lines = document.lines
    after: list[tuple[int | None, list[bytes]]] = []
    visible: list[tuple[Message, int]] = []
    for message in messages:
        if message.id in document.summaries:
            visible.append((message, 1))
            continue
        rows = document.rows.get(message.id, ())
        written = _lines(message, rows, lines)
        visible.append((message, len(written)))
        after.append((rows[0] if rows else None, written))
    message_rows = {row for rows in document.rows.values() for row in rows}
    before = list(lines.data)
    for row, event in _update_summaries(document, visible).items():
        before[row] = lines.write(event, row)
    silent = [row for row in range(len(before)) if row not in message_rows]
    return lines.assemble(merge_entries(before, silent, after))


def _view(events: _Response) -> _Response:
    """Replay the events to the model's final view; a summary is its condensation event."""
    visible: _Response = []
    for row, event in events:
        if str(event.get("kind")) in KINDS:
            visible.append((row, event))
        elif event.get("kind") == SUMMARY:
            forgotten = event.get("forgotten_event_ids")
            listed = forgotten if isinstance(forgotten, list) else ()
            removed = {number for number in listed if isinstance(number, str)}
            visible = [item for item in visible if _number(item[1]) not in removed]
            offset = event.get("summary_offset")
            if isinstance(event.get("summary"), str) and isinstance(offset, int):
                visible.insert(max(0, offset), (row, event))
    return visible


def _number(event: dict[str, Any]) -> str:
    """Return the id by which an event is forgotten; a summary has its own."""
    suffix = "-summary" if event["kind"] == SUMMARY else ""
    return f"{event.get('id')}{suffix}"


def _responses(visible: _Response) -> list[_Response]:
    """Join adjacent actions of the same model response."""
    out: list[_Response] = []
    for row, event in visible:
        number = event.get("llm_response_id")
        before = out[-1][-1][1] if out else {}
        together = number and event["kind"] == before.get("kind") == "ActionEvent"
        if together and before.get("llm_response_id") == number:
            out[-1].append((row, event))
        else:
            out.append([(row, event)])
    return out


def _message(response: _Response) -> Message:
    row, first = response[0]
    events = tuple(event for _, event in response)
    if first["kind"] == SUMMARY:
        return Message("user", (Text(first["summary"]),), events, NAME)
    parts = tuple(part for number, event in response for part in read_event(event, number))
    return Message(role_of(first, row), parts, events, NAME)


def _lines(message: Message, rows: Sequence[int], lines: Lines) -> list[bytes]:
    own = message.dialect == NAME and isinstance(message.raw, tuple) and bool(rows)
    entries = write_events(message) if own else new_events(message)
    if not own or len(entries) != len(rows):
        return [lines.write(entry, 0) for entry in entries]
    return [
        lines.data[row] if entry is event else lines.write(entry, row)
        for entry, event, row in zip(entries, message.raw, rows, strict=True)
    ]


def _update_summaries(
    document: EventLog, visible: Sequence[tuple[Message, int]]
) -> dict[int, dict[str, Any]]:
    """Return the condensations whose summary changed, or moved with the events before it."""
    earlier = _counts(
        (m, 1 if m.id in document.summaries else len(m.raw)) for m in document.messages
    )
    now = _counts(visible)
    texts = {message.id: message.text for message, _ in visible}
    out = {}
    for number, row in document.summaries.items():
        event = document.lines.value(row)
        summary: dict[str, Any] = {"summary": None, "summary_offset": None}
        if number in now:
            offset = max(0, event["summary_offset"] + now[number] - earlier[number])
            summary = {"summary": texts[number], "summary_offset": offset}
        if {**event, **summary} != event:
            out[row] = {**event, **summary}
    return out


def _counts(sized: Iterable[tuple[Message, int]]) -> dict[str, int]:
    """Count the events before each message."""
    out, count = {}, 0
    for message, size in sized:
        out[message.id] = count
        count += size
    return out
