"""Measuring a session gives one observation for every cut, budget and method."""

from __future__ import annotations

from tests.evaluation.sample import transcript

from foldline.engine.policies import policy
from foldline.evaluation.methods import policy_method, trimming
from foldline.evaluation.retention import LEAST_BUDGET, MeasurementPlan, measure
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())
PLAN = MeasurementPlan(
    (policy_method(policy("default")), trimming()),
    {"5%": lambda tokens: tokens // 20, "10%": lambda tokens: tokens // 10},
)


def test_there_is_an_observation_for_every_cut_budget_and_method():
    seen = list(measure("s", "wire", transcript(), COUNTER, PLAN))
    assert len(seen) == 3 * 2 * 2
    assert {one.score.session for one in seen} == {"s"}
    for one in seen:
        assert 0 <= one.score.kept.line <= one.score.kept.need <= 1
        assert 0 < one.score.size < 0.2
        assert one.characters > 20_000
        assert one.made.broken == ""


def test_foldline_retains_more_deep_need_than_trimming():
    plan = MeasurementPlan(PLAN.methods, {"20%": lambda tokens: tokens // 5})
    seen = list(measure("s", "wire", transcript(), COUNTER, plan))
    deep = {
        name: sum(one.score.kept.deep for one in seen if one.score.method == name)
        for name in ("Foldline default", "trim to the tail")
    }
    assert deep["Foldline default"] > deep["trim to the tail"]


def test_a_short_session_gives_no_observation():
    assert list(measure("s", "wire", transcript(12), COUNTER, PLAN)) == []


def test_no_budget_is_smaller_than_the_smallest_history():
    asked = []
    method = trimming()

    def note(there, counter, budget):
        asked.append(budget)
        return method.make(there, counter, budget)

    plan = MeasurementPlan((type(method)("noted", note),), {"1": lambda _: 1})
    assert list(measure("s", "wire", transcript(), COUNTER, plan))
    assert set(asked) == {LEAST_BUDGET}
