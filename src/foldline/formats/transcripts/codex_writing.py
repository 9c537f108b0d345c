"""Writing a Codex rollout whose conversation was changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from foldline.formats.arrangement import Slot, arranged
from foldline.formats.recording import Recording
from foldline.formats.transcripts.codex_reading import DIALECT, Rollout, Segment
from foldline.values.messages import Message, Thinking


def written(recording: Recording) -> bytes:
    """Write the file; see ``Codex.encode``."""
    rollout: Rollout = recording.document
    draft = _Draft(rollout)
    for segment, there in zip(rollout.segments, recording.conversations, strict=True):
        draft.apply(segment, there.transcript.messages)
    return rollout.lines.joined(draft.lines())


class _Draft:
    """The file in the making: its slots, changed payloads, and the items of new messages."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        self.slots: tuple[Slot, ...] = tuple(range(len(rollout.lines.data)))
        self.payloads: dict[Slot, dict[str, Any]] = {}
        self.new: dict[str, list[Any]] = {}

    def apply(self, segment: Segment, messages: Sequence[Message]) -> None:
        """Bring one segment into its new state."""
        if messages == segment.messages and all(message.intact for message in messages):
            return
        head, body = _divided(segment, messages)
        items = _Items(messages)
        if segment.compacted is not None:
            self._replace_head(segment, head, items)
        gone: set[Slot] = set()
        for message in body:
            wires = items.of(message)
            places = segment.places.get(message.id)
            if places is None:
                self.new[message.id] = wires
            elif not message.intact and wires:
                self.payloads[places[0]] = wires[0]
            elif not wires:
                gone.add(places[0])
        draft = arranged(self.slots, segment.places, body)
        self.slots = tuple(slot for slot in draft.slots if slot not in gone)

    def _replace_head(self, segment: Segment, head: Sequence[Message], items: _Items) -> None:
        before = segment.messages[: segment.head]
        if segment.compacted is None or (
            tuple(head) == before and all(message.intact for message in head)
        ):
            return
        payload = self.rollout.lines.value(segment.compacted)["payload"]
        history = [wire for message in head for wire in items.of(message)]
        self.payloads[segment.compacted] = {**payload, "replacement_history": history}

    def lines(self) -> Iterator[bytes]:
        """Write all slots."""
        lines = self.rollout.lines
        places = (lines for segment in self.rollout.segments for lines in segment.places.values())
        spoken = frozenset(line for lines in places for line in lines)
        neighbour = min(spoken, default=0)
        for slot in self.slots:
            if isinstance(slot, Message):
                near = lines.value(neighbour)
                stamp = {"timestamp": near["timestamp"]} if "timestamp" in near else {}
                for wire in self.new[slot.id]:
                    record = {**stamp, "type": "response_item", "payload": wire}
                    yield lines.written(record, like=neighbour)
                continue
            neighbour = slot if slot in spoken else neighbour
            if slot in self.payloads:
                record = {**lines.value(slot), "payload": self.payloads[slot]}
                yield lines.written(record, like=slot)
            else:
                yield lines.data[slot]


def _divided(
    segment: Segment, messages: Sequence[Message]
) -> tuple[Sequence[Message], Sequence[Message]]:
    """Tell what goes into the replacement history from what has, or gets, lines of its own."""
    if segment.compacted is None:
        return (), messages
    own = (n for n, message in enumerate(messages) if message.id in segment.places)
    start = next(own, len(messages))
    return messages[:start], messages[start:]


class _Items:
    """Writes messages one by one, each beside those that the dialect looks at."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.before = dict(zip((m.id for m in messages[1:]), messages, strict=False))
        self.callers = {call.id: message for message in messages for call in message.calls}

    def of(self, message: Message) -> list[Any]:
        """Return the items of a message."""
        if message.intact and message.dialect == DIALECT.name:
            return [message.raw]
        around = [self.callers[r.call_id] for r in message.results if r.call_id in self.callers]
        before = self.before.get(message.id)
        if before is not None and any(isinstance(part, Thinking) for part in before.parts):
            around.append(before)
        return DIALECT.messages([*around, message])[len(DIALECT.messages(around)) :]
