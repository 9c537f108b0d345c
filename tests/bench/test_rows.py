"""Requested rows: how the bench rates what is left."""

import json
from argparse import Namespace

import pytest

import foldline
import rows
from made_outputs import MAKERS, made_outputs
from stored_section import read_section

CASES = rows.cases(len(MAKERS), 5, every=False)


def judged(case, messages):
    return rows.judged(case, foldline.count(case.messages()), messages, 0.0)


def test_outputs_are_the_same_for_a_seed_and_differ_between_seeds():
    assert made_outputs(3, 7) == made_outputs(3, 7)
    assert made_outputs(3, 7) != made_outputs(3, 8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.output.kind}, {case.read}")
def test_the_answer_to_a_question_is_in_its_output_and_not_in_the_question(case):
    output = " ".join(case.output.text.split())
    for needle in case.question.needles:
        assert " ".join(needle.split()) in output.replace("&euro;", "€")
    kept = judged(case, case.messages())
    assert kept.found
    assert not kept.within
    assert not judged(case, [{"role": "user", "content": case.question.words}]).found


def test_an_answer_without_the_failures_of_its_output_is_not_honest():
    case = next(c for c in CASES if c.output.kind == "pytest")
    assert not judged(case, [{"role": "user", "content": "698 passed"}]).honest
    assert judged(case, [{"role": "user", "content": "1 failed, 697 passed"}]).honest
    assert judged(case, case.messages()).honest


def test_both_formats_hold_the_same_output():
    for case in CASES[:4]:
        (block,) = case.blocks()[-1]["content"]
        assert block["content"] == case.output.text
        foldline.compact(case.blocks(), format="anthropic", budget=100_000)


@pytest.mark.slow
def test_the_quick_run_holds_its_goals():
    found = rows.section(Namespace(quick=True, seed=rows.SEED, peers=""))
    assert all(goal.held for goal in found.goals), [goal for goal in found.goals if not goal.held]
    assert read_section(json.loads(json.dumps(found.to_json()))) == found
