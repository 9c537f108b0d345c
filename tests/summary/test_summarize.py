import pytest
from tests.neutral import A, S, T, U, c, view

import foldline
from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.snapshot.format import parse
from foldline.strategies.tail import Keep
from foldline.summary.summarize import Summarize
from foldline.values.edits import Fold
from foldline.values.handles import handles
from foldline.values.protect import is_snapshot


def make_view(steps=30):
    work = []
    for n in range(steps):
        text = "\n".join(f"{n}.{line} wrote build/part_{n}_{line}.o" for line in range(40))
        work += [A(f"Compiling module_{n}.", c(str(n))), T(str(n), text)]
    return view(S("s"), U("Build the project."), *work, A("All compiled."), U("Now link."))


def propose(found, target, strategy=None):
    context = CompactionContext(target, target, target, handles(found.messages))
    return drive((strategy or Summarize()).propose(found, context), lambda _: None)


def snapshot_of(found, target, strategy=None):
    after = found.after(propose(found, target, strategy).edits)
    return after, next(m for m in after.messages if is_snapshot(m))


@pytest.mark.parametrize("target", [1_000, 2_000, 5_000])
def test_a_snapshot_of_verbatim_lines_brings_a_history_to_its_target(target):
    found = make_view()
    after, snapshot = snapshot_of(found, target)
    assert after.tokens <= target
    everything = "\n".join(m.text + "".join(r.text for r in m.results) for m in found.messages)
    rows = parse(snapshot.text).rows
    assert len(rows) > 3
    assert {row.speaker for row in rows} <= {"agent", "call", "result"}
    quoted = [line for row in rows if row.speaker != "call" for line in row.text.split("\n")]
    assert all(line.strip("… ") in everything for line in quoted)


def test_every_handle_in_a_snapshot_names_a_folded_message():
    found = make_view()
    plan = propose(found, 2_000)
    (fold,) = [edit for edit in plan.edits if isinstance(edit, Fold)]
    known = {handles(found.messages)[number] for number in fold.messages}
    _, snapshot = snapshot_of(found, 2_000)
    named = {row.handle for row in parse(snapshot.text).rows if row.handle}
    assert named
    assert named <= known


def test_a_second_snapshot_includes_the_first():
    once, first = snapshot_of(make_view(), 2_000)
    twice, second = snapshot_of(once, 600)
    assert [is_snapshot(m) for m in twice.messages].count(True) == 1
    assert parse(second.text).messages >= parse(first.text).messages > 0
    lines = {line for row in parse(first.text).rows for line in row.text.split("\n")}
    kept = [line for row in parse(second.text).rows for line in row.text.split("\n")]
    assert kept
    assert lines.intersection(kept)


@pytest.mark.requirement("J5")
def test_the_tail_stays_verbatim():
    found = make_view()
    after, _ = snapshot_of(found, 3_000, Summarize(Keep("groups", 3)))
    assert all(message in found.messages for message in after.messages[-4:])


def test_messages_smaller_than_their_snapshot_are_not_folded():
    found = view(U("t"), A("a"), A("b"), U("u"))
    plan = propose(found, 10)
    assert not any(isinstance(edit, Fold) and edit.messages for edit in plan.edits)


@pytest.mark.parametrize("last", [U("Now link."), A("All compiled.")])
def test_the_view_ends_the_way_the_history_ended(last):
    found = view(*make_view().messages[:-2], A("Nearly."), last)
    for target in (400, 1_000, 3_000):
        after, _ = snapshot_of(found, target)
        assert after.messages[-1] == found.messages[-1]


def test_a_call_that_is_running_ends_the_view_as_it_ended_the_history():
    found = view(*make_view().messages, A("I link.", c("last")))
    after, _ = snapshot_of(found, 1_000)
    assert after.messages[-1] == found.messages[-1]


@pytest.mark.parametrize("lines", [40, 60, 80])
def test_room_that_a_snapshot_leaves_goes_to_recent_steps_until_it_is_used(lines):
    same = "\n".join(f"{line} job status=ok" for line in range(lines))
    call = {"type": "function", "function": {"name": "poll", "arguments": "{}"}}
    steps = [
        message
        for number in range(40)
        for message in (
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", **call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": same},
        )
    ]
    watched = {"role": "user", "content": "Watch the queue."}
    wire = [watched, *steps, {"role": "assistant", "content": "All is well."}]
    budget = foldline.count(wire) // 10
    done = foldline.compact(wire, budget=budget)
    assert foldline.count(done.messages) >= 0.95 * budget
    calls = [call["id"] for message in done.messages for call in message.get("tool_calls", ())]
    assert calls == [f"c{number}" for number in range(40 - len(calls), 40)]
