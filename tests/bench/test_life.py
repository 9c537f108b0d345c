"""A small life in every run of the tests: facts outlast compactions and restarts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

import pytest

from lifetime import TASK, by_turn, facts, turn
from living import HANDLE, Life, message_text

TURNS, WINDOW, EVERY = 300, 16_000, 60


@pytest.fixture(scope="module")
def life(folder_of_tests: Path):
    """Run three openings, two of them never closed; return the last, and all moments."""
    archive, moments = Path(mkdtemp(dir=folder_of_tests), "life.db"), []
    for start in range(0, TURNS, TURNS // 3):
        last = Life(archive, TURNS, WINDOW)
        moments += last.live(start, start + TURNS // 3, EVERY)
    yield last, moments
    last.session.close()


@pytest.mark.requirement("K21")
def test_every_stated_fact_stays_within_reach(life):
    for moment in life[1]:
        assert moment.known.found == moment.known.told


@pytest.mark.requirement("F31")
def test_the_task_outlasts_all_of_them(life):
    assert life[0].session.view()[0] == {"role": "user", "content": TASK}


def test_explicit_statements_stay_in_view(life):
    last = life[1][-1].known
    outright = {fact.number for fact in facts(TURNS) if fact.kind != "id"}
    assert len(outright & set(last.seen)) >= len(outright) - 1
    assert len(last.seen) > 2 * len(life[1][-1].tail)


def test_no_compaction_comes_directly_after_another(life):
    folds = [fold for moment in life[1] for fold in moment.folds]
    turns = [number for number, _, _ in folds]
    assert len(turns) >= 10
    assert all(later - sooner >= 2 for sooner, later in pairwise(turns))
    assert all(before - after >= WINDOW // 40 for _, before, after in folds)


def test_a_handle_in_the_view_finds_what_the_view_leaves_out(life):
    session = life[0].session
    text = next(text for text in map(message_text, session.view()) if text.startswith("[Snapshot"))
    handle = HANDLE.findall(text.partition(" #")[0])[-1]
    fact = next(fact for fact in facts(TURNS) if fact.kind == "id")
    found = session.recall(handle, grep=fact.subject, max_tokens=500)
    assert fact.value in found.text


def test_a_turn_is_the_same_in_every_process():
    for number in (0, 25, 60, 110, 210):
        assert turn(number, by_turn(facts(TURNS))) == turn(number, by_turn(facts(5_000)))
