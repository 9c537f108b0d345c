"""Histories after which a provider answered 400; the docstrings name the rows of the evidence."""

import json

import pytest
from tests.neutral import COUNTER as QUARTERS
from tests.neutral import A, S, T, U, c, log, words

import foldline
from foldline.core.asks import drive
from foldline.core.budget import Budget
from foldline.core.strategy import CompactionContext, Policy, Rung
from foldline.engine.compaction import compact_view
from foldline.engine.policies import POLICIES, policy
from foldline.formats.registry import DIALECTS
from foldline.repair.repair import NO_RESULT, repair
from foldline.strategies.clear import Clear
from foldline.strategies.window import Window
from foldline.testing import check_run
from foldline.testing.wires import wire
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Insert, apply
from foldline.values.groups import pair
from foldline.values.handles import handles
from foldline.values.messages import Message, Omitted, Text, Thinking, ToolCall, ToolResult
from foldline.values.view import View

COUNTER = EstimatedCounter("o200k")
LONG = "word " * 400


def kept(messages, keep, dialect="openai-chat"):
    """Return the messages left when all but the newest ``keep`` groups may be dropped."""
    shown = log(*messages)
    found = View.of(shown, QUARTERS, dialect=dialect)
    context = CompactionContext(1, 10**6, 10**6, handles(shown))
    budget = Budget.of_window(found.tokens + 1, output=0, margin=0)
    window = Policy("window", (Rung(Window(keep), 0.0),))
    return drive(compact_view(found, budget, window, context), lambda _: None).view.messages


def is_paired(messages):
    pairing = pair(messages)
    answered = {
        messages[r.message].id: messages[call.message].id for call, r in pairing.answers.items()
    }
    return not pairing.orphans and len(answered) == sum(len(m.results) for m in messages)


def sweep(messages, share=0.3):
    """Compact on every wire by every policy, checking every promise, and return the outcomes."""
    statuses = set[str]()
    for name in DIALECTS:
        value = wire(log(*messages), name)
        limit = max(1, int(share * foldline.count(value, format=name, counter=COUNTER)))
        for known in POLICIES:
            found = check_run(value, format=name, policy=known, budget=limit, counter=COUNTER)
            statuses.add(found.receipt.status)
    return statuses


@pytest.mark.parametrize("keep", [1, 2, 3, 4])
@pytest.mark.requirement("K38", "F01")
def test_interleaved_calls_are_not_split_by_the_cut(keep):
    history = (U("task"), *[A("a")] * 4, A(c("1")), A(c("2")), T("1"), T("2"), A("done"))
    assert is_paired(kept(history, keep))
    turn = words(kept(history, keep, "anthropic"))
    assert ("A{1}" in turn) == ("A{2}" in turn) == ("T(1)" in turn) == ("T(2)" in turn)


@pytest.mark.parametrize("keep", range(1, 6))
@pytest.mark.requirement("F02")
def test_no_cut_leaves_orphaned_results_of_parallel_calls(keep):
    history = (U("t"), A(c("1"), c("2"), c("3")), *(T(n) for n in "123"), U("a"), A("b"), U("u"))
    assert is_paired(kept(history, keep))


@pytest.mark.requirement("F03")
def test_two_parallel_results_stay_on_one_side_of_a_cut():
    parallel = [A(c("1"), c("2")), T("1", "x" * 400), T("2", "y" * 40)]
    assert "compacted" in sweep([U("w" * 40), *parallel, A("ok"), U("n")])
    after = kept([U("w"), A(c("1"), c("2")), T("1", "x"), T("2", "y"), A("ok"), U("n")], 2)
    assert words(after) == ["U:w", "A{1,2}", "T(1)", "T(2)", "A:ok", "U:n"]


@pytest.mark.parametrize("keep", [1, 2, 3])
@pytest.mark.requirement("F05")
def test_a_call_and_its_distant_result_stay_together(keep):
    history = (U("1"), A(c("1")), U("2"), A("thinking aloud"), T("1"), A("done"), U("3"))
    after = words(kept(history, keep))
    assert ("A{1}" in after) == ("T(1)" in after)


@pytest.mark.requirement("F06")
def test_a_short_history_of_one_step_never_becomes_results_without_a_user():
    after = kept([U("t"), A(c("1"), c("2")), T("1"), T("2"), A("z")], 1)
    assert words(after)[0] == "U:t"
    assert is_paired(after)


@pytest.mark.requirement("G2", "F07")
def test_a_history_with_half_of_a_pair_dropped_is_repaired_and_both_are_reported():
    steps = [m for n in range(5) for m in (A(c(str(n))), T(str(n), f"result {n}"))]
    history = log(*[U("t"), *steps][-4:], A(c("x")), U("u"))
    del_call = log(T("3", "result 3"), *history[1:])
    edits = repair(del_call, "openai-chat")
    after = apply(del_call, edits)
    assert "result 3" in after[0].text
    assert [r.text for m in after for r in m.results][-1] == NO_RESULT
    assert len(edits) >= 2


@pytest.mark.requirement("F09")
def test_a_dead_call_does_not_block_compaction_forever():
    runs = [m for n in range(2, 20) for m in (U(f"run {n}"), A(c(str(n))), T(str(n), LONG))]
    after = kept([U("run 1"), A(c("1")), *runs, A("done"), U("run 20"), A(c("20"))], 2)
    assert "T(5)" not in words(after)
    assert words(after)[-1] == "A{20}"


@pytest.mark.requirement("F10")
def test_a_pending_confirmation_stays_when_it_is_pinned_until_it_is_resolved():
    side = [m for n in range(50) for m in (U(f"side {n}"), A(f"answer {n}"))]
    history = [
        U("pay"),
        A(c("1", "transfer")),
        T("1", "pending_confirmation", "transfer"),
        *side,
    ]
    value = wire(log(*history), "openai-chat")
    result = foldline.compact(value, budget=400, pins=[2], counter=COUNTER)
    assert result.receipt.status == "compacted"
    assert value[1] in result.messages
    assert value[2] in result.messages


@pytest.mark.requirement("F11")
def test_a_late_second_result_is_kept_and_never_stands_without_its_call():
    history = [
        *(U("t"), A(c("1")), T("1", "started job 7"), A("ok")),
        *(m for n in range(6) for m in (U(LONG), A(f"answer {n}"))),
        T("1", "finished: 42 rows"),
    ]
    value = wire(log(*history), "openai-chat")
    result = check_run(value, budget=600, counter=COUNTER)
    assert "finished: 42 rows" in json.dumps(result.messages)


@pytest.mark.requirement("F13")
def test_an_orphan_as_the_first_event_leaves_the_conversation_usable():
    steps = [m for _ in range(6) for m in (U(LONG), A("ok"))]
    assert "compacted" in sweep([T("zz", "x " * 50), *steps, U("u")], 0.5)


@pytest.mark.requirement("F14")
def test_a_call_that_runs_beside_a_finished_one_does_not_become_no_result():
    after = kept([U("t"), A(c("1")), A(c("2")), T("2")], 1)
    assert NO_RESULT not in [r.text for m in after for r in m.results]
    assert "A{1}" in words(after)


@pytest.mark.parametrize("keep", range(1, 9))
@pytest.mark.requirement("F15")
def test_the_first_message_after_a_summary_is_never_a_result(keep):
    history = [U("t"), *(m for n in range(4) for m in (A(c(str(n))), T(str(n)))), A("x"), U("u")]
    after = kept(history, keep)
    assert not after[1].results


@pytest.mark.requirement("F17")
def test_gemini_accepts_the_messages_after_a_summary():
    steps = [m for n in range(12) for m in (A(c(str(n))), T(str(n), LONG))]
    value = wire(log(U("t"), *steps, A("x"), U("u")), "gemini")
    result = check_run(value, budget=1_500, counter=COUNTER)
    assert result.receipt.status == "compacted"
    assert DIALECTS["gemini"].validate(result.messages) == []


def signed_turn(number):
    first = ToolCall(f"{number}a", "run", json.dumps({"text": LONG}), signed=True)
    return [
        Message("assistant", (Thinking("hm", signed=True), first, c(f"{number}b", "run"))),
        T(f"{number}a", LONG),
        T(f"{number}b", LONG),
    ]


@pytest.mark.requirement("F18")
def test_a_signature_stays_on_the_first_of_parallel_calls_all_or_nothing():
    value = wire(log(U("t"), *signed_turn(1), *signed_turn(2), A("x"), U("u")), "gemini")
    signed = {json.dumps(p) for m in value for p in m["parts"] if "thoughtSignature" in p}
    for share in (0.2, 0.4, 0.6, 0.8):
        limit = int(share * foldline.count(value, counter=COUNTER))
        for name in POLICIES:
            result = check_run(value, policy=name, budget=limit, counter=COUNTER)
            for content in result.messages:
                calls = [part for part in content["parts"] if "functionCall" in part]
                if calls and result.receipt.status == "compacted":
                    assert json.dumps(calls[0]) in signed
                    assert len(calls) == 2


@pytest.mark.requirement("F19")
def test_signed_reasoning_stays_with_its_loop_or_is_removed_whole():
    value = wire(
        log(U("t"), *(m for n in range(8) for m in (A(LONG), U("go on"))), *signed_turn(9)),
        "anthropic",
    )
    result = check_run(value, budget=2_500, counter=COUNTER)
    assert result.receipt.status == "compacted"
    blocks = [b for m in result.messages if isinstance(m["content"], list) for b in m["content"]]
    assert [b for b in blocks if b["type"] == "thinking"] == value[-3]["content"][:1]


@pytest.mark.requirement("F21")
def test_an_assistant_item_does_not_keep_an_id_whose_reasoning_is_gone():
    thinking = Message("assistant", (Thinking("hm", signed=True), Text("a " * 50)))
    history = [U("t"), thinking, *(m for _ in range(4) for m in (U("x"), A(LONG))), U("u")]
    value = wire(log(*history), "openai-responses")
    result = check_run(value, policy="default", budget=1_500, counter=COUNTER)
    ids = {item.get("id") for item in result.messages}
    assert value[1]["id"] in ids or value[2]["id"] not in ids


@pytest.mark.requirement("F22")
def test_both_representations_of_a_call_change_together():
    block = {"type": "tool_use", "id": "1", "name": "write", "input": {"text": LONG * 20}}
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    value = [
        {"type": "human", "content": "t"},
        {
            "type": "ai",
            "content": [server, block],
            "tool_calls": [{"name": "write", "args": block["input"], "id": "1"}],
        },
        {"type": "tool", "content": "ok", "tool_call_id": "1", "name": "write"},
    ]
    result = check_run(value, budget=1_000, counter=COUNTER)
    assert result.receipt.status == "compacted"
    ai = result.messages[1]
    assert ai["tool_calls"][0]["args"] == ai["content"][1]["input"] != block["input"]
    assert ai["content"][0] is server


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.requirement("F23")
def test_ids_stay_unique_after_another_compaction(name):
    steps = [m for n in range(20) for m in (A(c(str(n))), T(str(n), LONG))]
    value = wire(log(S("s"), U("t"), *steps, A("x"), U("u")), name)
    tokens = foldline.count(value, format=name, counter=COUNTER)
    for share in (0.6, 0.4, 0.2):
        result = check_run(value, format=name, budget=int(share * tokens), counter=COUNTER)
        value = json.loads(json.dumps(result.messages))
        ids = [m.id for m in DIALECTS[name].decode(value).messages]
        assert len(set(ids)) == len(ids)
    assert json.dumps(value, ensure_ascii=False).count('"t"') == 1


def test_clearing_arguments_and_results_of_a_mixed_message_keeps_user_text():
    """O-10, R-12."""
    mixed = Message(
        "user",
        (ToolResult("1", (Text(LONG),), "run"), Text("and then?")),
    )
    shown = log(U("t"), A(c("1")), mixed, A("x"), U("u"))
    found = View.of(shown, QUARTERS, dialect="anthropic")
    context = CompactionContext(1, 10**6, 10**6, handles(shown))
    plan = drive(Clear(keep=0).propose(found, context), lambda _: None)
    assert found.after(plan.edits).messages[2].parts[1] == Text("and then?")


@pytest.mark.requirement("F07")
def test_a_repair_is_only_in_view_and_never_in_the_log():
    shown = log(U("t"), A(c("1")), U("u"))
    before = tuple(shown)
    (edit,) = repair(shown, "openai-chat")
    assert isinstance(edit, Insert)
    assert shown == before
    assert all(not isinstance(part, Omitted) for m in shown for part in m.parts)
    assert policy("default").rungs
