"""
What becomes of notes that were made for the moment: merged, promoted, or expired.

A plan is made from what the notes say, without a model, and can be read before it is carried out:

- notes that say nearly the same become one: the one of the highest level, of these the newest;
- a temporary note becomes one of the task if its type matters, or if it came up again;
- a note of the task that holds what lasts, and came up again often, becomes one of the project;
- a temporary note that nobody asked for again expires after some days.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from foldline.core.validation import positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen
from foldline.notes.note import LEVELS, RELEVANCE, Level, NoteMetadata

DAY: Final = 86_400.0

AGAIN: Final = 0.1
"""What coming up once more adds to what a note is worth."""

LASTING: Final = ("conclusion", "reference")
"""Types that hold what is still true when a task is done."""

RAREST: Final = 12
"""Notes that share none of this many of their rarest terms are not compared."""

CROWD: Final = 64
"""A term that more notes have among their rarest tells nothing; the newest are compared."""


@frozen
class LevelSettings:
    """
    When temporary notes are consolidated, and how.

    Args:
        threshold: Temporary notes made since the last time, from which on it is due.
        automatic: Whether making a temporary note consolidates when that is due.
        alike: The share of their terms that near-duplicates have in common.
        promote_at: What a temporary note must be worth, from 0 to 1, to become one of the task.
        project_after: How often what lasts must have come up again to become one of the project.
        expire_days: Days after which a temporary note that was not promoted expires.

    Raises:
        BudgetError: A number is out of range.
    """

    threshold: int = 20
    automatic: bool = True
    alike: float = 0.7
    promote_at: float = 0.75
    project_after: int = 2
    expire_days: float = 30.0

    def __post_init__(self) -> None:
        whole("threshold", self.threshold, 1)
        whole("project_after", self.project_after, 1)
        positive("expire_days", self.expire_days)
        for name in ("alike", "promote_at"):
            if not 0 < getattr(self, name) <= 1:
                raise BudgetError(
                    f"{name} is {getattr(self, name)!r}, and it is more than 0 and at most 1."
                )


@frozen
class NoteTerms:
    """A note, and the terms of what it says."""

    metadata: NoteMetadata
    terms: frozenset[str]


@frozen
class Merge:
    """Notes that are taken into another one."""

    into: str
    sources: tuple[str, ...]
    likeness: float


@frozen
class Promotion:
    """A note that gets another level, and why."""

    id: str
    before: Level
    after: Level
    why: str


@frozen
class ConsolidationPlan:
    """What to do; the ids of notes that expire are in ``expired``."""

    merges: tuple[Merge, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    expired: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.merges or self.promotions or self.expired)


def plan_levels(
    notes: Sequence[NoteTerms], cited: Mapping[str, int], settings: LevelSettings, now: datetime
) -> ConsolidationPlan:
    """
    Plan what becomes of notes.

    Args:
        notes: All notes.
        cited: How many other notes name each, by id.
        settings: When, and how.
        now: The time.
    """
    merges = tuple(_merges(notes, settings.alike))
    merged_ids = {source for merge in merges for source in merge.sources}
    known = {one.metadata.id: one.metadata.merged for one in notes}
    again = {m.into: len({*m.sources} - {*known[m.into]}) for m in merges}
    promotions, expired = [], []
    for one in notes:
        metadata = one.metadata
        if metadata.id in merged_ids:
            continue
        times = again.get(metadata.id, 0) + len(metadata.merged) + cited.get(metadata.id, 0)
        promotion = _promotion(metadata, times, settings)
        if promotion is not None:
            promotions.append(promotion)
        elif _expires(metadata, times, settings, now):
            expired.append(metadata.id)
    return ConsolidationPlan(merges, tuple(promotions), tuple(expired))


def _promotion(metadata: NoteMetadata, times: int, settings: LevelSettings) -> Promotion | None:
    worth = RELEVANCE[metadata.type] + AGAIN * times
    level: Level = metadata.level
    reasons = []
    if level == "temporary" and worth + 1e-9 >= settings.promote_at:
        level = "task"
        reasons.append(f"worth {worth:.2f}: a {metadata.type} that came up again {times} times")
    if level == "task" and metadata.type in LASTING and times >= settings.project_after:
        level = "project"
        reasons.append(f"a {metadata.type} lasts, and it came up again {times} times")
    return (
        None
        if level == metadata.level
        else Promotion(metadata.id, metadata.level, level, "; ".join(reasons))
    )


def _expires(metadata: NoteMetadata, times: int, settings: LevelSettings, now: datetime) -> bool:
    old = (now - metadata.updated_at).total_seconds() > settings.expire_days * DAY
    return metadata.level == "temporary" and not times and old and not _is_open(metadata)


def _is_open(metadata: NoteMetadata) -> bool:
    return metadata.status in ("pending", "running")


# --- what says nearly the same -----------------------------------------------------------------


def _merges(notes: Sequence[NoteTerms], alike: float) -> Iterator[Merge]:
    """Take each temporary note into the best of those that say nearly the same, once."""
    able = [one for one in notes if one.terms and one.metadata.status is None]
    ranked = sorted(able, key=_rank, reverse=True)
    place = {one.metadata.id: at for at, one in enumerate(ranked)}
    near = _neighbours(ranked)
    taken: dict[str, list[tuple[float, str]]] = defaultdict(list)
    merged_ids: set[str] = set()
    for one in ranked:
        if one.metadata.level != "temporary":
            continue
        better = sorted(at for at in near[one.metadata.id] if at < place[one.metadata.id])
        for at in better:
            other = ranked[at]
            likeness = _likeness(one, other)
            if other.metadata.id not in merged_ids and likeness >= alike:
                taken[other.metadata.id].append((likeness, one.metadata.id))
                merged_ids.add(one.metadata.id)
                break
    for into, sources in taken.items():
        yield Merge(into, tuple(id for _, id in sources), min(score for score, _ in sources))  # noqa: A001


def _rank(one: NoteTerms) -> tuple[int, tuple[float, str]]:
    return LEVELS.index(one.metadata.level), one.metadata.newest_first


def _neighbours(ranked: Sequence[NoteTerms]) -> dict[str, set[int]]:
    """Find for each note the places of those with which it shares a rare term."""
    frequency = Counter(term for one in ranked for term in one.terms)
    keys = [_rare(one.terms, frequency) for one in ranked]
    having: dict[str, list[int]] = defaultdict(list)
    for at, rare in enumerate(keys):
        for term in rare:
            if len(having[term]) < CROWD:
                having[term].append(at)
    return {
        one.metadata.id: {other for term in rare for other in having[term]} - {at}
        for at, (one, rare) in enumerate(zip(ranked, keys, strict=True))
    }


def _rare(terms: Iterable[str], frequency: Mapping[str, int]) -> list[str]:
    """Return the rarest terms that others have too; what nobody else says joins nothing."""
    shared = (term for term in terms if frequency[term] > 1)
    return sorted(shared, key=lambda term: (frequency[term], term))[:RAREST]


def _likeness(one: NoteTerms, into: NoteTerms) -> float:
    """
    Return the share of all terms of two notes of one type that both have; 0 for two types.

    A note that others were merged into says more than each of them: there it is the share of the
    terms of the other that it has already.
    """
    if one.metadata.type != into.metadata.type:
        return 0.0
    whole_of = one.terms if into.metadata.merged else one.terms | into.terms
    return len(one.terms & into.terms) / len(whole_of)
