"""The methods that are compared keep within a budget, and ours is checked while it is measured."""

from __future__ import annotations

import dataclasses

import pytest
from tests.evaluation.sample import transcript

from foldline.api import compact_transcript
from foldline.core.budget import Budget
from foldline.engine.policies import policy
from foldline.evaluation.methods import CLEARED, broken_promise, clearing, policy_method, trimming
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.messages import Message, Text
from foldline.values.tokens import TokenCounter

THERE = transcript()
COUNTER = TokenCounter(EstimatedCounter())
WHOLE = COUNTER.messages(THERE.messages)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("method", [trimming(), clearing(), policy_method(policy("default"))])
def test_every_method_uses_about_its_budget(method, share):
    made = method.make(THERE, COUNTER, int(WHOLE * share))
    assert made.text
    assert made.problem == made.broken == ""
    assert COUNTER.text(made.text) <= WHOLE * min(share, 1.2) * 1.15 + 20


def test_trimming_keeps_the_end_and_clearing_the_calls():
    trimmed = trimming().make(THERE, COUNTER, WHOLE // 10).text
    cleared = clearing().make(THERE, COUNTER, WHOLE // 4).text
    assert trimmed.endswith("[assistant] Done.")
    assert "file_0.py" not in trimmed
    assert "file_0.py" in cleared
    assert CLEARED in cleared
    assert "LIMIT_59 = " in cleared


def test_one_message_that_is_too_large_leaves_its_end():
    large = Message("user", (Text("word " * 2_000 + "the end"),), id="1")
    made = trimming().make(THERE.with_messages([large]), COUNTER, 40)
    assert made.text.endswith("the end")
    assert len(made.text) < 400


def test_an_empty_history_gives_an_empty_text():
    for method in (trimming(), clearing()):
        assert method.make(THERE.with_messages([]), COUNTER, 100).text == ""


def test_a_policy_that_cannot_fit_keeps_nothing_and_gives_the_reason():
    pinned = THERE.pin(range(len(THERE.messages)))
    made = policy_method(policy("window")).make(pinned, COUNTER, 40)
    assert made.text == ""
    assert made.problem


def test_a_broken_promise_is_named():
    result = compact_transcript(THERE, COUNTER, Budget.of_tokens(WHOLE // 10), policy("default"))
    assert broken_promise(result, COUNTER) == ""
    worse = dataclasses.replace(
        result, receipt=dataclasses.replace(result.receipt, tokens_after=result.receipt.budget + 1)
    )
    assert broken_promise(worse, COUNTER).startswith("SHRINK: ")
