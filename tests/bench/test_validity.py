"""Foldline breaks no promise on inputs that broke others, and the checks find broken ones."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from extractive import Failed, Standin

import failure_inputs
import foldline
import validity
from black_box import MEANINGS, Outcome, broken, rejected
from failure_writing import SYSTEM, TASK, Case, a, c, t, u, work
from foldline import Reply
from peer import Answer, Peer, peers
from stored_section import read_section
from validity import judge, verdict

CASES = failure_inputs.cases()
GIVEN = [*SYSTEM, *TASK, *work(0, 3, 30), *a("ok"), *u("And now?")]


def lines(messages, budget, _):
    return compacted(messages, budget, None)


def summary(messages, budget, kind):
    standin = Standin(kind).within(round(0.3 * budget))

    def answer(ask):
        try:
            return Reply(standin.within(ask.max_tokens).answer(ask.prompt))
        except Failed as error:
            return Reply(error=str(error))

    return compacted(messages, budget, answer)


def compacted(messages, budget, summarizer):
    given = [dict(message) for message in messages]
    before = json.dumps(given)
    result = foldline.compact(given, budget=budget, format="openai-chat", summarizer=summarizer)
    return Answer(result.messages, mutated=json.dumps(given) != before)


# --- what holds of Foldline ----------------------------------------------------------------


@pytest.mark.requirement("F01", "F02", "F03", "F06", "F07", "F13", "F33", "F34", "F66")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_foldline_keeps_every_promise(case):
    found = list(judge(case, lines)) if case.summarizer == "extractive" else []
    assert [each for each in found if case.fits or each.promise != "over"] == []


@pytest.mark.requirement("F25", "F27", "F29", "F31")
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.summarizer != "extractive" or case.later],
    ids=lambda case: case.name,
)
def test_foldline_with_a_summarizer_keeps_every_promise(case):
    assert list(judge(case, summary)) == []


# --- the data ------------------------------------------------------------------------------


def test_there_are_more_than_forty_inputs_each_with_a_name_and_its_rows():
    assert len(CASES) > 40
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.rows, case.name
        for row in case.rows:
            assert re.fullmatch(r"[A-Z]{1,2}-?\d+", row), row


def test_the_inputs_are_the_same_in_every_run():
    assert failure_inputs.cases() == CASES


def test_most_inputs_are_sound_and_some_are_damaged_on_purpose():
    damaged = [case.name for case in CASES if rejected(case.messages)]
    assert 5 <= len(damaged) <= len(CASES) / 3
    assert "a result without its call, first" in damaged


# --- the checks see what is broken ---------------------------------------------------------


def seen(left, given=GIVEN, budget=1_000, kind="extractive", said=None):
    outcome = Outcome.of(given, said or given, left, budget, kind)
    return {promise for promise, _ in broken(outcome)}


def test_an_unchanged_result_breaks_no_promise():
    assert seen(GIVEN) == set()


@pytest.mark.parametrize(
    ("promise", "left"),
    [
        ("valid", [*GIVEN[:2], *GIVEN[3:]]),
        ("task", [*SYSTEM, *u("And now?")]),
        ("latest", [*SYSTEM, *TASK, *a("ok")]),
        ("system", GIVEN[1:]),
        ("grows", [*GIVEN[:3], *t("call_0", "x" * 9_000), *GIVEN[4:]]),
    ],
)
def test_each_broken_promise_is_detected(promise, left):
    assert promise in seen(left)


def test_missing_unread_results_and_pending_calls_are_found():
    unread = [*GIVEN, *c("x1"), *t("x1", "forty two")]
    assert "unread" in seen([*GIVEN, *c("x1"), *t("x1", "[cleared]")], unread)
    running = [*GIVEN, *c("x1")]
    assert seen(running, running) == set()
    assert "running" in seen(GIVEN, running)


def test_a_large_text_may_be_cut_but_its_beginning_stands():
    given = [*SYSTEM, *u("BUILD the page.\n" + "word " * 900)]
    assert seen([*SYSTEM, *u("BUILD the page.\nword word [cut]")], given, 400) == set()
    assert "task" in seen([*SYSTEM, *u("word word [cut]")], given, 400)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("refusal", "Summary: I'm sorry, but I can't help with that."),
        ("error", "Error: the summarizer timed out after 30 s"),
        ("empty", "Summary: "),
    ],
)
def test_a_useless_summary_in_place_of_the_history_is_detected(kind, text):
    left = [*SYSTEM, *TASK, *u(text), *u("And now?")]
    assert "summary" in seen(left, kind=kind)
    quoted = GIVEN[3]["content"].split("\n")[1]
    assert "summary" not in seen([*SYSTEM, *TASK, *u(quoted), *u("And now?")], kind=kind)


def test_damage_that_stays_is_counted_as_not_repaired():
    case = next(case for case in CASES if case.name == "a result without its call, first")
    found = {each.promise for each in judge(case, lambda m, *_: Answer(list(m)), sizes=False)}
    assert found == {"repair"}


def act_of(*answers):
    left = list(answers)
    return lambda *_: left.pop(0)


@pytest.mark.parametrize(
    ("answers", "promise"),
    [
        ((Answer(None, "no idea"),), "error"),
        ((Answer(GIVEN),), "over"),
        ((Answer([*SYSTEM, *TASK, *u("And now?")], mutated=True), Answer(SYSTEM)), "input"),
        ((Answer([*SYSTEM, *TASK, *u("And now?")]), Answer(SYSTEM)), "again"),
        ((Answer([*SYSTEM, *TASK, *u("And now?")]), Answer(None, "no")), "again"),
    ],
)
def test_errors_overruns_and_changes_by_a_second_run_are_reported(answers, promise):
    case = Case("one", ("F01",), GIVEN, 300)
    assert promise in {each.promise for each in judge(case, act_of(*answers))}


# --- the section ---------------------------------------------------------------------------


def test_the_section_counts_cases_and_shows_a_dash_where_nothing_can_be_broken(monkeypatch):
    (ours,) = peers("Foldline")
    absent = replace(ours, name="Absent", problem="no index")
    monkeypatch.setattr(validity, "peers", lambda *_: [ours, absent])
    monkeypatch.setattr(validity, "cases", lambda: CASES[:2])
    section = validity.section(SimpleNamespace(quick=False, peer=[], each=False))
    table, promises, calls = section.tables
    assert table.columns[:2] == ("library", "broken")
    assert table.rows[0][1] == 0
    assert table.rows[0][2 + list(MEANINGS).index("summary")] is None
    assert set(table.rows[1][1:]) == {None}
    assert len(promises.rows) == len(MEANINGS)
    assert calls.rows[1][3] == "no index"
    assert all(goal.held for goal in section.goals)
    assert section.plots[0].labels == ("Foldline",)
    assert read_section(json.loads(json.dumps(section.to_json()))) == section


def test_a_verdict_counts_a_promise_once_a_case(tmp_path):
    code = (
        "def load(messages):\n    return messages\n"
        "def compact(messages, task):\n    return messages[-1:]\n"
        "def dump(messages):\n    return messages\n"
    )
    (tmp_path / "last.py").write_text(code, encoding="utf-8")
    peer = Peer("last", "last", "1", "messages[-1:]", tmp_path / "last.py")
    found = verdict(peer, [Case("one", ("F31",), GIVEN, 0.5, later=(u("a"), u("b")))])
    assert found.count("task") == found.count("system") == 1
    assert found.total == 2
    assert found.errors == found.over == ()
