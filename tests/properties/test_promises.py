"""Every promise, for every policy and every wire, over generated histories and budgets."""

import json
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foldline.api import compact, compact_transcript, count
from foldline.archive import Archive
from foldline.core.budget import Budget
from foldline.engine.policies import POLICIES, policy
from foldline.errors import FoldlineError
from foldline.formats.registry import DIALECTS
from foldline.repair.repair import repair
from foldline.stores.memory import MemoryStore
from foldline.testing import check_run
from foldline.testing.checks import budget_of
from foldline.testing.histories import budgets, conversations, histories
from foldline.testing.promises import (
    check_accepted,
    check_atomic,
    check_lossless,
    check_pair,
    check_prefix,
    check_task,
    check_unread,
)
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Drop, Insert, apply
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

COUNTER = EstimatedCounter("o200k")
policies = st.sampled_from(sorted(POLICIES))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.data(), budgets(), policies)
def test_a_damaged_history_keeps_every_promise(dialect, data, budget, name):
    _, wire = data.draw(conversations(dialect, giants=False, most=8))
    limit = budget_of(wire, dialect, budget, COUNTER)
    check_run(wire, format=dialect, policy=name, budget=limit, counter=COUNTER)


@given(conversations(giants=True, most=5), budgets(), policies)
@pytest.mark.requirement("C8", "K18", "K26")
def test_giant_items_keep_every_promise(conversation, budget, name):
    dialect, wire = conversation
    limit = budget_of(wire, dialect, budget, COUNTER)
    check_run(wire, format=dialect, policy=name, budget=limit, counter=COUNTER)


@given(conversations(damaged=False, giants=False, most=8))
def test_messages_that_the_provider_accepts_are_not_rewritten_or_moved(conversation):
    dialect, wire = conversation
    assume(not DIALECTS[dialect].validate(wire))
    # Blank messages are removed and a user comes first, even if a provider does not require it.
    edits = repair(DIALECTS[dialect].decode(wire).messages, dialect)
    assert all(isinstance(edit, (Drop, Insert)) for edit in edits), edits


@given(conversations(giants=False, most=8))
def test_a_repaired_history_is_accepted_and_not_repaired_again(conversation):
    dialect, wire = conversation
    transcript = DIALECTS[dialect].decode(wire)
    mended = apply(transcript.messages, repair(transcript.messages, dialect))
    assume(mended)
    assert repair(mended, dialect) == ()
    check_accepted(transcript.with_messages(mended), dialect)


@given(conversations(giants=False), st.floats(0.2, 1.5), policies)
@pytest.mark.requirement("K4")
def test_a_window_keeps_every_promise(conversation, share, name):
    dialect, wire = conversation
    window = max(400, int(count(wire, format=dialect, counter=COUNTER) / share))
    overhead = DIALECTS[dialect].decode(wire)
    assume(len(overhead.system) < window)
    check_run(wire, format=dialect, policy=name, window=window, counter=COUNTER)


@given(histories(giants=False), budgets(), policies)
def test_neutral_messages_without_a_wire_keep_the_promises(messages, budget, name):
    transcript = Transcript.of(messages, "openai-chat")
    counter = TokenCounter(COUNTER)
    limit = budget
    if isinstance(budget, float):
        limit = max(1, round(budget * counter.messages(messages)))
    result = compact_transcript(transcript, counter, Budget.of_tokens(limit), policy(name))
    check_pair(result)
    check_task(result)
    check_unread(result)
    check_prefix(result, None)
    check_lossless(result)
    if result.receipt.status == "compacted":
        for target in DIALECTS:
            wire = DIALECTS[target].encode(result.shown)
            assert DIALECTS[target].decode(wire).messages


@given(conversations(giants=False, most=6), st.sampled_from((0.3, 0.6)))
def test_everything_removed_is_recalled_from_an_archive(conversation, share):
    dialect, wire = conversation
    limit = budget_of(wire, dialect, share, COUNTER)
    result = compact(wire, format=dialect, budget=limit, counter=COUNTER)
    assume(result.receipt.status == "compacted")
    archive = Archive(MemoryStore())
    name = archive.save("a", result.transcript, result.receipt)
    check_lossless(result, lambda handle: archive.recall(handle, session=name))


@given(conversations(giants=False, most=6), policies)
@pytest.mark.requirement("C21", "K32")
def test_pinned_messages_stay(conversation, name):
    dialect, wire = conversation
    limit = budget_of(wire, dialect, 0.5, COUNTER)
    result = compact(
        wire, format=dialect, budget=limit, policy=name, counter=COUNTER, pins=[0, -1]
    )
    check_task(result)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "parts", "tool_calls", "text", "id"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_value_is_refused_with_an_error_and_never_changed(value):
    def act():
        with suppress(FoldlineError):
            compact(value, budget=10, counter=COUNTER)

    check_atomic(lambda: value, act)
    act()


def test_the_same_history_is_compacted_to_the_same_bytes():
    wire = [{"role": "user", "content": f"line {n} of src/app_{n}.py"} for n in range(300)]
    first, second = (compact(wire, budget=900, counter=COUNTER) for _ in range(2))
    assert json.dumps(first.messages) == json.dumps(second.messages)
    assert first.receipt == second.receipt
