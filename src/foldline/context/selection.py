"""Selection: score packets for a query, and choose those that fit the room."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from foldline.context.packets import ContextPacket
from foldline.context.settings import ContextConfig, SectionName, section_of
from foldline.context.shorten import split_units
from foldline.frozen import field, frozen
from foldline.relevance.terms import cut_terms, flat_rarity, term_set
from foldline.retrieval.documents import Document, diverse
from foldline.retrieval.embedding import Embedder
from foldline.retrieval.index import Index

DAY: Final = 86_400.0

LEAST_RECENCY: Final = 0.1

MESSAGE_DECAY: Final = 0.02
"""Loss of recency per later message, for messages without a time."""

FIRST: Final = 0.4
"""Minimum relevance of the first search result; that of rank r is this / (1 + r / 10)."""

LEADER: Final = 0.25
"""Weight in the relevance of a packet's closeness to the best match."""

TOGETHER: Final = 0.35
"""Weight of the largest share of the query in a single line or sentence of the packet."""

LOOKED: Final = 100
"""Maximum packets whose lines are examined, the best ones."""

LONGEST_LOOK: Final = 20_000
"""Maximum characters of each to examine."""


@frozen
class ScoredPacket:
    """
    A packet with its score.

    ``tokens`` is its cost. ``relevance``, ``recency`` and ``score`` are from 0 to 1; ``recency``
    is None if age is irrelevant. ``parts`` break down the relevance: "given" by the
    caller, "found" (share of the query's information that it has), "lead" (closeness to the best
    match), "together" (share in one line), "ranked" (by the search that returned it) or "recent"
    (one of the newest messages). ``matched`` are terms of the query in it.
    """

    packet: ContextPacket
    place: SectionName
    tokens: int
    terms: frozenset[str] = field(repr=False)
    relevance: float
    recency: float | None
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...] = ()


@frozen
class PacketRelevance:
    """The relevance of a packet to a query, and why."""

    relevance: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def judge_relevance(
    query: str, packets: Sequence[ContextPacket], embedder: Embedder | None = None
) -> list[PacketRelevance]:
    """
    Score packets by their words, by their neighbours in the conversation, and by meaning.

    Args:
        query: A question, in any language.
        packets: The candidates.
        embedder: Adds semantic relevance; None uses words only.

    Returns:
        For each packet a relevance that is comparable between queries; 0 if nothing matches.
    """
    index = Index(map(_document, range(len(packets)), packets), embedder=embedder)
    ranked = index.search(query, len(packets))
    hits = {int(hit.id): hit for hit in ranked}
    best = max((hit.score for hit in hits.values()), default=0.0)
    says = _information(query, packets)
    close = {n: _together(says, packets[n].content) for n in list(hits)[:LOOKED]}
    out = []
    for number in range(len(packets)):
        hit = hits.get(number)
        if hit is None:
            out.append(PacketRelevance())
            continue
        lead = max(0.0, hit.score) / best if best > 0 else 0.0
        strength = max(hit.strength, sum(says.get(term, 0.0) for term in hit.matched))
        parts = {
            "found": (1 - LEADER - TOGETHER) * strength,
            "lead": LEADER * strength * lead,
            "together": TOGETHER * close.get(number, 0.0),
        }
        out.append(PacketRelevance(min(1.0, sum(parts.values())), parts, hit.matched))
    return out


def _information(query: str, packets: Sequence[ContextPacket]) -> dict[str, float]:
    """Return the share of the query's information in each of its terms."""
    query_terms = frozenset(cut_terms(query[:LONGEST_LOOK]))
    spread = Counter(term for packet in packets for term in query_terms & term_set(packet.content))
    says = {term: flat_rarity(spread[term], len(packets)) for term in query_terms}
    total = sum(says.values())
    return {term: value / total for term, value in says.items()}


def _together(says: Mapping[str, float], text: str) -> float:
    """Return the largest share of the query in one line or sentence."""
    lines = (says.keys() & cut_terms(unit) for unit in split_units(text[:LONGEST_LOOK]))
    return max((sum(says[term] for term in line) for line in lines), default=0.0)


def _document(number: int, packet: ContextPacket) -> Document:
    named = " ".join(str(packet.metadata.get(key, "")) for key in ("title", "path"))
    position = _position(packet)
    return Document(
        str(number),
        packet.content,
        group="conversation" if position >= 0 else "",
        place=float(position),
        terms=(*cut_terms(named), *cut_terms(packet.content)),
    )


def recency(seconds: float | None, now: float, decay: float) -> float | None:
    """Return exp(-decay x days), at least 0.1; None without a time; the future counts as now."""
    if seconds is None:
        return None
    return max(LEAST_RECENCY, math.exp(-decay * max(0.0, now - seconds) / DAY))


def score_packets(
    query: str,
    packets: Sequence[ContextPacket],
    costs: Sequence[int],
    config: ContextConfig,
    *,
    now: float,
    embedder: Embedder | None = None,
) -> list[ScoredPacket]:
    """
    Score packets by weighted relevance and recency, or relevance alone without a time.

    Args:
        query: The query.
        packets: The candidates.
        costs: The size of each, in tokens.
        config: The weights.
        now: Seconds since 1970.
        embedder: Adds semantic relevance; see `judge_relevance`.
    """
    newest = max((_position(packet) for packet in packets), default=-1)
    out = []
    judged = judge_relevance(query, packets, embedder)
    for packet, tokens, found in zip(packets, costs, judged, strict=True):
        since = newest - _position(packet)
        is_message = _position(packet) >= 0
        relevance, parts = _relevance(
            packet, found, is_message and since < config.recent_messages, config
        )
        age = recency(packet.seconds, now, config.decay)
        if age is None and is_message:
            age = max(LEAST_RECENCY, math.exp(-MESSAGE_DECAY * since))
        score = relevance
        if age is not None:
            score = config.relevance_weight * relevance + config.recency_weight * age
        words = term_set(packet.content)
        place = section_of(packet)
        out.append(
            ScoredPacket(packet, place, tokens, words, relevance, age, score, parts, found.matched)
        )
    return out


def _relevance(
    packet: ContextPacket, found: PacketRelevance, recent: bool, config: ContextConfig
) -> tuple[float, Mapping[str, float]]:
    if packet.judged:
        return packet.relevance_score, {"given": packet.relevance_score}
    rank = packet.metadata.get("rank")
    if isinstance(rank, int) and found.relevance < FIRST / (1 + rank / 10):
        ranked = FIRST / (1 + rank / 10)
        return ranked, {"ranked": ranked}
    if recent and found.relevance < config.recent_relevance:
        return config.recent_relevance, {"recent": config.recent_relevance}
    return found.relevance, found.parts


def _position(packet: ContextPacket) -> int:
    """Return the position of a message in its conversation, -1 for other packets."""
    position = packet.metadata.get("position")
    is_message = packet.type == "conversation_history" and isinstance(position, int)
    return position if is_message and isinstance(position, int) else -1


Reason: TypeAlias = Literal["relevance", "repeats", "room", "section"]
"""Below the threshold, a duplicate, no room, or no room in its section."""

REPEATS: Final = 0.9
"""Similarity from which a packet is a duplicate."""

POOL: Final = 400
"""Maximum packets compared with each other, the best ones; the rest follow by score alone."""

LEAST_CUT: Final = 80
"""Minimum size of a shortened packet, in tokens."""

MOST_CUTS: Final = 3
"""Maximum packets that are shortened only to fill the remaining room."""


@frozen
class PacketChoice:
    """A chosen packet; ``room`` is its maximum size in tokens, less than its own to shorten it."""

    scored: ScoredPacket
    room: int


@frozen
class LeftOut:
    """
    A packet that was left out, and why.

    ``other`` names the packet that it repeats; ``score`` is from 0 to 1.
    """

    packet: ContextPacket
    reason: Reason
    tokens: int
    relevance: float
    score: float
    other: str = ""


@frozen
class PacketSelection:
    """The chosen packets in order of choice, and those left out."""

    chosen: tuple[PacketChoice, ...]
    left_out: tuple[LeftOut, ...] = ()


class _Room:
    """The remaining room, in total and per section, in tokens."""

    def __init__(self, whole: int, sections: Mapping[SectionName, float]) -> None:
        self.whole = whole
        self._sections = {place: int(share * whole) for place, share in sections.items()}

    def at(self, place: SectionName) -> int:
        return min(self.whole, self._sections.get(place, self.whole))

    def take(self, place: SectionName, tokens: int) -> None:
        self.whole -= tokens
        if place in self._sections:
            self._sections[place] -= tokens


def select(
    offered: Sequence[ScoredPacket], room: int, config: ContextConfig, query: str = ""
) -> PacketSelection:
    """
    Choose packets for a room.

    Args:
        offered: The candidates, none of them mandatory.
        room: Their maximum total size, in tokens.
        config: Thresholds, diversity, section budgets.
        query: The query; a message that only repeats it is left out.

    Returns:
        The selection; deterministic, ties go to the first candidate.
    """
    out = [_leave_out(one, "relevance") for one in offered if one.relevance < config.min_relevance]
    good = [one for one in offered if one.relevance >= config.min_relevance]
    left = _Room(max(0, room), config.section_budgets)
    cap = int(config.largest_share * left.whole)
    shortens = config.enable_compression and cap >= LEAST_CUT
    chosen: list[PacketChoice] = []
    skipped: list[ScoredPacket] = []
    known_texts = {query.strip()} if query.strip() else set[str]()
    for one, twin in _diverse(good, config.diversity):
        text = one.packet.content.removeprefix("user: ").strip()
        if twin or text in known_texts:
            out.append(_leave_out(one, "repeats", twin or "the task"))
            continue
        need = min(one.tokens, cap) if shortens else one.tokens
        if need <= left.at(one.place):
            left.take(one.place, need)
            chosen.append(PacketChoice(one, need))
            known_texts.add(text)
        else:
            skipped.append(one)
    if config.enable_compression:
        _grow(chosen, left)
        skipped = _fill(skipped, left, chosen)
    out += [_leave_out(one, "room" if one.tokens > left.whole else "section") for one in skipped]
    return PacketSelection(tuple(chosen), tuple(out))


def _grow(chosen: list[PacketChoice], left: _Room) -> None:
    """Give the remaining room to packets limited to their share, the best first."""
    for at, choice in enumerate(chosen):
        more = min(choice.scored.tokens - choice.room, left.at(choice.scored.place))
        if more > 0:
            left.take(choice.scored.place, more)
            chosen[at] = PacketChoice(choice.scored, choice.room + more)


def _fill(
    skipped: Iterable[ScoredPacket], left: _Room, chosen: list[PacketChoice]
) -> list[ScoredPacket]:
    """Shorten the best skipped packets into the remaining room; return the rest."""
    rest = []
    cuts = 0
    for one in skipped:
        space = left.at(one.place)
        if cuts < MOST_CUTS and space >= LEAST_CUT and one.tokens > space:
            left.take(one.place, space)
            chosen.append(PacketChoice(one, space))
            cuts += 1
        else:
            rest.append(one)
    return rest


def _diverse(good: Sequence[ScoredPacket], weight: float) -> Iterable[tuple[ScoredPacket, str]]:
    """
    Yield packets by maximal marginal relevance, each with the name of the packet it repeats.

    A duplicate counts as chosen only once: similarity is measured against earlier packets.
    """
    ranked = sorted(good, key=lambda one: -one.score)
    pool, rest = ranked[:POOL], ranked[POOL:]
    term_sets = [one.terms for one in pool]
    for at, likeness, nearest in diverse([one.score for one in pool], term_sets, weight):
        yield pool[at], pool[nearest].packet.label if likeness >= REPEATS else ""
    yield from ((one, "") for one in rest)


def _leave_out(one: ScoredPacket, reason: Reason, other: str = "") -> LeftOut:
    return LeftOut(one.packet, reason, one.tokens, one.relevance, one.score, other)
