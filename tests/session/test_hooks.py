from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from foldline import BudgetError, Config, FoldlineError, InputError, Reply, Session
from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    Event,
    MemoryPrepared,
    ToolOutputBounded,
)
from foldline.session.hooks import Cancel, Hooks
from foldline.stores.memory import MemoryStore

OVERFLOW = "prompt is too long: 4300 tokens > 4000 maximum"


def turns(count: int = 12, words: int = 120) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{role} {number} " + f"word{number} " * words}
        for number in range(count)
        for role in ("user", "assistant")
    ]


def session(hooks: Hooks, messages: list[Any] | None = None, **more: Any) -> Session:
    made = Session.open(None, "s", store=MemoryStore(), window=4_000, hooks=hooks, **more)
    made.extend(turns() if messages is None else messages)
    return made


@pytest.mark.requirement("C17", "C18")
def test_hooks_are_called_before_and_after_in_the_given_order():
    calls: list[tuple[str, str]] = []
    hooks = Hooks(
        before=[lambda e: calls.append(("1", e.kind)), lambda e: calls.append(("2", e.kind))],
        after=lambda e: calls.append((e.status, e.kind)),
    )
    session(hooks).view()
    assert calls == [
        ("1", "compaction.started"),
        ("2", "compaction.started"),
        ("compacted", "compaction.finished"),
    ]


@pytest.mark.requirement("C17", "C18")
@pytest.mark.parametrize(
    ("trigger", "work"),
    [
        ("automatic", lambda s: s.view()),
        ("manual", lambda s: s.compact(force=True)),
        ("manual", lambda s: s.compact(1_000)),
        ("requested", lambda s: (s.request_compaction(), s.view())),
        ("partial", lambda s: s.compact(up_to=s.messages[9].id)),
        ("overflow", lambda s: s.overflowed(OVERFLOW)),
        ("undo", lambda s: s.undo()),
    ],
)
def test_every_trigger_calls_the_hooks_once_with_its_name(trigger: str, work: Any):
    events: list[Event] = []
    hooks = Hooks(before=events.append, after=events.append)
    made = session(hooks)
    if trigger == "undo":
        made.view()
        events.clear()
    work(made)
    assert [(type(e), e.trigger) for e in events] == [
        (CompactionStarted, trigger),
        (CompactionFinished, trigger),
    ]
    assert events[0].number == events[1].number
    assert events[0].session == "s"


@pytest.mark.requirement("C18")
@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        (lambda _: False, ""),
        (lambda _: Cancel("the user is typing"), ": the user is typing"),
        (lambda _: _raise(Cancel("not now")), ": not now"),
    ],
)
def test_a_hook_cancels_a_compaction_and_nothing_changes(hook: Any, reason: str):
    after: list[Any] = []
    made = session(Hooks(before=hook, after=after.append))
    before = made.messages
    receipt = made.compact(force=True)
    assert receipt.status == "unchanged"
    assert receipt.reason.endswith(f"cancelled it{reason}")
    assert [event.status for event in after] == ["unchanged"]
    assert len(made.view()) == len(before)


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.requirement("C18", "F61")
def test_a_hook_that_cancels_is_not_called_before_every_request():
    asked: list[Any] = []
    made = session(Hooks(before=lambda e: asked.append(e) or False), turns(9))
    for _ in range(5):
        made.view()
    assert len(asked) == 1


@pytest.mark.requirement("C18")
@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (lambda _: _raise(ValueError("boom")), "raised ValueError: boom"),
        (lambda _: "block", "returned 'block', which is ignored"),
        (lambda _: threading.Event().wait(20), "took more than 0.05 seconds"),
    ],
)
def test_a_hook_that_fails_is_named_in_the_receipt_and_the_compaction_goes_on(hook, words):
    receipt = session(Hooks(before=hook, seconds=0.05)).compact(force=True)
    assert receipt.status == "compacted"
    assert any(words in warning for warning in receipt.warnings)


@pytest.mark.requirement("C18")
def test_a_hook_that_fails_afterwards_does_not_change_the_record():
    made = session(Hooks(after=lambda _: _raise(RuntimeError("late"))))
    receipt = made.compact(force=True)
    assert receipt.status == "compacted"
    assert "raised RuntimeError: late" in receipt.warnings[-1]
    assert made.receipts[-1].status == "compacted"
    assert made.view() == made.view()


@pytest.mark.requirement("C18")
def test_a_cancelled_undo_is_an_error_and_changes_nothing():
    made = session(Hooks(before=lambda e: e.trigger != "undo"))
    made.view()
    shown = made.view()
    with pytest.raises(FoldlineError, match="cancelled it"):
        made.undo()
    assert made.view() == shown


@pytest.mark.requirement("C17")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_compaction_has_exactly_one_end(error):
    events: list[Event] = []

    def stop(_: Any) -> Reply:
        raise error

    made = session(Hooks(listeners=events.append), summarizer=stop, policy="salient")
    with pytest.raises(error):
        made.compact(force=True)
    ends = [e for e in events if isinstance(e, CompactionFinished)]
    assert [(e.status, bool(e.error)) for e in ends] == [("interrupted", True)]
    assert sum(isinstance(e, CompactionStarted) for e in events) == 1


@pytest.mark.requirement("C17", "C18")
def test_async_hooks_run_in_the_loop_of_the_program():
    loops: list[Any] = []

    async def remember(_: Any) -> None:
        loops.append(asyncio.get_running_loop())

    async def work() -> None:
        made = session(Hooks(before=remember, after=remember, warning=remember), [])
        await made.aextend(turns())
        await made.aview()
        assert loops == [asyncio.get_running_loop()] * 3

    asyncio.run(work())


@pytest.mark.requirement("C18")
def test_async_hooks_run_for_blocking_calls_even_inside_a_loop():
    calls: list[str] = []

    async def object_to(_: Any) -> bool:
        await asyncio.sleep(0)
        calls.append("asked")
        return False

    hooks = Hooks(before=object_to)
    assert session(hooks).compact(force=True).status == "unchanged"

    async def work() -> None:
        assert session(hooks).compact(force=True).status == "unchanged"

    asyncio.run(work())
    assert calls == ["asked", "asked"]


@pytest.mark.requirement("C17", "C18")
def test_a_cancelled_compaction_has_one_end_and_leaves_the_session_as_it_was():
    events: list[Event] = []
    told = threading.Event()

    async def work() -> None:
        waiting = asyncio.Event()

        async def never(_: Any) -> Reply:
            waiting.set()
            await asyncio.Event().wait()
            return Reply("too late")

        hooks = Hooks(listeners=events.append, after=lambda _: told.set())
        made = session(hooks, summarizer=never, policy="salient")
        task = asyncio.create_task(made.acompact(force=True))
        await asyncio.wait_for(waiting.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert made.receipts == ()

    asyncio.run(work())
    assert [e.status for e in events if isinstance(e, CompactionFinished)] == ["interrupted"]
    assert told.wait(10)


@pytest.mark.requirement("K14")
def test_a_hook_that_uses_the_session_gets_an_error_instead_of_a_deadlock():
    made: list[Session] = []
    hooks = Hooks(before=lambda _: made[0].view())
    made.append(session(hooks))
    receipt = made[0].compact(force=True)
    assert receipt.status == "compacted"
    assert "used from inside its own compaction" in receipt.warnings[0]


@pytest.mark.requirement("C4", "K13")
def test_one_warning_is_sent_per_crossing_of_a_threshold():
    warned: list[str] = []
    made = session(Hooks(warning=lambda e: warned.append(e.pressure.level)), [])
    levels = []
    for message in turns(20):
        made.append(message)
        levels.append(made.pressure.level)
    assert warned == ["warn", "due", "over"]
    assert levels.index("warn") < levels.index("due") < levels.index("over")
    assert levels.count("over") > 1
    made.view()
    assert made.pressure.level == "calm"
    made.extend(turns(20))
    assert warned == ["warn", "due", "over", "over"]


def test_background_preparation_sends_an_event():
    prepared = threading.Event()
    events: list[Event] = []

    def listen(event: Event) -> None:
        if isinstance(event, MemoryPrepared):
            events.append(event)
            prepared.set()

    config = Config().replace(memory={"enabled": True, "every": 100})
    with session(Hooks(listeners=listen), turns(5), config=config) as made:
        made.append({"role": "user", "content": "Go on."})
        assert prepared.wait(20)
        assert made.memory is not None
        (event,) = events[:1]
        assert isinstance(event, MemoryPrepared)
        assert 0 < event.messages <= len(made.messages)
        assert event.tokens > 0
        assert (event.requests, event.usd) == (0, 0.0)


def test_listeners_receive_every_event_even_if_one_fails():
    events: list[Event] = []
    hooks = Hooks(listeners=[lambda _: _raise(ValueError("x")), events.append])
    made = session(hooks, [{"role": "user", "content": "go"}])
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    made.append({"role": "assistant", "content": None, "tool_calls": [call]})
    made.append({"role": "tool", "tool_call_id": "c", "content": "line\n" * 40_000})
    made.view()
    kinds = [type(event) for event in events]
    assert kinds[:2] == [ToolOutputBounded, ContextWarning]
    assert kinds.count(CompactionStarted) == kinds.count(CompactionFinished) == 1
    bounded = events[0]
    assert isinstance(bounded, ToolOutputBounded)
    assert bounded.tokens_after < bounded.tokens_before
    assert made.recall(bounded.handles[0]).text == "line\n" * 40_000


@pytest.mark.parametrize("wrong", [{"hooks": print}, {"config": {"enabled": False}}])
def test_invalid_hooks_or_configuration_are_refused_on_opening(wrong):
    with pytest.raises(InputError, match="is expected here"):
        Session.open(None, "s", store=MemoryStore(), window=8_000, **wrong)


@pytest.mark.parametrize("wrong", [{"before": 3}, {"after": [None]}, {"seconds": -1}])
def test_a_hook_that_is_not_callable_is_refused_at_construction(wrong):
    with pytest.raises(BudgetError, match=r"hooks\."):
        Hooks(**wrong)


def test_a_key_named_by_a_hook_is_not_stored_in_a_receipt():
    key = "sk-ant-" + "a1b2c3" * 5
    receipt = session(Hooks(before=lambda _: _raise(ValueError(f"for {key}")))).compact(force=True)
    assert "raised ValueError: for" in receipt.warnings[0]
    assert key not in str(receipt.to_dict())


# --- hooks that rewrite --------------------------------------------------------------------


def masked(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": message["content"].replace("hunter2", "[redacted]")}


SECRET = {"role": "user", "content": "The password is hunter2."}


def test_text_removed_by_a_hook_is_never_recorded_or_sent():
    made = session(Hooks(keep=masked), [SECRET])
    assert "hunter2" not in str([message.raw for message in made.messages])
    assert "hunter2" not in str(made.view())
    assert SECRET["content"].endswith("hunter2.")


def test_sent_messages_can_differ_from_recorded_ones():
    made = session(Hooks(send=lambda sent: [masked(message) for message in sent]), [SECRET])
    assert "hunter2" not in str(made.view())
    assert made.messages[0].raw is SECRET
    assert asyncio.run(made.aview()) == made.view()


def test_hooks_that_return_nothing_change_nothing():
    made = session(Hooks(keep=lambda _: None, send=lambda _: None), [SECRET])
    assert made.view()[0] is SECRET


def _raises(_: Any) -> Any:
    raise ValueError("no pattern for sk-ant-0123456789abcdef0123")


@pytest.mark.parametrize("refuse", [lambda _: False, lambda _: Cancel("a secret"), _raises])
def test_messages_that_a_hook_refuses_or_fails_at_are_neither_recorded_nor_sent(refuse: Any):
    made = Session.open(None, "s", store=MemoryStore(), window=4_000, hooks=Hooks(keep=refuse))
    with pytest.raises(FoldlineError, match="othing was recorded") as caught:
        made.append(SECRET)
    assert "sk-ant" not in str(caught.value)
    assert made.messages == ()
    made = session(Hooks(send=refuse), [SECRET])
    with pytest.raises(FoldlineError, match="othing was sent"):
        made.view()


def test_a_send_hook_that_returns_no_list_is_an_error():
    made = session(Hooks(send=lambda _: 3), [SECRET])
    with pytest.raises(FoldlineError, match="instead of a list"):
        made.view()
