import asyncio
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import pairwise

import pytest

from foldline.core.asks import Ask, Reply
from foldline.core.strategy import Plan, Policy, Rung
from foldline.errors import FoldlineError, InputError, RecallError, StoreError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.session import Session
from foldline.session.codec import OBJECT, decode_stored, freeze, thaw
from foldline.stores.memory import MemoryStore
from foldline.strategies.window import Window
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Drop, Fold, Rewrite, apply
from foldline.values.identity import derived_id, identify
from foldline.values.messages import Message, Text, Usage
from foldline.values.snapshot_mark import SNAPSHOT_HEADER
from foldline.values.tokens import TokenCounter

WINDOW = Policy("window", (Rung(Window(), 0.8),))
FILLER = "several words of filler " * 20


class Asking:
    """A strategy that folds groups into the answer of a model; without one it proposes nothing."""

    name = "asking"

    def propose(self, view, _need):
        reply = yield Ask("What happened?", 100)
        groups = view.foldable()
        if reply.error or not groups:
            return Plan(reason=reply.error or "nothing to fold")
        gone = tuple(view.messages[index].id for group in groups for index in group.members)
        text = Text(f"{SNAPSHOT_HEADER}] {reply.text}")
        snapshot = Message("user", (text,), id=derived_id(*gone), origin="summarize")
        return Plan((Fold(gone, snapshot),))


class Useless:
    """A strategy that counts its calls, and never proposes anything."""

    name = "useless"

    def __init__(self):
        self.tries = 0

    def propose(self, _view, _need):
        yield from ()
        self.tries += 1
        return Plan(reason="no idea")


class Seeing:
    """A strategy that records the contexts it receives."""

    name = "seeing"

    def __init__(self):
        self.needs = []

    def propose(self, _view, need):
        yield from ()
        self.needs.append(need)
        return Plan(reason="only looking")


ASKING = Policy("asking", (Rung(Asking(), 0.8),))


class Clock:
    def __init__(self, now=1_000.0):
        self.now = now

    def __call__(self):
        return self.now


def make_message(number, role=None):
    role = role or ("user" if number % 2 == 0 else "assistant")
    return {"role": role, "content": f"{number}: {FILLER}"}


def step(number, size=1):
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": json.dumps({"path": f"{number}.py"})},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}: {FILLER}" * size},
    ]


@pytest.fixture
def opened(place):
    """Open sessions in one archive; all are closed in the end."""
    made = []

    def open_(name="s", **changes):
        settings = {
            "window": 8_000,
            "policy": WINDOW,
            "counter": EstimatedCounter("o200k"),
            "format": "openai-chat",
        }
        session = Session.open(place, name, **{**settings, **changes})
        made.append(session)
        return session

    yield open_
    for session in made:
        session.close()


def fill(session, count=60, start=0):
    return session.extend([make_message(number) for number in range(start, start + count)])


# --- appending and showing -----------------------------------------------------------------


@pytest.mark.requirement("K1")
def test_a_view_contains_the_very_objects_that_were_appended(opened):
    session = opened()
    wires = [make_message(0), *step(1), make_message(2)]

    for wire in wires:
        session.append(wire)

    assert all(shown is wire for shown, wire in zip(session.view(), wires, strict=True))


def test_ids_are_those_that_a_whole_transcript_gets_repetitions_included(opened):
    session = opened()
    wires = [make_message(0), make_message(0), *step(1), make_message(0), *step(1)]

    given = [session.append(wire) for wire in wires]

    assert given == [message.id for message in OpenAIChatDialect().decode(wires).messages]
    assert given == [message.id for message in identify(session.messages)]


def test_tokens_are_the_count_of_the_view(opened):
    session = opened()
    fill(session, 10)

    counted = session.tokens

    assert counted == sum(session._state.settings.counter.message(m) for m in session.messages)


def test_a_view_is_compacted_when_due_and_not_before(opened):
    session = opened()
    sizes = []

    for number in range(80):
        session.append(make_message(number))
        session.view()
        sizes.append(session.tokens)

    assert max(sizes) <= session.budget.limit
    assert any(after < before for before, after in pairwise(sizes))
    assert {receipt.status for receipt in session.receipts} == {"compacted"}
    assert len(session.receipts) <= 4
    assert len(session.messages) == 80


@pytest.mark.requirement("K20", "H2")
def test_a_second_view_with_nothing_new_is_equal_and_does_no_work(opened):
    useless = Useless()
    session = opened(policy=Policy("useless", (Rung(useless, 0.1),)))
    fill(session, 50)

    first, second = session.view(), session.view()

    assert first == second
    assert first is not second
    assert useless.tries == 1


def test_the_prefix_before_the_first_edit_stays_the_identical_objects(opened):
    session = opened()
    fill(session, 70)
    before = session.view()
    kept = session.receipts[-1].kept_prefix
    session.append(make_message(70))
    after = session.view()

    assert 0 < kept < len(before)
    assert after[: len(before)] == before
    assert all(new is old for new, old in zip(after[:kept], before[:kept], strict=True))


def test_the_list_of_a_view_belongs_to_the_caller(opened):
    session = opened()
    fill(session, 4)
    session.view().clear()

    assert len(session.view()) == 4


def test_every_dialect_is_detected_from_its_messages(opened):
    anthropic = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}],
    }
    gemini = {"role": "model", "parts": [{"text": "hello"}]}
    item = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}

    for name, wire in (("anthropic", anthropic), ("gemini", gemini), ("openai-responses", item)):
        session = opened(name, format="auto")
        session.append(wire)

        assert session.format == name
        assert session.view() == [wire]


def test_images_count_by_the_rules_of_the_detected_format(opened):
    image = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    wire = {"role": "user", "content": [{"type": "image", "source": image}]}
    call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    sizes = {}
    for name in ("auto", "anthropic"):
        session = opened(name, format=name)
        session.extend([{"role": "assistant", "content": [call]}, wire])
        sizes[name] = session.tokens
    other = TokenCounter(EstimatedCounter("o200k"), provider="openai")

    assert sizes["auto"] == sizes["anthropic"] == opened("auto", format="auto").tokens
    assert sizes["auto"] != other.messages(session.messages)


def test_a_dialect_ambiguous_in_plain_text_is_corrected_by_the_first_tool_call(opened):
    session = opened(format="auto")
    first = session.append({"role": "user", "content": "List the files."})
    guessed = session.format
    session.append(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}],
        }
    )
    session.append(
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}],
        }
    )
    session.close()
    again = opened(format="auto")

    assert guessed != "anthropic"
    assert again.format == "anthropic"
    assert again.messages[0].id == first
    assert [len(m.calls) + len(m.results) for m in again.messages] == [0, 1, 1]


def test_the_first_tool_call_corrects_the_dialect_after_a_compaction(opened):
    session = opened(format="auto", window=8_000)
    for number in range(60):
        session.append({"role": "user", "content": f"question {number} " + "alpha beta " * 60})
        session.append({"role": "assistant", "content": f"answer {number} " + "gamma " * 60})
    assert session.compact(force=True).status == "compacted"
    shown = [message["content"] for message in session.view()]

    session.append(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}],
        }
    )
    session.close()
    again = opened(format="auto", window=8_000)

    assert again.format == "anthropic"
    assert len(again.messages) == 121
    assert again.messages[-1].calls[0].id == "t1"
    assert [message["content"] for message in again.view()[:-1]] == shown


def test_a_format_detected_later_is_known_after_a_restart(opened):
    opened(format="auto").close()
    named = opened(format="openai-chat")
    named.append(make_message(0))
    named.close()

    again = opened(format="auto")

    assert again.format == "openai-chat"
    assert again.view() == [make_message(0)]


def test_results_that_pair_by_name_only_find_their_calls_one_append_at_a_time(opened):
    session = opened(format="gemini")
    wires = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "x9", "name": "ls", "response": {"a": 1}}}],
        },
    ]
    for wire in wires:
        session.append(wire)
    session.close()
    again = opened(format="gemini")

    for messages in (session.messages, again.messages):
        assert messages[1].calls[0].id == messages[2].results[0].call_id
    assert again.view() == wires


def test_message_objects_of_langchain_are_returned_as_objects(opened):
    core = pytest.importorskip("langchain_core.messages")
    session = opened(format="auto")
    call = {"name": "ls", "args": {"path": "."}, "id": "c1", "type": "tool_call"}
    wires = [
        core.HumanMessage("List the files."),
        core.AIMessage("", tool_calls=[call]),
        core.ToolMessage("a.py", tool_call_id="c1", artifact=object()),
    ]
    session.extend(wires)
    shown = session.view()
    session.close()
    again = opened(format="auto").view()

    assert all(new is old for new, old in zip(shown, wires, strict=True))
    assert again[:2] == wires[:2]
    assert [type(wire) for wire in again] == [type(wire) for wire in wires]
    assert again[2].content == "a.py"


@pytest.mark.parametrize(
    "wire",
    [
        None,
        "hello",
        [],
        {},
        {"role": "user", "content": 5},
        {"role": 5, "content": "x"},
        {"role": "tool", "content": "x"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": object()}}]},
        {"role": "user", "content": "x", "extra": {1, 2}},
    ],
)
def test_an_invalid_message_is_refused_and_changes_nothing(opened, wire):
    session = opened()
    session.append(make_message(0))

    with pytest.raises(InputError):
        session.append(wire)
    with pytest.raises(InputError):
        session.extend([make_message(1), wire])

    assert session.view() == [make_message(0)]
    assert session.append(make_message(0)) == identify([session.messages[0]] * 2)[1].id


def test_extending_by_nothing_changes_nothing(opened):
    session = opened()

    assert session.extend([]) == []
    assert session.view() == []


@pytest.mark.requirement("H7")
def test_a_giant_tool_output_is_cut_when_it_is_recorded_and_recalled_whole(opened):
    session = opened(window=200_000)
    session.append(make_message(0))
    call, result = step(1)
    result["content"] = "\n".join(f"line {number} of a very long file" for number in range(9_000))
    session.append(call)
    session.append(result)

    shown = session.view()[2]["content"]
    handle = next(iter(session.receipts[0].recall))

    assert session.tokens < 10_000
    assert handle in shown
    assert session.recall(handle).text == result["content"]
    assert session.recall(handle).raw is result
    assert session.recall(handle, lines="4000").text == "line 3999 of a very long file"
    assert session.undo() is None
    assert session.receipts[0].tokens_after == session.tokens


# --- durability ----------------------------------------------------------------------------


@pytest.mark.requirement("H9")
def test_a_reopened_session_has_the_same_view(opened):
    session = opened()
    fill(session, 70)
    shown, tokens = session.view(), session.tokens
    session.close()

    again = opened()

    assert json.dumps(again.view()) == json.dumps(shown)
    assert again.tokens == tokens
    assert [receipt.to_dict() for receipt in again.receipts] == [
        receipt.to_dict() for receipt in session.receipts
    ]
    assert [receipt.edits for receipt in again.receipts] == [
        receipt.edits for receipt in session.receipts
    ]


def test_the_view_is_always_the_log_with_its_edits(opened):
    session = opened(policy="default")
    for number in range(60):
        session.extend(step(number, size=3) if number % 3 else [make_message(number)])
        session.view()

    edits = [edit for receipt in session.receipts for edit in receipt.edits]
    replayed = OpenAIChatDialect().messages(apply(session.messages, edits))

    assert session.receipts
    assert session.view() == replayed


def test_another_process_sees_the_same_view(opened, place):
    session = opened()
    fill(session, 70)
    shown = session.view()
    code = (
        "import json, sys\n"
        "from foldline.core.strategy import Policy, Rung\n"
        "from foldline.tokens.estimate import EstimatedCounter\n"
        "from foldline.session import Session\n"
        "from foldline.strategies.window import Window\n"
        "policy = Policy('window', (Rung(Window(), 0.8),))\n"
        "s = Session.open(sys.argv[1], 's', window=8000, policy=policy,"
        " counter=EstimatedCounter('o200k'))\n"
        "json.dump(s.view(), sys.stdout)\n"
    )

    out = subprocess.run(
        [sys.executable, "-c", code, str(place)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert json.loads(out.stdout) == shown


def test_the_later_of_two_concurrent_writers_gets_an_error(opened):
    first, second = opened(), opened()
    first.append(make_message(0))

    with pytest.raises(StoreError, match="changed by another writer") as caught:
        second.append(make_message(1))

    assert "Open it again" in caught.value.hint
    assert second.messages == ()
    first.append(make_message(2))
    assert opened().view() == [make_message(0), make_message(2)]


def test_another_format_than_the_stored_one_is_refused(opened):
    opened().append(make_message(0))

    with pytest.raises(StoreError, match="openai-chat, not anthropic"):
        opened(format="anthropic")


def test_a_session_without_a_place_or_a_name_is_refused(opened):
    with pytest.raises(StoreError, match="needs an archive"):
        Session.open(None, "s")
    with pytest.raises(StoreError, match="characters"):
        opened("")


def test_a_store_that_was_given_stays_open():
    store = MemoryStore()
    with Session.open(None, "s", store=store, policy=WINDOW) as session:
        session.append(make_message(0))

    with pytest.raises(StoreError, match="is closed"):
        session.append(make_message(1))
    with Session.open(None, "s", store=store, policy=WINDOW) as session:
        assert session.view() == [make_message(0)]


class Failing(MemoryStore):
    """A store that fails before or after a commit, as configured."""

    def __init__(self):
        super().__init__()
        self.before = self.after = None

    def commit(self, name, generation, change):
        if self.before:
            raise self.before
        made = super().commit(name, generation, change)
        if self.after:
            raise self.after
        return made


def test_a_store_that_refuses_leaves_the_session_as_it_was():
    store = Failing()
    session = Session.open(None, "s", store=store, window=8_000, policy=WINDOW)
    fill(session, 70)
    before = session.tokens

    store.before = StoreError("the disk is full")
    for work in (
        lambda: session.append(make_message(70)),
        session.view,
        lambda: session.pin("x" * 8),
    ):
        with pytest.raises(FoldlineError):
            work()
    store.before = None

    assert session.tokens == before
    assert len(session.messages) == 70
    assert session.receipts == ()
    assert session.append(make_message(70)) == session.messages[-1].id


def test_an_interrupt_just_after_the_commit_neither_loses_nor_repeats():
    store = Failing()
    session = Session.open(None, "s", store=store, window=8_000, policy=WINDOW)
    session.append(make_message(0))

    store.after = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        session.append(make_message(1))
    store.after = None
    session.append(make_message(2))

    assert session.view() == [make_message(0), make_message(1), make_message(2)]


def test_an_interrupt_at_the_first_message_does_not_hide_it():
    store = Failing()
    session = Session.open(None, "s", store=store, window=8_000)

    store.after = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        session.append(make_message(0))
    store.after = None

    assert session.view() == [make_message(0)]


def test_an_interrupt_while_a_session_reads_itself_again_does_not_cut_it(monkeypatch):
    store = Failing()
    session = Session.open(None, "s", store=store, window=8_000, policy=WINDOW)
    fill(session, 5)
    store.after = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        session.append(make_message(5))
    store.after = None

    read = iter((True, True, False))

    def interrupted(dialect, stored):
        if next(read):
            return decode_stored(dialect, stored)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("foldline.session.state.decode_stored", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.view()

    assert session.view() == [make_message(number) for number in range(6)]


def test_a_value_that_looks_like_a_stored_object_is_restored_unchanged():
    value = {OBJECT: "HumanMessage", "fields": {"content": "planted"}}

    assert thaw(freeze(value)) == value
    assert thaw(freeze(freeze(value))) == freeze(value)


# --- compacting on demand, undoing, pinning ------------------------------------------------


def test_a_budget_of_the_caller_is_kept(opened):
    session = opened()
    fill(session, 30)

    receipt = session.compact(1_500)

    assert receipt.status == "compacted"
    assert session.tokens == receipt.tokens_after <= 1_500
    assert len(session.view()) == receipt.messages_after
    assert session.compact(1_500).status == "unchanged"


def test_nothing_is_compacted_below_the_trigger_unless_forced(opened):
    session = opened()
    fill(session, 48)

    calm = session.compact()
    forced = session.compact(force=True)
    again = session.compact(force=True)

    assert (calm.status, calm.reason) == ("unchanged", "below the trigger")
    assert forced.status == "compacted"
    assert again.status == "unchanged"
    assert session.receipts == (forced,)


def test_an_empty_session_has_nothing_to_compact(opened):
    receipt = opened().compact(force=True)

    assert (receipt.status, receipt.reason) == ("unchanged", "there are no messages")


def test_undo_restores_the_view_durably_and_no_view_repeats_the_compaction(opened):
    session = opened()
    fill(session, 70)
    whole = [make_message(number) for number in range(70)]
    compacted = session.view()

    receipt = session.undo()
    undone = session.view()
    session.close()
    again = opened()

    assert len(compacted) < len(whole)
    assert receipt.status == "compacted"
    assert undone == whole
    assert again.view() == whole
    assert again.undo() is None


def test_compactions_are_undone_one_by_one(opened):
    session = opened()
    views = []
    for budget in (4_000, 3_000, 2_000):
        fill(session, 50 if not views else 5, start=100 * len(views))
        views.append(session.tokens)
        session.compact(budget)

    back = []
    while session.undo():
        back.append(session.tokens)

    assert len(back) == 3
    assert back[-1] == sum(session._state.settings.counter.message(m) for m in session.messages)


@pytest.mark.requirement("C21")
def test_a_pinned_message_stays_in_view_after_a_restart(opened):
    session = opened()
    numbers = fill(session, 20)
    assert session.pin(numbers[3][:8]) == numbers[3]
    session.pin(numbers[3])
    session.close()
    session = opened()

    session.compact(1_500)

    assert make_message(3) in session.view()
    assert make_message(4) not in session.view()
    assert [message.pinned for message in session.messages].count(True) == 1


def test_pinning_what_does_not_exist_is_an_error(opened):
    session = opened()
    fill(session, 2)

    with pytest.raises(RecallError):
        session.pin("0123456789")


@pytest.mark.requirement("J3", "F93")
def test_everything_that_was_removed_is_recalled_after_a_restart(opened):
    session = opened(policy="default", window=16_000)
    for number in range(70):
        session.extend(step(number, size=2) if number % 4 else [make_message(number)])
        session.view()
    receipts = session.receipts
    originals = {message.id: message.raw for message in session.messages}
    session.close()
    session = opened(policy="default", window=16_000)

    handles = {handle for receipt in receipts for handle in receipt.recall}
    removed = set()
    for receipt in receipts:
        for edit in receipt.edits:
            match edit:
                case Rewrite(message=number):
                    removed.add(number)
                case Drop(messages=numbers) | Fold(messages=numbers):
                    removed.update(number for number in numbers if number in originals)

    assert removed
    for handle in handles:
        session.recall(handle)
    for number in removed:
        assert session.recall(number).raw == originals[number]


# --- pace ----------------------------------------------------------------------------------


@pytest.mark.requirement("K11", "F57")
def test_an_attempt_that_changed_nothing_is_repeated_only_after_growth(opened):
    useless = Useless()
    session = opened(policy=Policy("useless", (Rung(useless, 0.1),)))
    fill(session, 40)
    tries = []
    for number in range(40, 60):
        session.append(make_message(number))
        session.view()
        tries.append(useless.tries)
    growth = 20 * session.tokens / 60 / (0.05 * session.budget.scale)

    assert 1 < useless.tries <= growth + 1
    assert {receipt.status for receipt in session.receipts} == {"unchanged"}


def test_a_forced_compaction_does_not_wait(opened):
    useless = Useless()
    session = opened(policy=Policy("useless", (Rung(useless, 0.1),)))
    fill(session, 50)
    session.view()

    held = session.compact()
    session.compact(force=True)

    assert held.reason == "too little was appended since the last attempt"
    assert useless.tries == 2


def test_the_wait_continues_after_a_restart(opened):
    useless = Useless()
    policy = Policy("useless", (Rung(useless, 0.1),))
    session = opened(policy=policy)
    fill(session, 50)
    session.view()
    session.close()

    opened(policy=policy).view()

    assert useless.tries == 1


def test_a_view_that_passes_its_limit_does_not_wait(opened):
    session = opened(policy=Policy("both", (Rung(Useless(), 0.5), Rung(Window(), 1.0))))
    sizes = []
    for number in range(120):
        session.append(make_message(number))
        session.view()
        sizes.append(session.tokens)

    assert max(sizes) <= session.budget.limit


@pytest.mark.requirement("K3")
def test_an_idle_session_has_a_cold_cache(opened):
    clock, seeing = Clock(), Seeing()
    policy = Policy("seeing", (Rung(seeing, 0.1),))
    session = opened(policy=policy, clock=clock)
    fill(session, 50)
    session.compact(force=True)
    clock.now += 200
    session.view()
    clock.now += 200
    session.compact(force=True)
    clock.now += 301
    session.compact(force=True)
    session.close()
    clock.now += 100
    opened(policy=policy, clock=clock).compact(force=True)

    assert [need.cold for need in seeing.needs] == [False, False, True, True]


# --- reported usage ------------------------------------------------------------------------


@pytest.mark.requirement("K8", "F59")
def test_reported_usage_counts_more_than_our_own_count(opened):
    session = opened()
    fill(session, 20)
    session.append(make_message(21), usage=Usage(input=7_000, output=100))

    session.view()

    assert session.receipts[0].status == "compacted"
    assert "as counted here" in session.receipts[0].warnings[0]


@pytest.mark.parametrize("reported", [Usage(input=10**400), Usage(input=1, output=10**400)])
def test_usage_larger_than_any_window_is_ignored(opened, reported):
    session = opened()
    session.append(make_message(1))
    session.append(make_message(2) | {"role": "assistant"}, usage=reported)
    assert session.pressure.tokens < 10_000


def test_usage_from_before_a_compaction_triggers_nothing(opened):
    session = opened()
    fill(session, 20)
    session.append(make_message(21), usage=Usage(input=7_000, output=100))
    session.view()

    for number in range(4):
        session.append(make_message(number))
        session.view()

    assert len(session.receipts) == 1


def test_usage_for_a_request_from_before_an_edit_is_ignored(opened):
    session = opened()
    fill(session, 40)
    session.view()
    session.compact(2_000)
    session.append(make_message(41), usage=Usage(input=7_500, output=10))

    session.view()

    assert len(session.receipts) == 1


def test_reported_usage_holds_after_a_restart(opened):
    session = opened()
    fill(session, 20)
    session.append(make_message(21), usage=Usage(input=7_000, output=100))
    session.close()

    session = opened()
    session.view()

    assert session.receipts[0].status == "compacted"


def test_an_answer_without_real_usage_is_not_an_anchor(opened):
    session = opened()
    fill(session, 20)
    session.append(make_message(21), usage=Usage())
    session.append(make_message(22), usage=Usage(input=9_000))

    assert session._state.current_view.anchor is None


# --- export --------------------------------------------------------------------------------


def test_the_export_is_the_whole_original_transcript(opened, tmp_path):
    session = opened()
    fill(session, 70)
    session.append({"role": "user", "content": "half a pair: \ud83d"})
    session.view()

    count = session.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()

    assert count == 71
    assert [json.loads(line) for line in lines] == [m.raw for m in session.messages]
    with (tmp_path / "two.jsonl").open("w", encoding="utf-8") as file:
        session.export(file)
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


def test_a_failed_export_leaves_the_old_file(opened, tmp_path, monkeypatch):
    session = opened()
    fill(session, 3)
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    before = sorted(tmp_path.iterdir())

    def full(number):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        session.export(target)

    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


def test_an_export_into_a_pipe_is_written_and_does_not_replace_it(opened, tmp_path):
    session = opened()
    fill(session, 3)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()

    assert session.export(pipe) == 3
    reader.join()
    assert pipe.is_fifo()
    assert [json.loads(line) for line in got[0].splitlines()] == [
        make_message(n) for n in range(3)
    ]


def test_an_export_into_a_missing_folder_names_it(opened, tmp_path):
    with pytest.raises(StoreError, match="missing"):
        opened().export(tmp_path / "missing" / "out.jsonl")


# --- summarizers ---------------------------------------------------------------------------


def test_a_summarizer_answers_the_strategy(opened):
    asked = []

    def summarize(ask):
        asked.append(ask)
        return Reply("all is well")

    session = opened(policy=ASKING, summarizer=summarize)
    fill(session, 70)

    shown = session.view()
    handle = next(
        handle for handle, words in session.receipts[0].recall.items() if "snapshot" in words
    )

    assert len(asked) == 1
    assert any("all is well" in str(wire["content"]) for wire in shown)
    assert session.recall(handle).raw == [m.raw for m in session.messages if m.raw not in shown]


def broken(ask):
    raise TimeoutError("no answer")


async def later(ask):
    return Reply("later")


@pytest.mark.parametrize(
    ("summarizer", "words"),
    [
        (None, "no summarizer"),
        (broken, "no answer"),
        (later, "acompact"),
        (lambda _: 7, "instead of a Reply"),
    ],
)
def test_a_summarizer_that_gives_no_answer_leaves_the_history_unchanged(opened, summarizer, words):
    session = opened(policy=ASKING, summarizer=summarizer)
    fill(session, 60)

    receipt = session.compact(force=True)

    assert receipt.status == "unchanged"
    assert words in receipt.rungs[0].reason
    assert len(session.view()) == 60


@pytest.mark.requirement("K14")
def test_a_summarizer_that_uses_its_own_session_gets_an_error_instead_of_a_deadlock(opened):
    session = opened(policy=ASKING, summarizer=lambda _: Reply(session.append(make_message(0))))
    fill(session, 60)

    receipt = session.compact(force=True)

    assert "from inside its own compaction" in receipt.rungs[0].reason
    assert len(session.messages) == 60


def test_an_exception_in_a_strategy_leaves_the_session_as_it_was(opened):
    class Exploding:
        name = "exploding"

        def propose(self, _view, _need):
            yield Ask("?", 1)
            raise ZeroDivisionError

    session = opened(policy=Policy("exploding", (Rung(Window(60), 0.1), Rung(Exploding(), 0.1))))
    fill(session, 70)
    before = session.tokens

    with pytest.raises(ZeroDivisionError):
        session.view()

    assert session.tokens == before
    assert session.receipts == ()
    assert session.append(make_message(70))


# --- threads and tasks ---------------------------------------------------------------------


@pytest.mark.requirement("K20")
def test_threads_append_one_at_a_time(opened):
    session = opened(window=100_000)

    def work(start):
        for number in range(start, start + 20):
            session.append(make_message(number))

    threads = [threading.Thread(target=work, args=(100 * n,), daemon=True) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(session.view()) == 80
    assert len({message.id for message in session.messages}) == 80


def test_the_async_twins_do_the_same(opened, tmp_path):
    async def main():
        async with opened(policy=ASKING, summarizer=later) as session:
            first = await session.aappend(make_message(0))
            await session.aextend([make_message(number) for number in range(1, 70)])
            shown = await session.aview()
            found = await session.arecall(first[:8], max_tokens=50)
            undone = await session.aundo()
            await session.apin(first)
            receipt = await session.acompact(3_000)
            count = await session.aexport(tmp_path / "out.jsonl")
        return session, shown, found, undone, receipt, count

    session, shown, found, undone, receipt, count = asyncio.run(main())

    assert any("later" in str(wire["content"]) for wire in shown)
    assert found.raw == make_message(0)
    assert undone == session.receipts[0]
    assert receipt.status == "compacted"
    assert count == 70
    assert session.messages[0].pinned
    with pytest.raises(StoreError, match="is closed"):
        session.view()


def test_a_blocking_summarizer_works_in_async_programs(opened):
    session = opened(policy=ASKING, summarizer=lambda _: Reply("blocking"))
    fill(session, 70)

    shown = asyncio.run(session.aview())

    assert any("blocking" in str(wire["content"]) for wire in shown)


async def compacting(opened):
    """Return a session, the task in which it is compacted, and the event that lets that end."""
    asked, answer = asyncio.Event(), asyncio.Event()

    async def summarize(ask):
        asked.set()
        await answer.wait()
        return Reply("done")

    session = opened(policy=ASKING, summarizer=summarize)
    await session.aextend([make_message(number) for number in range(70)])
    viewing = asyncio.create_task(session.aview())
    await asked.wait()
    return session, viewing, answer


def test_tasks_take_turns_and_an_append_waits_for_a_running_compaction(opened):
    async def main():
        session, viewing, answer = await compacting(opened)
        appending = [asyncio.create_task(session.aappend(make_message(n))) for n in range(70, 73)]
        for _ in range(10):
            await asyncio.sleep(0)
        done = [task for task in appending if task.done()]
        answer.set()
        return session, done, await viewing, await asyncio.gather(*appending)

    session, done, shown, numbers = asyncio.run(main())

    assert not done
    assert session.view()[: len(shown)] == shown
    assert [message.id for message in session.messages[70:]] == numbers


def test_a_blocking_call_in_its_own_loop_is_refused(opened):
    async def main():
        session, viewing, answer = await compacting(opened)
        with pytest.raises(FoldlineError, match="while a task is using it"):
            session.append(make_message(70))
        answer.set()
        return await viewing, session.append(make_message(70))

    shown, number = asyncio.run(main())

    assert shown
    assert number


@pytest.mark.requirement("K15")
def test_a_cancelled_compaction_changes_nothing_and_frees_the_lock(opened):
    async def main():
        asked = asyncio.Event()

        async def summarize(ask):
            if asked.is_set():
                return Reply("second")
            asked.set()
            return await asyncio.Event().wait()

        session = opened(policy=ASKING, summarizer=summarize)
        await session.aextend([make_message(number) for number in range(70)])
        viewing = asyncio.create_task(session.aview())
        await asked.wait()
        waiting = asyncio.create_task(session.aappend(make_message(70)))
        never = asyncio.create_task(session.aappend(make_message(99)))
        await asyncio.sleep(0)
        never.cancel()
        viewing.cancel()
        results = await asyncio.gather(viewing, never, return_exceptions=True)
        untouched = session.receipts
        await waiting
        return session, results, untouched, await session.aview()

    session, results, untouched, shown = asyncio.run(main())

    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
    assert untouched == ()
    assert len(session.messages) == 71
    assert any("second" in str(wire["content"]) for wire in shown)


def test_a_cancelled_append_has_happened_or_not_when_the_cancellation_is_raised(opened):
    async def main():
        session = opened()
        kept = []
        for number in range(40):
            task = asyncio.create_task(session.aappend(make_message(number)))
            for _ in range(number % 7):
                await asyncio.sleep(0)
            task.cancel()
            before = len(session.messages)
            with suppress(asyncio.CancelledError):
                await task
            after = len(session.messages)
            kept.append(after - before)
            assert not session._state.stale
        return session, kept

    session, kept = asyncio.run(main())
    shown = session.view()
    session.close()

    assert set(kept) <= {0, 1}
    assert opened().view() == shown


def test_importing_the_session_loads_no_third_party_module():
    code = (
        "import sys; before = set(sys.modules); import foldline.session, foldline.archive;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "['foldline']"


def test_tools_nested_beyond_reading_are_bad_input(opened):
    deep = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(InputError, match="nested too deeply"):
        opened(tools=[deep])


def test_a_result_that_comes_after_its_call_was_folded_does_not_break_the_view(place):
    # F11: a job answers long after everybody went on without it.
    call = {"id": "job", "type": "function", "function": {"name": "start", "arguments": "{}"}}
    with Session.open(place, "s", window=4_000) as session:
        session.append({"role": "user", "content": "Start the job."})
        session.append({"role": "assistant", "content": "Starting.", "tool_calls": [call]})
        for number in range(60):
            session.append({"role": "user", "content": f"Question {number}: " + "why? " * 40})
            session.append({"role": "assistant", "content": f"Answer {number}: " + "so. " * 40})
        assert len(session.view()) < 60
        session.append({"role": "tool", "tool_call_id": "job", "content": "job 7 is done"})
        shown = session.view()
        assert OpenAIChatDialect().validate(shown) == []
        assert any("job 7 is done" in str(message["content"]) for message in shown)
        assert session.view() == shown
        assert session.messages[-1].results


@pytest.mark.parametrize(
    "wrong",
    [{"policy": "nope"}, {"window": 2_000, "system": "word " * 5_000}, {"summarizer": "same"}],
)
def test_a_session_that_cannot_be_opened_is_not_created(wrong):
    store = MemoryStore()
    with pytest.raises(FoldlineError):
        Session.open(None, "s", store=store, **wrong)
    assert store.sessions() == ()


def test_a_key_named_by_an_error_is_not_stored_in_a_receipt(opened):
    key = "sk-ant-" + "a1b2c3" * 5

    def echoing(ask):
        raise ValueError(f"401 for key {key}")

    for summarizer in (echoing, lambda _: Reply(error=f"401 for key {key}")):
        session = opened(policy=ASKING, summarizer=summarizer)
        fill(session, 60)
        receipt = session.compact(force=True)
        assert "401 for key" in receipt.rungs[0].reason
        assert key not in json.dumps(receipt.to_dict())


LEAVING = """
import asyncio, threading
from foldline import Session
from foldline.stores.memory import MemoryStore

begun = threading.Event()

def hang(ask):
    begun.set()
    threading.Event().wait()

async def main():
    session = Session.open(None, "s", store=MemoryStore(), window=4_000, summarizer=hang)
    await session.aextend({"role": role, "content": f"{n} " + "some words to fill it " * 20}
                          for n in range(40) for role in ("user", "assistant"))
    view = asyncio.create_task(session.aview())
    await asyncio.to_thread(begun.wait, 60)
    view.cancel()
    await asyncio.wait([view])

asyncio.run(main())
print("end")
"""


def test_a_summarizer_that_hangs_does_not_keep_an_async_program_from_ending():
    ran = subprocess.run(
        [sys.executable, "-c", LEAVING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("end\n", "", 0)


def test_a_budget_may_be_a_share_of_the_view(place):
    with Session.open(place, "s", window=1_000_000) as session:
        session.append({"role": "user", "content": "Why does the build fail?"})
        session.extend({"role": "user", "content": f"line {n} of it " * 99} for n in range(30))
        receipt = session.compact("25%", force=True)
    assert receipt.status == "compacted"
    assert receipt.tokens_after <= receipt.tokens_before * 0.25


def refuse(*_, **__):
    raise ZeroDivisionError


METHODS = ("__str__", "__eq__", "__len__", "__getitem__", "__contains__", "split", "encode")
Stubborn = type("Stubborn", (str,), {**dict.fromkeys(METHODS, refuse), "__hash__": refuse})


def test_texts_whose_methods_raise_are_appended_as_plain_text(opened):
    session = opened()
    held = {"role": Stubborn("user"), "content": [{"type": "text", "text": Stubborn("Hello")}]}
    session.append(held)
    session.extend([{"role": "user", "content": Stubborn("again")}])
    assert session.view() == [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "user", "content": "again"},
    ]


def test_an_object_that_raises_is_refused_and_changes_nothing(opened):
    class Message:
        def __getattr__(self, _):
            raise ZeroDivisionError

    session = opened()
    session.append(make_message(0))
    for wire in (Message(), {"role": "user", "content": [Message()]}):
        with pytest.raises(InputError):
            session.append(wire)
    assert session.view() == [make_message(0)]
