"""What the model saw at every request: a session as segments between changes of its view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, TypeAlias

from foldline.engine.receipt import Receipt
from foldline.session.history import BOUND, Batch
from foldline.values.edits import Edit, applied
from foldline.values.messages import Message, Opaque

Cause: TypeAlias = Literal["compaction", "undo", "recorded"]


@dataclass(frozen=True, slots=True)
class Revision:
    """
    A change of what is shown.

    ``cause`` is "recorded" where the agent's own file has it, without edits and receipt. ``time``
    is in seconds since 1970, None where unknown; ``undone`` says that it was taken back later.
    """

    cause: Cause
    receipt: Receipt | None = None
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    time: float | None = None
    batch: int | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """
    Requests between two changes of the view.

    ``messages`` is everything that was shown until its end, the first ``start`` of them from its
    beginning on. ``revision`` is the change that it begins with, None for the first segment.
    """

    messages: tuple[Message, ...] = field(repr=False)
    start: int
    revision: Revision | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """
    One request to the model: it saw the first ``length`` messages of a segment.

    ``answer`` is where the answer stands in the segment, and ``end`` where it ends; both are
    ``length`` for the request that is yet to come.
    """

    number: int
    segment: int
    length: int
    end: int


def archived(log: Sequence[Message], batches: Sequence[Batch]) -> tuple[Segment, ...]:
    """
    Replay the log of a session with the edits of its compactions.

    Args:
        log: Every message as it was.
        batches: The compactions, in order; the cut of a giant output counts as its recording.

    Returns:
        Segments, at least one.
    """
    return tuple(_replayed(log, batches))


def _replayed(log: Sequence[Message], batches: Sequence[Batch]) -> Iterator[Segment]:
    coming, done = iter(log), 0
    shown: dict[str, Message] = {}
    start, revision = 0, None
    in_effect: list[Batch] = []
    for at, batch, taken_back in _moments(batches):
        shown.update((m.id, m) for m in islice(coming, max(0, at - done)))
        done = max(at, done)
        if batch.kind != BOUND:
            yield Segment(tuple(shown.values()), start, revision)
        if taken_back:
            in_effect.remove(batch)
            shown = _shown(log[:done], in_effect)
        else:
            in_effect.append(batch)
            shown = applied(shown, batch.edits)
        if batch.kind != BOUND:
            cause: Cause = "undo" if taken_back else "compaction"
            undone = batch.undone_at is not None and not taken_back
            start = len(shown)
            revision = Revision(
                cause, batch.receipt, batch.edits, batch.time, batch.number, undone
            )
    shown.update((m.id, m) for m in coming)
    yield Segment(tuple(shown.values()), start, revision)


def _moments(batches: Sequence[Batch]) -> list[tuple[int, Batch, bool]]:
    """Return when edits were made and taken back, in order."""
    made = [(batch.at, batch.number, False, batch) for batch in batches if batch.edits]
    taken = [
        (batch.undone_at, batch.number, True, batch)
        for batch in batches
        if batch.edits and batch.undone_at is not None
    ]
    ordered = sorted([*made, *taken], key=lambda moment: moment[:3])
    return [(at, batch, taken_back) for at, _, taken_back, batch in ordered]


def _shown(log: Sequence[Message], batches: Sequence[Batch]) -> dict[str, Message]:
    """Return what a log shows with some batches, each applied when the log was as long as then."""
    shown: dict[str, Message] = {}
    done = 0
    for batch in batches:
        shown.update((m.id, m) for m in log[done : batch.at])
        done = max(done, batch.at)
        shown = applied(shown, batch.edits)
    shown.update((m.id, m) for m in log[done:])
    return shown


def recorded(conversations: Sequence[Sequence[Message]]) -> tuple[Segment, ...]:
    """
    Take what an agent recorded before and after each of its own compactions.

    Args:
        conversations: What the model saw, in order; each goes on after a compaction.
    """
    seen: set[str] = set()
    made: list[Segment] = []
    for messages in conversations:
        start = next((i for i, m in enumerate(messages) if _answers(m, seen)), len(messages))
        revision = Revision("recorded") if made else None
        made.append(Segment(tuple(messages), start if made else 0, revision))
        seen.update(message.id for message in messages)
    return tuple(made)


def _answers(message: Message, seen: set[str]) -> bool:
    """Return True if the model says something here that it had not said before."""
    new = message.role == "assistant" and message.id not in seen
    return new and not all(isinstance(part, Opaque) for part in message.parts)


def requests(segments: Sequence[Segment]) -> tuple[Request, ...]:
    """
    Find the requests: wherever the model begins to answer, and the one that comes next.

    Messages of the assistant that follow each other answer one request.
    """
    found: list[Request] = []
    for index, segment in enumerate(segments):
        messages = segment.messages
        at = max(1, segment.start)
        while at < len(messages):
            end = at
            while end < len(messages) and messages[end].role == "assistant":
                end += 1
            if end > at:
                found.append(Request(len(found), index, at, end))
            at = end + 1
    last = len(segments[-1].messages)
    found.append(Request(len(found), len(segments) - 1, last, last))
    return tuple(found)
