"""What each packet is worth to a query: how relevant, how recent, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from foldline.context.cuts import cut, terms_in
from foldline.context.packets import ContextPacket
from foldline.context.places import Place, place_of
from foldline.context.settings import ContextConfig
from foldline.context.shorten import units
from foldline.retrieval.documents import Document
from foldline.retrieval.embedding import Embedder
from foldline.retrieval.index import Index

DAY: Final = 86_400.0

LEAST_RECENCY: Final = 0.1

MESSAGE_DECAY: Final = 0.02
"""Loss of recency for each message since, where messages have no time."""

FIRST: Final = 0.4
"""Relevance of what a search put first, at least; that of rank r is this / (1 + r / 10)."""

LEADER: Final = 0.25
"""The part of a relevance that goes by how near a packet comes to the best one found."""

TOGETHER: Final = 0.35
"""The part that goes by how much of the query one single line or sentence of the packet holds."""

LOOKED: Final = 100
"""Packets whose lines are looked at, the best."""

LONGEST_LOOK: Final = 20_000
"""Characters of each that are looked at."""


@dataclass(frozen=True, slots=True)
class Scored:
    """
    A packet with what it is worth.

    ``tokens`` is its cost. ``relevance``, ``recency`` and ``score`` go from 0 to 1; ``recency`` is
    None where time says nothing. ``parts`` tell where the relevance comes from: "given" by the
    caller, "found" (share of the query's information that it holds), "lead" (nearness to the best
    hit), "together" (what one line of it holds), "ranked" (by the search that gave it) or "recent"
    (one of the newest messages). ``matched`` are terms of the query in it.
    """

    packet: ContextPacket
    place: Place
    tokens: int
    terms: frozenset[str] = field(repr=False)
    relevance: float
    recency: float | None
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """How relevant a packet is to a query, and why."""

    relevance: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def relevances(
    query: str, packets: Sequence[ContextPacket], embedder: Embedder | None = None
) -> list[Found]:
    """
    Judge packets by their words, by their neighbours in the conversation, and by meaning.

    Args:
        query: A question, in any language.
        packets: What may answer it.
        embedder: Judges meaning as well; None goes by words alone.

    Returns:
        For each packet a relevance that is comparable between queries; 0 where it shares nothing.
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
            out.append(Found())
            continue
        lead = max(0.0, hit.score) / best if best > 0 else 0.0
        strength = max(hit.strength, sum(says.get(term, 0.0) for term in hit.matched))
        parts = {
            "found": (1 - LEADER - TOGETHER) * strength,
            "lead": LEADER * strength * lead,
            "together": TOGETHER * close.get(number, 0.0),
        }
        out.append(Found(min(1.0, sum(parts.values())), parts, hit.matched))
    return out


def _information(query: str, packets: Sequence[ContextPacket]) -> dict[str, float]:
    """
    Return which share of the query's information each of its terms carries.

    It is log(1 + (n+1) / (df+1)): flatter than that of a large store, because a term that none of
    five packets has is not what the question is about.
    """
    asked = frozenset(cut(query[:LONGEST_LOOK]))
    spread = Counter(term for packet in packets for term in asked & terms_in(packet.content))
    says = {term: math.log(1 + (len(packets) + 1) / (spread[term] + 1)) for term in asked}
    total = sum(says.values())
    return {term: value / total for term, value in says.items()}


def _together(says: Mapping[str, float], text: str) -> float:
    """Return the largest share of the query that one line or sentence holds."""
    lines = (says.keys() & cut(unit) for unit in units(text[:LONGEST_LOOK]))
    return max((sum(says[term] for term in line) for line in lines), default=0.0)


def _document(number: int, packet: ContextPacket) -> Document:
    named = " ".join(str(packet.metadata.get(key, "")) for key in ("title", "path"))
    position = packet.metadata.get("position")
    said = packet.type == "conversation_history" and isinstance(position, int)
    return Document(
        str(number),
        packet.content,
        group="conversation" if said else "",
        place=float(position) if said and isinstance(position, int) else 0.0,
        terms=(*cut(named), *cut(packet.content)),
    )


def recency(seconds: float | None, now: float, decay: float) -> float | None:
    """Return exp(-decay x days), at least 0.1; None without a time; the future counts as now."""
    if seconds is None:
        return None
    return max(LEAST_RECENCY, math.exp(-decay * max(0.0, now - seconds) / DAY))


def scored(
    query: str,
    packets: Sequence[ContextPacket],
    costs: Sequence[int],
    config: ContextConfig,
    *,
    now: float,
    embedder: Embedder | None = None,
) -> list[Scored]:
    """
    Score packets: weighted relevance and recency; relevance alone where there is no time.

    Args:
        query: What the context is for.
        packets: The candidates.
        costs: What each takes, in tokens.
        config: The weights.
        now: Seconds since 1970.
        embedder: Judges meaning; see `relevances`.
    """
    newest = max((_position(packet) for packet in packets), default=-1)
    out = []
    judged = relevances(query, packets, embedder)
    for packet, tokens, found in zip(packets, costs, judged, strict=True):
        since = newest - _position(packet)
        said = _position(packet) >= 0
        relevance, parts = _relevance(
            packet, found, said and since < config.recent_messages, config
        )
        age = recency(packet.seconds, now, config.decay)
        if age is None and said:
            age = max(LEAST_RECENCY, math.exp(-MESSAGE_DECAY * since))
        score = relevance
        if age is not None:
            score = config.relevance_weight * relevance + config.recency_weight * age
        words = terms_in(packet.content)
        place = place_of(packet)
        out.append(
            Scored(packet, place, tokens, words, relevance, age, score, parts, found.matched)
        )
    return out


def _relevance(
    packet: ContextPacket, found: Found, recent: bool, config: ContextConfig
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
    """Return the place of a message in its conversation, -1 for anything else."""
    position = packet.metadata.get("position")
    is_said = packet.type == "conversation_history" and isinstance(position, int)
    return position if is_said and isinstance(position, int) else -1
