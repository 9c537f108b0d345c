"""The rung that applies a prepared memory: before the others, or not at all."""

import pytest

from foldline.core.asks import drive
from foldline.core.budget import Budget
from foldline.core.prepared import Prepared
from foldline.core.strategy import CompactionContext, Policy, Rung
from foldline.engine.compaction import compact_view
from foldline.engine.policies import policy
from foldline.strategies.window import Window
from foldline.summary.session_memory import SessionMemory, add_session_memory, select_summary_rung
from foldline.summary.summarize import Summarize
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Fold
from foldline.values.identity import identify
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.snapshot_mark import SNAPSHOT_HEADER
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

COUNTER = TokenCounter(EstimatedCounter("o200k"))
WORDS = "several words of filler " * 20


def make_message(number):
    role = "user" if number % 2 == 0 else "assistant"
    return Message(role, (Text(f"{number}: {WORDS}"),))


LOG = identify(make_message(number) for number in range(30))
SNAPSHOT = Message("user", (Text(f"{SNAPSHOT_HEADER}] told"),), id="f" * 32, origin="snapshot")
FOLD = Fold(tuple(message.id for message in LOG[1:18]), SNAPSHOT)
PREPARED = Prepared(LOG[:20], (FOLD,), "openai-chat", 20, 1.0, reason="prepared", fallback=True)


def propose(context, log=LOG):
    return drive(
        SessionMemory().propose(View.of(log, COUNTER, dialect="openai-chat"), context), None
    )


def context(target=500, **changes):
    return CompactionContext(target, 4_000, 4_000, {}, **changes)


@pytest.mark.requirement("K27")
def test_the_prepared_edits_are_proposed_unchanged():
    plan = propose(context(memory=PREPARED))
    assert plan.edits == (FOLD,)
    assert (plan.reason, plan.fallback) == ("prepared", True)


@pytest.mark.requirement("K27")
@pytest.mark.parametrize(
    ("given", "log", "words"),
    [
        ({}, LOG, "nothing is prepared"),
        ({"memory": PREPARED, "focus": "the build"}, LOG, "before the focus was set"),
        ({"memory": PREPARED}, LOG[2:], "has changed in the view"),
    ],
)
def test_an_invalid_memory_is_refused_with_a_reason(given, log, words):
    plan = propose(context(**given), log)
    assert plan.edits == ()
    assert words in plan.reason


@pytest.mark.requirement("K27", "C10")
def test_the_ladder_ends_with_the_memory_if_the_target_is_met_and_the_rest_stays_verbatim():
    view = View.of(LOG, COUNTER, dialect="openai-chat")
    budget = Budget(view.tokens + 1, view.tokens // 2, view.tokens + 1)
    told = CompactionContext(budget.target, budget.limit, budget.scale, {}, memory=PREPARED)
    outcome = drive(compact_view(view, budget, add_session_memory(policy("default")), told), None)

    assert outcome.status == "compacted"
    assert [report.name for report in outcome.rungs] == ["session memory"]
    assert outcome.view.messages == (LOG[0], SNAPSHOT, *LOG[18:])


@pytest.mark.requirement("K27")
def test_after_a_refused_memory_the_next_rung_runs():
    view = View.of(LOG[1:], COUNTER, dialect="openai-chat")
    budget = Budget(view.tokens + 1, view.tokens // 2, view.tokens + 1)
    told = CompactionContext(
        budget.target, budget.limit, budget.scale, {m.id: m.id for m in LOG}, memory=PREPARED
    )
    outcome = drive(compact_view(view, budget, add_session_memory(policy("default")), told), None)

    assert outcome.status == "compacted"
    assert outcome.rungs[0].outcome == "skipped"
    assert "summarize" in outcome.reason


def test_damage_after_the_memory_is_repaired_and_unread_results_stay():
    call = Message("assistant", (ToolCall("c1", "run", "{}"),))
    orphan = Message("tool", (ToolResult("gone", (Text("late"),), "run"),))
    result = Message("tool", (ToolResult("c1", (Text(f"unread {WORDS}"),), "run"),))
    log = identify([*LOG, orphan, call, result])
    view = View.of(log, COUNTER, dialect="openai-chat")
    budget = Budget(view.tokens + 1, view.tokens // 2, view.tokens + 1)
    told = CompactionContext(budget.target, budget.limit, budget.scale, {}, memory=PREPARED)
    outcome = drive(compact_view(view, budget, add_session_memory(policy("default")), told), None)

    assert [r.name for r in outcome.rungs if r.is_in_effect] == ["session memory", "repair"]
    assert outcome.view.messages[-1] == result
    assert all(message.role != "tool" for message in outcome.view.messages[:-1])


def test_the_memory_rung_is_first_due_with_the_summary_and_added_once():
    ladder = add_session_memory(policy("default", act_at=0.7))
    first = ladder.rungs[0]
    assert isinstance(first.strategy, SessionMemory)
    assert (first.trigger, first.early) == (0.7, True)
    assert add_session_memory(ladder) is ladder
    assert add_session_memory(policy("window")).rungs[0].trigger == 0.8


def test_a_hard_budget_skips_the_memory():
    view = View.of(LOG, COUNTER, dialect="openai-chat")
    budget = Budget.of_tokens(view.tokens // 2)
    names = {message.id: message.id[:6] for message in LOG}
    told = CompactionContext(budget.target, budget.limit, budget.scale, names, memory=PREPARED)
    outcome = drive(compact_view(view, budget, add_session_memory(policy("salient")), told), None)
    assert outcome.rungs[0].outcome == "skipped"
    assert "summarize" in outcome.reason


def test_preparing_uses_the_summary_of_the_policy_itself():
    mine = Summarize(most=0.1)
    own = Policy("own", (Rung(Window(), 0.5), Rung(mine, 0.8)))
    assert [rung.strategy for rung in select_summary_rung(own).rungs] == [mine]
    assert select_summary_rung(policy("window")).rungs[0].strategy == Summarize()
