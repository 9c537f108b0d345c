"""A session over time: at every request the tokens by kind, and what the cache still held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

from foldline.evaluation.breakdown import KINDS, kinds_of
from foldline.inspector.replay import Request, Segment, requests
from foldline.values.messages import Message, Usage
from foldline.values.tokens import TokenCounter

BANDS: Final = ("tools", *KINDS)
"""What a request is made of, from the beginning of the prompt on; "tools" are their schemas."""

Sizes: TypeAlias = tuple[int, ...]
"""Tokens by kind, in the order of `BANDS`."""

_NOTHING: Final[Sizes] = (0,) * len(BANDS)


@dataclass(frozen=True, slots=True)
class Point:
    """
    One request, in tokens.

    ``cached`` is the beginning that it shares with the request before, ``written`` the rest,
    ``output`` its answer, as counted here; ``reported`` is what the provider said. ``lost`` is
    what the request before had and this one begins otherwise: a cache break where it is not 0.
    """

    request: Request
    sizes: Sizes
    cached: int
    written: int
    output: int
    lost: int
    reported: Usage | None = None

    @property
    def tokens(self) -> int:
        """What the request takes."""
        return sum(self.sizes)

    @property
    def usage(self) -> Usage:
        """What was paid for: as reported, else as counted."""
        counted = Usage(0, self.output, cache_read=self.cached, cache_write=self.written)
        return self.reported or counted


@dataclass(frozen=True, slots=True)
class Timeline:
    """All requests of a session; ``marks`` are the first requests of segments, by segment."""

    points: tuple[Point, ...] = field(repr=False)
    marks: tuple[int, ...]

    @property
    def now(self) -> Point:
        """The request that comes next."""
        return self.points[-1]


def timeline(
    segments: Sequence[Segment], counter: TokenCounter, system: int = 0, tools: int = 0
) -> Timeline:
    """
    Measure every request of a session.

    Args:
        segments: What was shown.
        counter: Counts messages.
        system: Tokens of a system prompt that is sent besides.
        tools: Tokens of the tool schemas.
    """
    weigh = _Weights(counter)
    around = _added(_NOTHING, (("tools", tools), ("system", system)))
    points: list[Point] = []
    found = requests(segments)
    marks = [next(r.number for r in found if r.segment >= index) for index in range(len(segments))]
    by_segment: dict[int, list[Request]] = {}
    for request in found:
        by_segment.setdefault(request.segment, []).append(request)
    before: Sequence[Message] = ()
    length = 0
    for index, held in by_segment.items():
        messages = segments[index].messages
        totals = list(accumulate(map(weigh.total, messages), initial=sum(around)))
        shared = _common(before[:length], messages)
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


def _common(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return how many messages two requests begin with in common."""
    count = 0
    for old, new in zip(before, now, strict=False):
        if old is not new and old != new:
            break
        count += 1
    return count


def _added(sizes: Sizes, kinds: Sequence[tuple[str, int]]) -> Sizes:
    found = list(sizes)
    for kind, tokens in kinds:
        found[BANDS.index(kind)] += tokens
    return tuple(found)


class _Weights:
    """What messages take, each object weighed once; whoever asks holds them."""

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
        """Yield the tokens by kind of the first messages, for lengths in rising order."""
        sizes = list(around)
        for start, end in pairwise((0, *lengths)):
            for message in messages[start:end]:
                for band, tokens in self._of(message)[1]:
                    sizes[band] += tokens
            yield tuple(sizes)
