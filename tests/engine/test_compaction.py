from dataclasses import dataclass

import pytest
from tests.neutral import A, T, U, c, view, words

from foldline.core.asks import drive
from foldline.core.budget import Budget
from foldline.core.strategy import CompactionContext, Plan, Policy, Rung
from foldline.engine.compaction import compact_view
from foldline.values.edits import Drop, Rewrite
from foldline.values.handles import handles


@dataclass
class Rewriting:
    """A strategy that rewrites all results to ``size`` characters, or drops positions."""

    size: int = 0
    drops: tuple = ()
    name: str = "does"
    runs: int = 0

    def propose(self, found, _need):
        yield from ()
        self.runs += 1
        if self.drops:
            return Plan((Drop(tuple(found.messages[i].id for i in self.drops), "does"),))
        return Plan(
            tuple(
                Rewrite(message.id, 0, "x" * self.size, "does")
                for message in found.messages
                if message.results
            ),
        )


def make_view(size=4_000):
    return view(U("task"), A(c("1")), T("1", "r" * size), A("done"), U("next"))


def run(found, budget, *rungs, cold=True):
    names = handles(found.messages)
    context = CompactionContext(budget.target, budget.limit, budget.scale, names, cold)
    return drive(compact_view(found, budget, Policy("p", rungs), context), lambda _: None)


def test_a_view_within_budget_is_returned_unchanged():
    found, strategy = make_view(), Rewriting(4)
    outcome = run(found, Budget.of_tokens(5_000), Rung(strategy, 0.1))
    assert (outcome.status, outcome.reason) == ("unchanged", "within budget")
    assert outcome.view is found
    assert strategy.runs == 0


def test_below_the_trigger_of_a_window_no_rung_runs():
    outcome = run(make_view(), Budget.of_window(100_000), Rung(Rewriting(4), 0.5))
    assert (outcome.status, outcome.reason) == ("unchanged", "below the trigger")


def test_rungs_run_until_the_target_is_met():
    first, second, third = Rewriting(2_000), Rewriting(40), Rewriting(4)
    budget = Budget.of_tokens(200)
    outcome = run(make_view(), budget, Rung(first, 0.0), Rung(second, 0.0), Rung(third, 0.0))
    assert outcome.status == "compacted"
    assert [report.outcome for report in outcome.rungs] == ["applied", "applied"]
    assert third.runs == 0
    assert outcome.view.tokens <= 200
    assert (
        sum(report.freed for report in outcome.rungs) == make_view().tokens - outcome.view.tokens
    )


@pytest.mark.requirement("K11", "C11")
def test_a_plan_that_frees_too_little_is_rejected_with_a_reason():
    budget = Budget.of_window(1_200, output=0, margin=0)
    outcome = run(make_view(), budget, Rung(Rewriting(3_900), 0.0, gain_tokens=500))
    assert outcome.rungs[0].outcome == "rejected"
    assert "less than" in outcome.rungs[0].reason


def test_a_plan_that_makes_things_larger_is_rejected():
    outcome = run(make_view(), Budget.of_tokens(900), Rung(Rewriting(8_000), 0.0))
    assert [report.outcome for report in outcome.rungs] == ["rejected"]
    assert outcome.status == "failed"


def test_a_rung_waits_for_its_own_trigger():
    budget = Budget.of_window(2_000, output=0, margin=0)
    outcome = run(make_view(), budget, Rung(Rewriting(40), 0.9), Rung(Rewriting(400), 0.3))
    assert [report.outcome for report in outcome.rungs] == ["skipped", "applied"]


@pytest.mark.requirement("C8", "K12")
def test_a_compaction_that_cannot_fit_fails_and_changes_nothing():
    found = make_view()
    outcome = run(found, Budget.of_tokens(10), Rung(Rewriting(40), 0.0))
    assert outcome.status == "failed"
    assert "10" in outcome.reason
    assert outcome.needed > 10
    assert (outcome.view, outcome.edits) == (found, ())


def test_a_compaction_that_frees_nothing_is_not_a_success():
    outcome = run(
        make_view(), Budget.of_window(1_300, output=0, margin=0), Rung(Rewriting(4_000), 0.1)
    )
    assert outcome.status == "unchanged"
    assert outcome.reason.startswith("nothing was made smaller")


def test_damage_is_repaired_first_and_reported():
    broken = view(U("task"), A(c("1")), U("go on"), A("r" * 4_000), U("next"))
    outcome = run(broken, Budget.of_tokens(100), Rung(Rewriting(drops=(4,)), 0.0))
    assert outcome.status == "compacted"
    assert outcome.rungs[0].name == "repair"
    assert words(outcome.view.messages) == ["U:task", "A{1}", "T(1)", "U:go on", "U:next"]


def test_damage_by_a_rung_that_drops_messages_is_repaired():
    outcome = run(make_view(), Budget.of_tokens(100), Rung(Rewriting(drops=(2,)), 0.0))
    assert outcome.status == "compacted"
    assert words(outcome.view.messages) == ["U:task", "A{1}", "T(1)", "A:done", "U:next"]


def test_a_history_of_empty_messages_is_not_emptied():
    outcome = run(view(U(" "), A(" "), U("\n")), Budget.of_tokens(1), Rung(Rewriting(), 0.0))
    assert outcome.status == "unchanged"


def test_a_call_that_is_still_running_survives_every_rung():
    found = view(U("task"), A("x" * 4_000), A(c("9")))
    outcome = run(found, Budget.of_tokens(100), Rung(Rewriting(drops=(1,)), 0.0))
    assert words(outcome.view.messages) == ["U:task", "A{9}"]
