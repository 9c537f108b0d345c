"""Select: a knapsack of packets that are good and different; what does not fit is skipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.context.packets import ContextPacket
from foldline.context.places import Place
from foldline.context.scoring import Scored
from foldline.context.settings import ContextConfig

Reason: TypeAlias = Literal["relevance", "repeats", "room", "section"]
"""Below the threshold, the same as another, no room, no room in its section."""

REPEATS: Final = 0.9
"""Likeness from which on a packet says nothing new."""

POOL: Final = 400
"""Packets that are compared with each other, the best; the rest follow by score alone."""

LEAST_CUT: Final = 80
"""Tokens below which the rest of a packet is not worth showing."""

MOST_CUTS: Final = 3
"""Packets that are shortened only to fill the room that is left."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A packet that is in; ``room`` is what it may take, in tokens: less than it has if cut."""

    scored: Scored
    room: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """
    A packet that is not in, and why.

    ``other`` names the packet that it repeats; ``score`` goes from 0 to 1.
    """

    packet: ContextPacket
    reason: Reason
    tokens: int
    relevance: float
    score: float
    other: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is in, in the order in which it was chosen, and what is not."""

    chosen: tuple[Choice, ...]
    left_out: tuple[LeftOut, ...] = ()


class _Room:
    """What is left of the whole room and of that of each section, in tokens."""

    def __init__(self, whole: int, sections: Mapping[Place, float]) -> None:
        self.whole = whole
        self._sections = {place: int(share * whole) for place, share in sections.items()}

    def at(self, place: Place) -> int:
        return min(self.whole, self._sections.get(place, self.whole))

    def take(self, place: Place, tokens: int) -> None:
        self.whole -= tokens
        if place in self._sections:
            self._sections[place] -= tokens


def select(
    offered: Sequence[Scored], room: int, config: ContextConfig, query: str = ""
) -> Selection:
    """
    Choose packets for a room.

    Args:
        offered: The candidates, none of them mandatory.
        room: What they may take together, in tokens.
        config: Thresholds, diversity, section budgets.
        query: What is asked; a message that only says it again is left out.

    Returns:
        The choice; deterministic, ties go to what was offered first.
    """
    out = [_left(one, "relevance") for one in offered if one.relevance < config.min_relevance]
    good = [one for one in offered if one.relevance >= config.min_relevance]
    left = _Room(max(0, room), config.section_budgets)
    cap = int(config.largest_share * left.whole)
    shortens = config.enable_compression and cap >= LEAST_CUT
    chosen: list[Choice] = []
    skipped: list[Scored] = []
    said = {query.strip()} if query.strip() else set[str]()
    for one, twin in _diverse(good, config.diversity):
        text = one.packet.content.removeprefix("user: ").strip()
        if twin or text in said:
            out.append(_left(one, "repeats", twin or "the task"))
            continue
        need = min(one.tokens, cap) if shortens else one.tokens
        if need <= left.at(one.place):
            left.take(one.place, need)
            chosen.append(Choice(one, need))
            said.add(text)
        else:
            skipped.append(one)
    if config.enable_compression:
        _grow(chosen, left)
        skipped = _fill(skipped, left, chosen)
    out += [_left(one, "room" if one.tokens > left.whole else "section") for one in skipped]
    return Selection(tuple(chosen), tuple(out))


def _grow(chosen: list[Choice], left: _Room) -> None:
    """Give the room that is left to packets that were bounded to their share, the best first."""
    for at, choice in enumerate(chosen):
        more = min(choice.scored.tokens - choice.room, left.at(choice.scored.place))
        if more > 0:
            left.take(choice.scored.place, more)
            chosen[at] = Choice(choice.scored, choice.room + more)


def _fill(skipped: Iterable[Scored], left: _Room, chosen: list[Choice]) -> list[Scored]:
    """Shorten the best of what did not fit into the room that is left; return the rest."""
    rest = []
    cuts = 0
    for one in skipped:
        space = left.at(one.place)
        if cuts < MOST_CUTS and space >= LEAST_CUT and one.tokens > space:
            left.take(one.place, space)
            chosen.append(Choice(one, space))
            cuts += 1
        else:
            rest.append(one)
    return rest


def _diverse(good: Sequence[Scored], weight: float) -> Iterable[tuple[Scored, str]]:
    """
    Yield packets by maximal marginal relevance, each with the name of what it repeats.

    What repeats another counts as chosen only once: its likeness is to what was yielded before.
    """
    ranked = sorted(good, key=lambda one: -one.score)
    pool, rest = ranked[:POOL], ranked[POOL:]
    likeness = [0.0] * len(pool)
    nearest = [""] * len(pool)
    open_ = list(range(len(pool)))
    while open_:
        best = max(open_, key=lambda at: weight * pool[at].score - (1 - weight) * likeness[at])
        open_.remove(best)
        yield pool[best], nearest[best] if likeness[best] >= REPEATS else ""
        for at in open_:
            alike = _alike(pool[at].terms, pool[best].terms)
            if alike > likeness[at]:
                likeness[at], nearest[at] = alike, pool[best].packet.label
    yield from ((one, "") for one in rest)


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of terms that two texts have in common (Jaccard), 0 to 1."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def _left(one: Scored, reason: Reason, other: str = "") -> LeftOut:
    return LeftOut(one.packet, reason, one.tokens, one.relevance, one.score, other)
