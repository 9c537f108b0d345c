"""
Plan the consolidation of temporary notes: merge, promote, or expire.

A plan is made from the text of the notes, without a model, and can be read before it is carried
out:

- near-duplicates are merged into the one of the highest level, among these the newest;
- a temporary note is promoted to the task level if its type is important, or if it recurs;
- a task note of a lasting type that recurs often is promoted to the project level;
- a temporary note that is not cited expires after some days.
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
"""The value that each recurrence adds to a note."""

LASTING: Final = ("conclusion", "reference")
"""Types that stay true when a task is done."""

RAREST: Final = 12
"""The number of rarest terms of a note; notes that share none of them are not compared."""

CROWD: Final = 64
"""The maximum number of notes compared for one rare term; the newest are compared."""


@frozen
class LevelSettings:
    """
    Settings of the consolidation of temporary notes.

    Args:
        threshold: The number of new temporary notes from which a consolidation is due.
        automatic: Consolidate when a temporary note is created and a consolidation is due.
        alike: The share of terms that near-duplicates have in common, 0 to 1.
        promote_at: The value, 0 to 1, from which a temporary note is promoted to the task level.
        project_after: The number of recurrences from which a note is promoted to the project
            level.
        expire_days: The age in days at which an unpromoted temporary note expires.

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
                    f"{name} is {getattr(self, name)!r}; it must be more than 0 and at most 1."
                )


@frozen
class NoteTerms:
    """A note and the terms of its text."""

    metadata: NoteMetadata
    terms: frozenset[str]


@frozen
class Merge:
    """Notes that are merged into another one."""

    into: str
    sources: tuple[str, ...]
    likeness: float


@frozen
class Promotion:
    """A note that gets another level, and the reason."""

    id: str
    before: Level
    after: Level
    why: str


@frozen
class ConsolidationPlan:
    """The merges, promotions and the ids of expired notes."""

    merges: tuple[Merge, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    expired: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.merges or self.promotions or self.expired)


def plan_levels(
    notes: Sequence[NoteTerms], cited: Mapping[str, int], settings: LevelSettings, now: datetime
) -> ConsolidationPlan:
    """
    Plan a consolidation.

    Args:
        notes: All notes.
        cited: The number of other notes that cite each, by id.
        settings: The thresholds.
        now: The current time.
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
        reasons.append(f"value {worth:.2f}: a {metadata.type} that recurred {times} times")
    if level == "task" and metadata.type in LASTING and times >= settings.project_after:
        level = "project"
        reasons.append(f"a {metadata.type} is lasting, and it recurred {times} times")
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


# --- near-duplicates ---------------------------------------------------------------------------


def _merges(notes: Sequence[NoteTerms], alike: float) -> Iterator[Merge]:
    """Merge each temporary note into the best of its near-duplicates, once."""
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
    """Return, for each note, the positions of notes that share a rare term with it."""
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
    """Return the rarest terms that other notes have, too."""
    shared = (term for term in terms if frequency[term] > 1)
    return sorted(shared, key=lambda term: (frequency[term], term))[:RAREST]


def _likeness(one: NoteTerms, into: NoteTerms) -> float:
    """
    Return the Jaccard similarity of the terms of two notes of one type; 0 for different types.

    A note that others were merged into has more terms than each of them: there it is the share of
    the other's terms that it already has.
    """
    if one.metadata.type != into.metadata.type:
        return 0.0
    whole_of = one.terms if into.metadata.merged else one.terms | into.terms
    return len(one.terms & into.terms) / len(whole_of)
