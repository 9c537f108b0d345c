from __future__ import annotations

from pathlib import Path

import pytest
from tests.inspector.sample import claude_code, from_our_archive, from_our_file

from foldline.inspector.comparison import FATES, around, compare, describe
from foldline.inspector.trace import SessionTrace
from foldline.values.edits import Fold, Rewrite


def comparisons(trace: SessionTrace):
    for index in range(1, len(trace.segments)):
        revision = trace.segments[index].revision
        assert revision is not None
        yield revision, compare(*around(trace.segments, index), revision, trace.counter)


@pytest.mark.requirement("V4")
def test_every_message_of_both_views_is_in_exactly_one_row(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    for index, (_, made) in enumerate(comparisons(trace), 1):
        old, new = around(trace.segments, index)
        assert [row.old.id for row in made.rows if row.old] == [m.id for m in old]
        assert sorted(row.new.id for row in made.rows if row.new) == sorted(m.id for m in new)
        assert made.before == trace.counter.messages(old)
        assert sum(row.before for row in made.rows) == made.before
        assert sum(row.after for row in made.rows) == made.after


def test_fates_follow_the_edits(tmp_path: Path) -> None:
    seen = set()
    for revision, made in comparisons(from_our_archive(tmp_path)):
        folded = {n for e in revision.edits if isinstance(e, Fold) for n in e.messages}
        cleared = {e.message for e in revision.edits if isinstance(e, Rewrite)}
        for row in made.rows:
            seen.add(row.fate)
            if row.old is None:
                assert row.fate == "added"
            elif row.old.id in folded:
                assert row.fate in ("quoted", "folded", "handle")
            elif row.old.id not in cleared:
                assert row.fate == "kept"
    assert {"kept", "added"} <= seen
    assert seen & {"quoted", "folded"}
    assert seen <= set(FATES)


def test_cleared_results_are_marked_as_cleared(tmp_path: Path) -> None:
    made = [one for _, one in comparisons(from_our_archive(tmp_path, policy="clear"))]
    assert made
    for one in made:
        cleared = [row for row in one.rows if row.fate == "cleared"]
        assert cleared
        assert all(row.old and row.new and row.after < row.before for row in cleared)


def test_without_a_model_no_message_counts_as_summarized(tmp_path: Path) -> None:
    for _, made in comparisons(from_our_archive(tmp_path)):
        assert "summarized" not in made.tokens()


def test_messages_missing_from_an_agents_own_summary_are_only_in_the_file(tmp_path: Path) -> None:
    first = [
        ("user", "Fix the till"),
        ("assistant", "I renamed compute_total in shop/till.py and ran all of the tests"),
        ("user", "Now paint the fence"),
        ("assistant", "Painted."),
        ("user", "thanks"),
    ]
    words = (
        "This session is being continued from a previous conversation. "
        "The agent changed compute_total for the user."
    )
    second = [("user", words), ("assistant", "Go on?")]
    ((_, made),) = comparisons(from_our_file(claude_code(tmp_path / "s.jsonl", first, second)))
    fates = [row.fate for row in made.rows if row.old]
    assert fates == ["file", "summarized", "file", "file", "file"]


def test_edits_are_described_as_text(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    words = {describe(s.revision) for s in trace.segments if s.revision}
    assert any("snapshots made: 1" in one for one in words)
