from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foldline.errors import BudgetError
from foldline.notes.consolidation_plan import (
    ConsolidationPlan,
    LevelSettings,
    NoteTerms,
    plan_levels,
)
from foldline.notes.note import NoteMetadata

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def entry(id: str, words: str, **known: Any) -> NoteTerms:  # noqa: A002
    age = known.pop("days", 1)
    at = NOW - timedelta(days=age)
    known = {"level": "temporary", "created_at": at, "updated_at": at, **known}
    return NoteTerms(NoteMetadata(id=id, title=id, **known), frozenset(words.split()))


def plan(
    *notes: NoteTerms, cited: dict[str, int] | None = None, **settings: Any
) -> ConsolidationPlan:
    return plan_levels(notes, cited or {}, LevelSettings(**settings), NOW)


@pytest.mark.requirement("E3.1")
def test_near_duplicates_become_one_the_higher_and_newer() -> None:
    found = plan(
        entry("old", "a b c d e f g h i j", days=3),
        entry("new", "a b c d e f g h i k", days=1),
        entry("task", "p q r s t u", level="task", days=9),
        entry("again", "p q r s t u", days=1),
        entry("other", "a b x y z"),
    )
    assert {(merge.into, merge.sources) for merge in found.merges} == {
        ("new", ("old",)),
        ("task", ("again",)),
    }


def test_notes_of_two_types_and_tasks_are_never_merged() -> None:
    found = plan(
        entry("a", "x y z"),
        entry("b", "x y z", type="reference"),
        entry("c", "x y z", status="pending"),
        entry("d", "x y z", level="project", type="conclusion"),
    )
    assert found.merges == ()


def test_task_notes_are_not_merged_with_each_other() -> None:
    assert plan(entry("a", "x y", level="task"), entry("b", "x y", level="task")).merges == ()


@pytest.mark.requirement("E3.1")
@pytest.mark.parametrize(
    ("known", "cited", "after"),
    [
        ({"type": "blocker"}, 0, "task"),
        ({"type": "action"}, 0, "task"),
        ({"type": "conclusion"}, 0, None),
        ({"type": "conclusion"}, 1, "task"),
        ({"type": "general"}, 1, None),
        ({"type": "general", "merged": ("x",)}, 1, "task"),
        ({"type": "conclusion"}, 2, "project"),
        ({"type": "blocker", "level": "task"}, 9, None),
        ({"type": "reference", "level": "task", "merged": ("x", "y")}, 0, "project"),
        ({"type": "conclusion", "level": "project"}, 9, None),
    ],
)
def test_important_or_recurring_notes_are_promoted(
    known: dict[str, Any], cited: int, after: str | None
) -> None:
    found = plan(entry("a", "x", **known), cited={"a": cited}).promotions
    assert [one.after for one in found] == ([after] if after else [])
    assert all(one.why for one in found)


@pytest.mark.requirement("E3.1")
def test_only_old_uncited_temporary_notes_expire() -> None:
    found = plan(
        entry("old", "a", days=31),
        entry("young", "b", days=29),
        entry("named", "c", days=31),
        entry("kept", "d", days=400, level="task"),
        entry("open", "e", days=31, status="pending", type="reference"),
        cited={"named": 1},
    )
    assert found.expired == ("old",)


def test_many_alike_notes_are_compared_in_bounded_time() -> None:
    notes = [entry(f"{n:04d}", f"build failed again step{n % 7} host{n}") for n in range(2_000)]
    found = plan(*notes, alike=0.6)
    gone = [source for merge in found.merges for source in merge.sources]
    assert len(gone) == len(set(gone))
    assert not set(gone) & {merge.into for merge in found.merges}


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": 0}, {"alike": 0}, {"alike": 1.1}, {"promote_at": 0}, {"expire_days": -1}],
)
def test_invalid_settings_are_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(BudgetError):
        LevelSettings(**wrong)


def test_a_time_beyond_all_calendars_expires_nothing() -> None:
    assert plan(entry("old", "a b c", days=9_000), expire_days=1e11).expired == ()
