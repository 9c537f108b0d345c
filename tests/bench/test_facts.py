"""Retained facts: the rule, the reference methods, and a floor for Foldline."""

from __future__ import annotations

import pytest
from tests.bench.fact_session import made_history

import facts
import foldline
import references
import views
from histories import SPAN, flat, holds, plain
from stored_section import read_section

KINDS = {"constraint", "cause", "decision", "state", "open", "value", "negative", "error"}
FLOORS = {0.1: 0.87, 0.2: 0.93}
GROUPS = (("alpha",), ("beta", "gamma"))


@pytest.fixture(scope="module")
def history():
    return made_history()


def test_a_passage_with_one_of_every_group_states_the_fact():
    assert holds(plain("Alpha  causes\nGAMMA"), GROUPS)
    assert not holds("alpha and nothing else", GROUPS)


def test_words_farther_apart_than_a_passage_do_not_count():
    room = SPAN - len("alpha") - len("beta")
    assert holds(f"alpha{'.' * room}beta", GROUPS)
    assert not holds(f"alpha{'.' * (room + 1)}beta", GROUPS)
    assert holds(f"beta{'.' * SPAN}alpha beta", GROUPS)


def test_every_fact_of_the_generated_session_is_in_it(history):
    assert {fact.kind for fact in history.facts} == KINDS
    assert history.kept(flat(history.messages)) == [True] * len(history.facts)
    assert not any(history.kept(""))


@pytest.mark.parametrize("name", references.WAYS)
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_reference_method_stays_within_its_budget(history, name, share):
    text = references.within(references.WAYS[name], history.messages, history.budget(share))
    used = foldline.count([{"role": "user", "content": text}])
    assert 0.5 * history.budget(share) < used <= history.budget(share)


@pytest.mark.parametrize("share", FLOORS)
def test_the_facts_that_foldline_keeps_of_a_generated_session_do_not_fall(history, share):
    kept = history.kept(views.ours(history, share).text)
    lost = [fact.question for fact, one in zip(history.facts, kept, strict=True) if not one]
    assert sum(kept) / len(kept) >= FLOORS[share], lost


def test_the_section_states_the_number_of_facts_and_sessions(history):
    results = [
        result
        for name, make in ((views.OURS, views.ours), ("x", views.reference("trim to the tail")))
        for share in (0.1, 0.2)
        for result in facts.measure(name, make, [history], share)
    ]
    section = facts.section(results, [])
    assert f"{len(history.facts)} facts from 1 recorded sessions" in section.text
    assert [row[0] for row in section.tables[0].rows] == [views.OURS, "x"]
    assert {goal.what for goal in section.goals} == {
        "facts kept, history cut to 10 %",
        "facts kept, history cut to 20 %",
    }
    assert read_section(section.to_json()) == section


class Library:
    """A stand-in for a library that changes nothing, or fails."""

    def __init__(self, messages, problem=""):
        self.messages, self.problem, self.model_calls = messages, problem, 0

    def compact(self, *_, **__):
        return self


def test_a_library_that_is_too_large_is_cut_and_one_that_fails_keeps_nothing(history):
    large = views.library(Library(history.messages))(history, 0.1)
    assert large.large
    assert len(large.text) < 0.15 * len(flat(history.messages))
    failed = views.library(Library(None, "it crashed"))(history, 0.1)
    assert (failed.text, failed.problem) == ("", "it crashed")
