import asyncio

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from tests.neutral import A, S, T, U, c, view

import foldline
from foldline.errors import InputError, RecallError
from foldline.formats.registry import DIALECTS
from foldline.session import Session
from foldline.snapshot.format import header
from foldline.stores.memory import MemoryStore
from foldline.summary.span import Span, plan_span
from foldline.testing.histories import conversations
from foldline.testing.promises import check_lossless, check_pair, check_valid
from foldline.testing.retention import check_task, check_unread
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.snapshot_mark import seal_text, split_snapshot

COUNTER = EstimatedCounter("o200k")
HEAD = header(12, 9_000, "ab" * 16)


def history(steps=20):
    messages = [{"role": "user", "content": "Build it."}]
    for n in range(steps):
        call = {"name": "compile", "arguments": f'{{"path": "src/module_{n}.c"}}'}
        calls = [{"id": f"c{n}", "type": "function", "function": call}]
        lines = "\n".join(f"{n}.{line} wrote build/part_{n}_{line}.o" for line in range(30))
        messages += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}", "content": lines},
        ]
    return [
        *messages,
        {"role": "assistant", "content": "Built."},
        {"role": "user", "content": "Link."},
    ]


def groups(found, **ends):
    ids = {end: found.messages[index].id for end, index in ends.items()}
    return [g.members for g in Span(**ids).groups(found)]


FOUND = (S("s"), U("t"), A(c("1")), T("1"), A("a"), A(c("2")), T("2"), A("b"), U("n"))


@pytest.mark.requirement("K17")
@pytest.mark.parametrize(
    ("ends", "folded"),
    [
        ({"up_to": 4}, [(2, 3), (4,)]),
        ({"up_to": 2}, []),
        ({"up_to": 5}, [(2, 3), (4,)]),
        ({"up_to": 0}, []),
        ({"up_to": 8}, [(2, 3), (4,), (5, 6), (7,)]),
        ({"start": 6}, [(7,)]),
        ({"start": 4}, [(4,), (5, 6), (7,)]),
        ({"start": 8}, []),
        ({"start": 3, "up_to": 5}, [(4,)]),
        ({"start": 2, "up_to": 6}, [(2, 3), (4,), (5, 6)]),
    ],
)
def test_a_span_includes_whole_groups_and_leaves_messages_that_must_stay(ends, folded):
    assert groups(view(*FOUND), **ends) == folded


@pytest.mark.requirement("K17")
def test_a_span_is_checked():
    found = view(*FOUND)
    with pytest.raises(InputError, match="a start or an end"):
        Span()
    with pytest.raises(RecallError, match="is not in view"):
        plan_span(found, Span(up_to="feedfeed"))
    with pytest.raises(InputError, match="ends before it"):
        plan_span(found, Span(start=found.messages[5].id, up_to=found.messages[2].id))
    with pytest.raises(InputError, match="Nothing in the span"):
        plan_span(found, Span(up_to=found.messages[1].id))


@pytest.mark.requirement("K17")
def test_the_old_part_is_folded_and_the_new_part_is_the_same():
    messages = history()
    result = foldline.compact(messages, up_to=20)
    assert result.receipt.status == "compacted"
    assert result.messages[0] == messages[0]
    assert result.messages[1]["content"].startswith("[Snapshot")
    assert result.messages[2:] == messages[21:]


@pytest.mark.requirement("K17")
def test_the_new_part_is_folded_and_the_old_part_is_the_same():
    messages = history()
    result = foldline.compact(messages, start=21)
    assert result.messages[:21] == messages[:21]
    assert result.messages[-1] == messages[-1]
    assert len(result.messages) == 23
    assert result.receipt.kept_prefix == 21


@pytest.mark.parametrize("ends", [{"up_to": 99}, {"start": -99}, {"up_to": "feedfeed"}])
@pytest.mark.requirement("K17")
def test_a_position_out_of_range_is_an_error(ends):
    with pytest.raises(InputError, match="There is no message"):
        foldline.compact(history(), **ends)


def test_a_budget_holds_for_a_span_too():
    whole = foldline.count(history())
    result = foldline.compact(history(), up_to=-3, budget=whole // 4)
    assert result.receipt.tokens_after <= whole // 4
    assert foldline.compact(history(), up_to=4, budget=100).receipt.status == "failed"


def test_a_snapshot_beside_a_span_is_still_one_when_a_budget_shortens_it():
    lines = "\n".join(f"1f0c{n:02x} step {n} of build_{n}.log" for n in range(250))
    snapshot = {"role": "user", "content": seal_text(f"{HEAD}\n## What happened\n{lines}")}
    messages = [history()[0], snapshot, *history()[1:]]
    result = foldline.compact(messages, start=2, budget=foldline.count([snapshot]) // 2)
    assert result.receipt.status == "compacted"
    assert result.messages[1] != snapshot
    assert result.messages[1]["content"].startswith(HEAD[:160])
    assert split_snapshot(result.messages[1]["content"])[0]


@pytest.mark.requirement("K19")
def test_a_model_and_a_focus_work_on_a_span():
    asked = []

    def model(ask):
        asked.append(ask)
        return "Compiled src/module_1.c."

    result = foldline.compact(history(), up_to=20, summarizer=model, focus="module_3")
    assert "module_3" in asked[0].prompt
    assert "Compiled src/module_1.c." in result.messages[1]["content"]


@pytest.mark.requirement("K17")
@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_any_span_of_any_history_keeps_the_promises(dialect, data):
    _, wire = data.draw(conversations(dialect, damaged=False, giants=False, most=8))
    transcript = DIALECTS[dialect].decode(wire)
    last = len(transcript.messages) - 1
    ends = data.draw(st.sampled_from([("start",), ("up_to",), ("start", "up_to")]))
    spots = sorted(data.draw(st.integers(0, last)) for _ in ends)
    span = dict(zip(ends, spots, strict=True))
    try:
        result = foldline.compact(wire, format=dialect, counter=COUNTER, **span)
    except InputError:
        reject()
    check_valid(result, wire)
    check_pair(result)
    check_task(result)
    check_unread(result)
    check_lossless(result)
    assert result.receipt.tokens_after <= result.receipt.tokens_before


# --- in a session -------------------------------------------------------------------------


def opened(**rest):
    return Session.open(None, "s", store=MemoryStore(), window=100_000, counter=COUNTER, **rest)


@pytest.mark.requirement("K17")
def test_a_session_folds_up_to_a_message_by_handle_and_undoes_it():
    with opened() as session:
        ids = session.extend(history())
        before = session.view()
        receipt = session.compact(up_to=ids[20][:8])
        after = session.view()
        assert receipt.status == "compacted"
        assert after[2:] == before[21:]
        assert session.recall(ids[2]).text.startswith("0.0 wrote")
        session.undo()
        assert session.view() == before


@pytest.mark.requirement("K17")
def test_a_session_folds_from_a_message_on():
    with opened() as session:
        ids = session.extend(history())
        before = session.view()
        assert asyncio.run(session.acompact(start=ids[21])).status == "compacted"
        assert session.view()[:21] == before[:21]


@pytest.mark.requirement("K17")
def test_a_session_refuses_unknown_or_folded_messages_and_changes_nothing():
    with opened() as session:
        ids = session.extend(history())
        session.compact(up_to=ids[20])
        before = session.view()
        for wrong, error in (
            ("feedfeed", RecallError),
            (ids[4], RecallError),
            (ids[0], InputError),
        ):
            with pytest.raises(error):
                session.compact(up_to=wrong)
        assert session.view() == before


def test_a_snapshot_in_the_span_is_folded_again():
    with opened() as session:
        ids = session.extend(history())
        session.compact(up_to=ids[10])
        session.compact(up_to=ids[30])
        snapshots = [m for m in session.view() if "[Snapshot" in str(m["content"])]
        assert len(snapshots) == 1
        assert "from 30 folded messages" in snapshots[0]["content"]
