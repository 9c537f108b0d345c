"""Compactions that fired for ever, freed nothing, or rewrote the prompt cache on every turn."""

import json

import pytest
from tests.neutral import A, T, U, c, log

import foldline
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing import check_run
from foldline.testing.wires import wire
from foldline.tokens.estimate import EstimatedCounter

COUNTER = EstimatedCounter("o200k")


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def opened(window=8_000, **rest):
    return Session.open(
        None,
        "s",
        store=MemoryStore(),
        window=window,
        counter=COUNTER,
        format="openai-chat",
        **{"clock": Clock(), **rest},
    )


def step(session, number, size=300):
    call = {"name": "run", "arguments": json.dumps({"n": number})}
    session.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
        }
    )
    text = f"result {number}: " + "word " * size
    session.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})


def rewrites(session, count, size=300):
    """Append steps and count how often the view is not an extension of the one before."""
    changed, before = 0, session.view()
    for number in range(count):
        step(session, number, size)
        after = session.view()
        changed += after[: len(before)] != before
        before = after
    return changed


@pytest.mark.requirement("F57")
def test_one_tool_loop_over_the_whole_view_causes_no_endless_compaction():
    session = opened(4_000)
    session.append({"role": "user", "content": "task " * 3_000})
    session.view()
    attempts = len(session.receipts)
    for number in range(5):
        session.append({"role": "assistant", "content": f"tiny {number}"})
        session.view()
    assert len(session.receipts) <= attempts + 1


@pytest.mark.requirement("F61")
def test_a_fixed_overhead_near_the_trigger_does_not_thrash():
    tools = [{"type": "function", "function": {"name": "t", "description": "word " * 5_000}}]
    session = opened(8_000, tools=tools)
    session.append({"role": "user", "content": "task"})
    assert rewrites(session, 40, 60) <= 12


@pytest.mark.requirement("F63", "J1")
def test_clearing_happens_in_batches_rather_than_on_every_turn():
    session = opened(8_000)
    session.append({"role": "user", "content": "task"})
    assert rewrites(session, 60) <= 20


@pytest.mark.requirement("F65", "K2")
def test_results_shorter_than_their_placeholder_are_not_touched():
    steps = [m for n in range(8) for m in (A(c(str(n))), T(str(n), "ok"))]
    value = wire(log(U("t " * 2_000), *steps, A("x"), U("u")), "openai-chat")
    result = check_run(value, policy="clear", budget=900, counter=COUNTER)
    assert sum(m.get("content") == "ok" for m in result.messages) in (0, 8)


@pytest.mark.requirement("F66")
def test_a_parallel_batch_that_was_not_read_is_present_as_a_whole():
    calls = [c(str(n)) for n in range(5)]
    results = [T(str(n), f"value_{n} " * 1_000) for n in range(5)]
    value = wire(log(U("t"), A(*calls), *results), "openai-chat")
    result = check_run(value, policy="clear", budget=2_000, counter=COUNTER)
    assert result.receipt.status == "compacted"
    told = [m["content"] for m in result.messages if m["role"] == "tool"]
    assert all(f"value_{n}" in text for n, text in enumerate(told))


@pytest.mark.requirement("F67")
def test_interleaved_results_are_cleared_too():
    value = wire(
        log(U("t"), A(c("1")), A(c("2")), T("1", "a " * 900), T("2", "b " * 900), A("x"), U("u")),
        "anthropic",
    )
    result = foldline.compact(
        value, policy=foldline.policy("clear", keep=0), window=2_000, counter=COUNTER
    )
    assert json.dumps(result.messages).count("[Cleared: ") == 2


@pytest.mark.requirement("F69")
def test_many_tiny_messages_do_not_trigger_a_compaction():
    session = opened(100_000)
    session.extend([{"role": "user", "content": f"event {n}"} for n in range(300)])
    assert len(session.view()) == 300
    assert session.receipts == ()


@pytest.mark.requirement("F71", "F99")
def test_a_read_whose_result_was_cleared_can_be_read_again_or_recalled():
    steps = [
        m
        for n in range(9)
        for m in (A(c(str(n), "read", '{"path": "a.py"}')), T(str(n), f"v{n} " * 400, "read"))
    ]
    value = wire(log(U("t"), *steps, A("x"), U("u")), "openai-chat")
    result = check_run(value, window=5_000, counter=COUNTER)
    assert "v8 v8 v8" in json.dumps(result.messages)
    assert any("v0 v0" in result.recall(handle).text for handle in result.receipt.recall)


@pytest.mark.requirement("F41", "F73")
def test_a_cleared_result_is_summarised_from_its_original():
    session = opened(6_000, policy="default")
    session.append({"role": "user", "content": "task"})
    for number in range(60):
        step(session, number, 120)
        session.view()
    everything = json.dumps(session.view())
    assert "[Cleared: " not in everything.split("## What happened")[-1].split("\\n\\n")[0]
    handles = {h for receipt in session.receipts for h in receipt.recall}
    texts = [session.recall(handle).text for handle in handles]
    assert any(text.startswith("result 0: word") for text in texts)
