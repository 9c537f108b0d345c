"""Overflows of a session, over HTTP and with the real SDKs."""

import asyncio

import anthropic
import httpx2
import openai
import pytest

from foldline.errors import ContextOverflow, InputError
from foldline.models.overflow import DetectedOverflow
from foldline.session import Session
from foldline.session.hooks import Cancel, Hooks
from foldline.stores.memory import MemoryStore
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Overflow as TooLong
from foldline.testing.scripted import RateLimit, Status
from foldline.values.messages import Usage

TASK = "Mend the build of src/app.py."


def chat_history(steps, lines=20, last="Now the tests."):
    yield {"role": "user", "content": TASK}
    for step in range(steps):
        function = {"name": "run", "arguments": f'{{"step": {step}}}'}
        call = {"id": f"c{step}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{step}", "content": output(step, lines)}
    if last:
        yield {"role": "user", "content": last}


def responses_history(steps):
    yield {"role": "user", "content": TASK}
    for step in range(steps):
        call = {"type": "function_call", "call_id": f"c{step}", "name": "run", "arguments": "{}"}
        yield call
        text = output(step, 20)
        yield {"type": "function_call_output", "call_id": f"c{step}", "output": text}
    yield {"role": "user", "content": "Now the tests."}


def claude_history(steps):
    yield {"role": "user", "content": TASK}
    for step in range(steps):
        call = {"type": "tool_use", "id": f"c{step}", "name": "run", "input": {"step": step}}
        yield {"role": "assistant", "content": [call]}
        text = output(step, 20)
        result = {"type": "tool_result", "tool_use_id": f"c{step}", "content": text}
        yield {"role": "user", "content": [result]}


def output(step, lines):
    return "\n".join(
        f"step {step}.{n} of {step * n} in build/log_{step}.txt" for n in range(lines)
    )


def opened(messages, window=200_000, **options):
    session = Session.open(None, "s", store=MemoryStore(), window=window, **options)
    session.extend(messages)
    return session


@pytest.fixture(scope="module")
def http():
    with httpx2.Client() as client:
        yield client


WIRES = {
    "openai-chat": chat_history,
    "openai-responses": responses_history,
    "anthropic": claude_history,
}


def sender(wire, server, http):
    """Return a function that sends messages over a wire with the real SDK."""
    options = {"api_key": "any", "http_client": http, "max_retries": 0}
    if wire == "anthropic":
        claude = anthropic.Anthropic(base_url=server.url, **options)
        return lambda view: claude.messages.create(model="m", messages=view, max_tokens=300)
    client = openai.OpenAI(base_url=server.openai_url, **options)
    if wire == "openai-chat":
        return lambda view: client.chat.completions.create(model="m", messages=view)
    return lambda view: client.responses.create(model="m", input=view)


def rejected(wire, send, view):
    """Send a view that is rejected, and return the error of the SDK."""
    kind = anthropic.BadRequestError if wire == "anthropic" else openai.BadRequestError
    with pytest.raises(kind) as caught:
        send(view)
    return caught.value


# --- one overflow --------------------------------------------------------------------------


@pytest.mark.requirement("F54", "F55", "K33")
@pytest.mark.parametrize(
    ("wire", "window"),
    # OpenAI Responses names no limit: then it cannot be much smaller than the request.
    [("openai-chat", 6_000), ("anthropic", 6_000), ("openai-responses", 12_000)],
)
def test_a_rejected_view_is_sent_once_more_strictly_smaller_and_accepted(wire, window, http):
    with ScriptedServer(["Done."], window=window) as server:
        session = opened(WIRES[wire](60), format=wire)
        send = sender(wire, server, http)
        view = session.view()
        error = rejected(wire, send, view)
        smaller = session.overflowed(error)
        send(smaller)
        first, second = server.requests
        assert second.tokens < first.tokens
        assert second.tokens <= window
        assert server.violations == ()
        assert TASK in second.text
    receipt = session.receipts[-1]
    assert receipt.status == "compacted"
    assert receipt.reason.startswith("overflow")
    assert receipt.tokens_after < receipt.tokens_before
    assert receipt.spent.attempts == 0
    assert session.view() == smaller


@pytest.mark.requirement("F54")
def test_the_reported_limit_applies_from_then_on():
    session = opened(chat_history(60))
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    assert session.budget.limit < 8_000
    session.extend(chat_history(40, last=""))
    session.append({"role": "assistant", "content": "All ran."})
    session.view()
    assert session.tokens < 8_000


def test_a_limit_that_is_not_lower_changes_no_budget():
    session = opened(chat_history(60), window=30_000)
    before = session.budget
    session.overflowed("prompt is too long: 40000 tokens > 50000 maximum")
    assert session.budget == before
    assert session.receipts[-1].status == "compacted"


@pytest.mark.requirement("F55")
def test_a_higher_count_of_the_provider_is_used():
    # By our count everything fits twice; by the provider's it does not.
    session = opened(chat_history(20), window=14_000)
    ours = session.tokens
    assert ours < 7_000
    session.overflowed(f"prompt is too long: {3 * ours} tokens > 14000 maximum")
    assert 3 * session.tokens < 14_000


def test_without_a_number_the_view_shrinks_once_and_the_session_keeps_its_window():
    session = opened(chat_history(60))
    sent, limit = session.tokens, session.budget.limit
    session.overflowed({"error": {"code": "context_length_exceeded", "message": "no numbers"}})
    assert session.tokens <= sent // 2
    assert session.budget.limit == limit


def test_the_reserve_of_the_request_for_its_answer_is_left_free():
    words = "input length and `max_tokens` exceed context limit: 19000 + 3000 > 8000, decrease"
    session = opened(chat_history(60))
    session.overflowed(words)
    assert session.budget.limit < 5_000
    assert session.tokens < 5_000


def test_a_reserve_for_a_larger_window_does_not_fill_the_real_one():
    session = opened(chat_history(60), output=32_000)
    session.overflowed("prompt is too long: 20000 tokens > 16000 maximum")
    assert session.tokens < 8_000


@pytest.mark.requirement("F70")
def test_one_pass_is_enough_however_many_large_results_there_are():
    session = opened(chat_history(10, lines=900), window=400_000)
    before = session.tokens
    session.overflowed(f"prompt is too long: {before} tokens > 12000 maximum")
    assert session.tokens < 12_000
    assert [receipt.reason.startswith("overflow") for receipt in session.receipts[-1:]] == [True]


def test_an_overflow_calls_no_model():
    def never(ask):
        raise AssertionError(f"asked: {ask.prompt[:40]}")

    session = opened(chat_history(60), summarizer=never)
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    assert session.receipts[-1].spent.attempts == 0


def test_a_model_is_called_again_after_an_overflow():
    asked = []

    def summarizer(ask):
        asked.append(ask)
        return "Goal: mend the build. " * 20

    session = opened(chat_history(60), summarizer=summarizer)
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    session.extend(chat_history(60))
    session.compact(force=True)
    assert asked


def test_content_removed_after_an_overflow_is_recalled_and_undone():
    session = opened(chat_history(60))
    view = session.view()
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    handle = next(iter(session.receipts[-1].recall))
    assert session.recall(handle).text
    session.undo()
    assert session.view() == view


def test_async_programs_handle_an_overflow_the_same():
    async def run():
        session = opened(chat_history(60))
        smaller = await session.aoverflowed("prompt is too long: 20000 tokens > 8000 maximum")
        assert smaller == await session.aview()
        with pytest.raises(ContextOverflow):
            await session.aoverflowed("prompt is too long: 9000 tokens > 8000 maximum")

    asyncio.run(run())


# --- the second time -----------------------------------------------------------------------


@pytest.mark.requirement("F54")
@pytest.mark.parametrize("wire", WIRES)
def test_a_second_overflow_ends_in_an_error_and_nothing_is_sent_again(wire, http):
    with ScriptedServer(default=TooLong(6_000, 9_000)) as server:
        session = opened(WIRES[wire](60), format=wire)
        send = sender(wire, server, http)
        smaller = session.overflowed(rejected(wire, send, session.view()))
        error = rejected(wire, send, smaller)
        with pytest.raises(ContextOverflow) as caught:
            session.overflowed(error)
        assert len(server.requests) == 2
        assert server.requests[1].tokens < server.requests[0].tokens
    assert caught.value.limit == (None if wire == "openai-responses" else 6_000)
    assert set(caught.value.breakdown) <= {"task", "latest", "unread", "other"}
    assert sum(caught.value.breakdown.values()) == session.tokens
    assert "tokens, is" in caught.value.hint


@pytest.mark.requirement("F54")
def test_a_loop_that_only_views_and_reports_terminates():
    with ScriptedServer(default=TooLong(6_000, 9_000)) as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0)
        session = opened(chat_history(60))

        def turn():
            while True:
                try:
                    return client.chat.completions.create(model="m", messages=session.view())
                except openai.BadRequestError as error:
                    session.overflowed(error)

        with client, pytest.raises(ContextOverflow):
            turn()
        assert len(server.requests) == 2


def test_an_output_limit_that_leaves_no_room_is_an_error_with_a_hint():
    words = "input length and `max_tokens` exceed context limit: 500 + 9000 > 8000, decrease"
    with pytest.raises(ContextOverflow, match="reserve less output"):
        opened(chat_history(2)).overflowed(words)


def test_the_error_keeps_the_error_of_the_provider():
    session = opened(chat_history(60))
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    error = RuntimeError("prompt is too long: 9000 tokens > 8000 maximum")
    with pytest.raises(ContextOverflow) as caught:
        session.overflowed(error)
    assert caught.value.__cause__ is error


def test_another_overflow_is_handled_after_the_next_append():
    session = opened(chat_history(60))
    session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")
    session.extend(chat_history(20))
    session.overflowed("prompt is too long: 9000 tokens > 4000 maximum")
    assert session.tokens < 4_000


@pytest.mark.requirement("F54")
def test_protected_messages_that_are_too_large_are_an_error_with_a_breakdown():
    session = opened(chat_history(30), system="You mend builds.")
    for number in range(60):
        remark = {"role": "user", "content": f"Remember that door {number} stays shut at night."}
        session.pin(session.append(remark))
        session.append({"role": "assistant", "content": "Noted."})
    session.append({"role": "user", "content": "Go on."})
    view = session.view()
    with pytest.raises(ContextOverflow) as caught:
        session.overflowed("prompt is too long: 40000 tokens > 800 maximum")
    error = caught.value
    assert list(error.breakdown)[:1] == ["pinned"]
    assert {"system and tools", "task", "latest"} <= set(error.breakdown)
    assert "other" not in error.breakdown
    assert "pinned messages" in str(error)
    assert error.limit == 800
    assert session.view() == view


def test_a_system_prompt_larger_than_the_window_is_an_error():
    session = opened(chat_history(3), system="You mend builds. " * 3_000)
    with pytest.raises(ContextOverflow) as caught:
        session.overflowed("prompt is too long: 9000 tokens > 4000 maximum")
    assert next(iter(caught.value.breakdown)) == "system and tools"


def test_an_overflow_of_an_empty_session_is_an_error():
    session = Session.open(None, "s", store=MemoryStore(), window=8_000)
    with pytest.raises(ContextOverflow, match="there are no messages"):
        session.overflowed("prompt is too long: 9000 tokens > 4000 maximum")


def test_a_hook_that_cancels_is_named():
    session = opened(chat_history(60), hooks=Hooks(before=lambda _: Cancel("not now")))
    with pytest.raises(ContextOverflow, match="not now"):
        session.overflowed("prompt is too long: 20000 tokens > 8000 maximum")


# --- other errors --------------------------------------------------------------------------


@pytest.mark.requirement("K33", "F55")
@pytest.mark.parametrize("step", [RateLimit(), Status(400), Status(500), Status(401)])
def test_another_exception_is_raised_again_and_changes_nothing(step, http):
    with ScriptedServer([step]) as server:
        session = opened(chat_history(60))
        view = session.view()
        with pytest.raises(openai.APIStatusError) as caught:
            sender("openai-chat", server, http)(view)
    with pytest.raises(openai.APIStatusError) as again:
        session.overflowed(caught.value)
    assert again.value is caught.value
    assert (session.view(), session.receipts) == (view, ())


def test_a_response_that_is_not_an_overflow_is_an_error():
    session = opened(chat_history(3))
    with pytest.raises(InputError, match="did not report"):
        session.overflowed({"choices": [{"finish_reason": "stop"}]})


@pytest.mark.requirement("K33")
def test_an_answer_that_took_more_than_the_window_is_an_overflow():
    session = opened(chat_history(60), window=30_000)
    answer = {"stop_reason": "end_turn", "usage": {"input_tokens": 31_000, "output_tokens": 4}}
    session.overflowed(answer)
    assert session.receipts[-1].reason.startswith("overflow")


@pytest.mark.requirement("C19")
def test_given_detectors_are_called_first():
    session = opened(chat_history(60))

    def own(failure):
        return DetectedOverflow("own", 8_000) if failure.text == "E4711" else None

    with pytest.raises(RuntimeError):
        session.overflowed(RuntimeError("E4711"))
    session.overflowed(RuntimeError("E4711"), detectors=(own,))
    assert session.budget.limit < 8_000


def test_a_context_overflow_is_raised_again():
    session = opened(chat_history(60))
    error = ContextOverflow("too long", breakdown={})
    with pytest.raises(ContextOverflow) as caught:
        session.overflowed(error)
    assert caught.value is error


def test_reported_usage_does_not_hide_an_overflow():
    session = opened(chat_history(30))
    session.append({"role": "assistant", "content": "Done."}, usage=Usage(100, 5))
    session.append({"role": "user", "content": "More."})
    session.overflowed("prompt is too long: 20000 tokens > 6000 maximum")
    assert session.tokens < 6_000


def refuse(*_, **__):
    raise ZeroDivisionError


METHODS = ("__str__", "__eq__", "__len__", "__getitem__", "__contains__", "lower", "encode")
Stubborn = type("Stubborn", (str,), {**dict.fromkeys(METHODS, refuse), "__hash__": refuse})


class Silent:
    def __getattr__(self, _):
        raise ZeroDivisionError


def test_objects_that_raise_are_read_as_plain_values_or_as_no_overflow():
    words = "prompt is too long: 250000 tokens > 200000 maximum"
    for said in (Stubborn(words), {"error": {"message": Stubborn(words), "code": Stubborn("x")}}):
        session = opened(chat_history(30))
        assert len(session.overflowed(said)) < len(session.messages)
    with pytest.raises(InputError, match="did not report"):
        opened(chat_history(2)).overflowed(Silent())
