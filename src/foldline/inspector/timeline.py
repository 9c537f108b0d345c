"""The view at every request, its tokens by kind, and the cached part of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, islice, pairwise
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from foldline.engine.receipt import Receipt
from foldline.evaluation.breakdown import KINDS, kinds_of
from foldline.frozen import field, frozen
from foldline.session.batches import BOUND, Batch
from foldline.values.edits import Edit, apply_by_id
from foldline.values.identity import shared_length
from foldline.values.messages import Message, Opaque, Usage
from foldline.values.tokens import TokenCounter

Cause: TypeAlias = Literal["compaction", "undo", "recorded"]


@frozen
class Revision:
    """
    A change of the view.

    ``cause`` is "recorded" for a compaction by the agent itself, without edits and receipt.
    ``time`` is in seconds since 1970, None if unknown; ``undone`` means that it was undone later.
    """

    cause: Cause
    receipt: Receipt | None = None
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    time: float | None = None
    undone: bool = False

    @property
    def name(self) -> str:
        """Its name on pages."""
        return "undo" if self.cause == "undo" else "compaction"


@frozen
class ViewSegment:
    """
    Requests between two changes of the view.

    ``messages`` are all in view until its end, the first ``start`` of them from its
    beginning on. ``revision`` is the change that it begins with, None for the first segment.
    """

    messages: tuple[Message, ...] = field(repr=False)
    start: int
    revision: Revision | None = None


@frozen
class ModelRequest:
    """
    One request to the model, whose view is the first ``length`` messages of a segment.

    ``answer`` is where the answer starts in the segment, and ``end`` where it ends; both are
    ``length`` for the next request.
    """

    number: int
    segment: int
    length: int
    end: int


def replay_archive(log: Sequence[Message], batches: Sequence[Batch]) -> tuple[ViewSegment, ...]:
    """
    Replay the log of a session with the edits of its compactions.

    Args:
        log: All original messages.
        batches: The compactions, in order; the cut of a giant output counts as its recording.

    Returns:
        Segments, at least one.
    """
    return tuple(_replay(log, batches))


def _replay(log: Sequence[Message], batches: Sequence[Batch]) -> Iterator[ViewSegment]:
    coming, done = iter(log), 0
    view: dict[str, Message] = {}
    start, revision = 0, None
    in_effect: list[Batch] = []
    for at, batch, taken_back in _moments(batches):
        view.update((m.id, m) for m in islice(coming, max(0, at - done)))
        done = max(at, done)
        if batch.kind != BOUND:
            yield ViewSegment(tuple(view.values()), start, revision)
        if taken_back:
            in_effect.remove(batch)
            view = _apply_batches(log[:done], in_effect)
        else:
            in_effect.append(batch)
            view = apply_by_id(view, batch.edits)
        if batch.kind != BOUND:
            cause: Cause = "undo" if taken_back else "compaction"
            undone = batch.undone_at is not None and not taken_back
            start = len(view)
            revision = Revision(cause, batch.receipt, batch.edits, batch.time, undone)
    view.update((m.id, m) for m in coming)
    yield ViewSegment(tuple(view.values()), start, revision)


def _moments(batches: Sequence[Batch]) -> list[tuple[int, Batch, bool]]:
    """Return when edits were made and undone, in order."""
    edited = [batch for batch in batches if batch.edits]
    made = [(batch.at, batch, False) for batch in edited]
    taken = [(b.undone_at, b, True) for b in edited if b.undone_at is not None]
    return sorted([*made, *taken], key=lambda moment: (moment[0], moment[1].number, moment[2]))


def _apply_batches(log: Sequence[Message], batches: Sequence[Batch]) -> dict[str, Message]:
    """Return the view of a log with some batches, each applied to the log as it was then."""
    view: dict[str, Message] = {}
    done = 0
    for batch in batches:
        view.update((m.id, m) for m in log[done : batch.at])
        done = max(done, batch.at)
        view = apply_by_id(view, batch.edits)
    view.update((m.id, m) for m in log[done:])
    return view


def segment_recording(conversations: Sequence[Sequence[Message]]) -> tuple[ViewSegment, ...]:
    """
    Build segments from the views that an agent recorded around its own compactions.

    Args:
        conversations: The views in order; each continues after a compaction.
    """
    seen: set[str] = set()
    made: list[ViewSegment] = []
    for messages in conversations:
        start = next((i for i, m in enumerate(messages) if _answers(m, seen)), len(messages))
        revision = Revision("recorded") if made else None
        made.append(ViewSegment(tuple(messages), start if made else 0, revision))
        seen.update(message.id for message in messages)
    return tuple(made)


def _answers(message: Message, seen: set[str]) -> bool:
    """Return True if the message is a new answer of the model."""
    new = message.role == "assistant" and message.id not in seen
    return new and not all(isinstance(part, Opaque) for part in message.parts)


def requests(segments: Sequence[ViewSegment]) -> tuple[ModelRequest, ...]:
    """
    Find the requests: one before each answer of the model, and the next one.

    Messages of the assistant that follow each other answer one request.
    """
    found: list[ModelRequest] = []
    for index, segment in enumerate(segments):
        messages = segment.messages
        at = max(1, segment.start)
        while at < len(messages):
            end = at
            while end < len(messages) and messages[end].role == "assistant":
                end += 1
            if end > at:
                found.append(ModelRequest(len(found), index, at, end))
            at = end + 1
    last = len(segments[-1].messages)
    found.append(ModelRequest(len(found), len(segments) - 1, last, last))
    return tuple(found)


BANDS: Final = ("tools", *KINDS)
"""The kinds of content in a request, in prompt order; "tools" are their schemas."""

Sizes: TypeAlias = tuple[int, ...]
"""Tokens by kind, in the order of `BANDS`."""


@frozen
class Point:
    """
    One request, in tokens.

    ``cached`` is the prefix that it shares with the previous request, ``written`` the rest,
    ``output`` its answer, as counted here; ``reported`` is the provider's usage. ``lost`` is
    the part of the previous request that does not match: above 0 it is a cache break.
    """

    request: ModelRequest
    sizes: Sizes
    cached: int
    written: int
    output: int
    lost: int
    reported: Usage | None = None

    @property
    def tokens(self) -> int:
        """The tokens of the request."""
        return sum(self.sizes)

    @property
    def counted(self) -> Usage:
        """The billed usage, as counted here."""
        return Usage(0, self.output, cache_read=self.cached, cache_write=self.written)

    @property
    def usage(self) -> Usage:
        """The billed usage: as reported, else as counted."""
        return self.reported or self.counted


@frozen
class Timeline:
    """All requests of a session; ``marks`` are the first requests of segments, by segment."""

    points: tuple[Point, ...] = field(repr=False)
    marks: tuple[int, ...]

    @property
    def now(self) -> Point:
        """The next request."""
        return self.points[-1]


def timeline(
    segments: Sequence[ViewSegment], counter: TokenCounter, system: int = 0, tools: int = 0
) -> Timeline:
    """
    Measure every request of a session.

    Args:
        segments: The views.
        counter: Counts messages.
        system: Tokens of a system prompt outside the messages.
        tools: Tokens of the tool schemas.
    """
    weigh = _Weights(counter)
    around = tuple({"tools": tools, "system": system}.get(band, 0) for band in BANDS)
    points: list[Point] = []
    found = requests(segments)
    marks = [next(r.number for r in found if r.segment >= index) for index in range(len(segments))]
    before: Sequence[Message] = ()
    length = 0
    for index, group in groupby(found, key=attrgetter("segment")):
        held = list(group)
        messages = segments[index].messages
        totals = list(accumulate(map(weigh.total, messages), initial=sum(around)))
        shared = shared_length(before[:length], messages)
        lost = sum(map(weigh.total, before[shared:length]))
        bands = weigh.running(messages, around, [request.length for request in held])
        for request, sizes in zip(held, bands, strict=True):
            answer = messages[request.length : request.end]
            cached = totals[min(shared, request.length)] if points else 0
            points.append(
                Point(
                    request,
                    sizes,
                    cached,
                    totals[request.length] - cached,
                    sum(map(weigh.total, answer)),
                    lost,
                    next((m.usage for m in reversed(answer) if m.usage is not None), None),
                )
            )
            shared, lost = request.length, 0
        before, length = messages, shared
    return Timeline(tuple(points), tuple(marks))


class _Weights:
    """The tokens of messages, each object counted once; the caller keeps them alive."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[int, tuple[int, tuple[tuple[int, int], ...]]] = {}

    def _of(self, message: Message) -> tuple[int, tuple[tuple[int, int], ...]]:
        known = self._known.get(id(message))
        if known is None:
            kinds = tuple(
                (BANDS.index(kind), tokens)
                for kind, tokens in kinds_of(message, self._counter)
                if tokens
            )
            known = self._known[id(message)] = (sum(tokens for _, tokens in kinds), kinds)
        return known

    def total(self, message: Message) -> int:
        return self._of(message)[0]

    def running(
        self, messages: Sequence[Message], around: Sizes, lengths: Sequence[int]
    ) -> Iterator[Sizes]:
        """Yield the tokens by kind of the first messages, for increasing lengths."""
        sizes = list(around)
        for start, end in pairwise((0, *lengths)):
            for message in messages[start:end]:
                for band, tokens in self._of(message)[1]:
                    sizes[band] += tokens
            yield tuple(sizes)
