from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.integrations import agents
from tests.integrations.sdk_loops import SDKS, aasker, asker
from tests.integrations.summarizing import is_for_summary, one_model

from foldline import ContextOverflow, InputError, Session
from foldline.core.asks import Ask
from foldline.integrations.loop import as_async_summarizer, as_summarizer, read_answer, send
from foldline.stores.memory import MemoryStore
from foldline.testing import ScriptedServer
from foldline.testing.scripted import (
    Answer,
    CallTool,
    Nothing,
    Overflow,
    ReceivedRequest,
    Status,
)
from foldline.tools import Toolbox, recall_tool, tool_from_function

sdks = pytest.mark.parametrize("name", SDKS)


OUTPUT = [
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "A."}],
    }
]


@contextmanager
def calling(name: str, server: ScriptedServer) -> Iterator[Callable[[list[Any]], Any]]:
    """Yield a function that sends messages with an SDK."""
    with SDKS[name].client(server) as client:
        yield SDKS[name].call(client, SDKS[name].tools)


def opened(name: str, **options: Any) -> Session:
    options = {"store": MemoryStore(), "window": agents.WINDOW} | options
    return Session.open(None, "loop", **SDKS[name].opened(**options))


@sdks
@pytest.mark.requirement("K38", "H8")
def test_a_plain_loop_passes_the_threshold_repeatedly_and_loses_nothing(name):
    session = opened(name)
    with (
        ScriptedServer(agents.model, window=agents.WINDOW) as server,
        calling(name, server) as call,
    ):
        said = agents.run(asker(SDKS[name], session, call), turns=30)
    compacted = [r for r in session.receipts if r.status == "compacted"]
    assert len(compacted) >= 3
    assert server.violations == () == server.errors
    agents.check_requests(server.requests)
    agents.check_words(said, agents.words(session.messages))


@sdks
def test_an_async_loop_behaves_the_same(name):
    sdk, session = SDKS[name], opened(name)

    async def main() -> list[str]:
        async with sdk.aclient(server) as client:
            return await agents.arun(aasker(sdk, session, sdk.call(client, sdk.tools)), turns=17)

    with ScriptedServer(agents.model, window=agents.WINDOW) as server:
        said = asyncio.run(main())
    agents.check_words(said, agents.words(session.messages))
    assert server.violations == ()
    assert any(receipt.status == "compacted" for receipt in session.receipts)


@sdks
@pytest.mark.requirement("K41")
def test_an_answer_is_appended_with_its_usage(name):
    sdk, session = SDKS[name], opened(name)
    tool = CallTool("read_file", {"path": "a", "deep": None})
    with ScriptedServer([Answer("I look.", (tool,))]) as server, calling(name, server) as call:
        session.append({"role": "user", "content": "Check a."})
        answer = send(session, call)
    text, [(number, _)] = sdk.read(answer)
    assert text == "I look." == "".join(m.text for m in session.messages[1:])
    (called,) = [call for message in session.messages for call in message.calls]
    assert called.id == number
    assert json.loads(called.arguments) == {"path": "a", "deep": None}
    usage = next(m.usage for m in reversed(session.messages) if m.usage)
    assert usage.total == server.requests[0].tokens + usage.output


@sdks
@pytest.mark.parametrize("kind", ["empty", "blank", "none"])
def test_an_empty_answer_is_returned_and_not_appended(name, kind):
    sdk, session = SDKS[name], opened(name)
    session.append({"role": "user", "content": "Hello?"})
    with (
        ScriptedServer([Nothing(kind), "Here I am."]) as server,
        calling(name, server) as call,
    ):
        send(session, call)
        assert [message.role for message in session.messages] == ["user"]
        assert sdk.read(send(session, call))[0] == "Here I am."
    assert server.violations == ()


@sdks
@pytest.mark.requirement("J7")
def test_a_failed_call_leaves_the_session_unchanged(name):
    session = opened(name)
    session.append({"role": "user", "content": "Hello?"})
    with ScriptedServer([Status(500), "Now."]) as server, calling(name, server) as call:
        with pytest.raises(Exception, match="500"):
            send(session, call)
        before = session.messages
        send(session, call)
    assert session.messages[: len(before)] == before
    assert server.requests[0].messages == server.requests[1].messages


@sdks
@pytest.mark.requirement("J7")
def test_an_overflow_is_retried_once_and_then_a_typed_error(name):
    session = opened(name, window=16_000)
    faults: list[Any] = []
    with (
        ScriptedServer(lambda r: faults.pop() if faults else agents.model(r)) as server,
        calling(name, server) as call,
    ):
        ask = asker(SDKS[name], session, call)
        agents.run(ask, turns=8)
        faults += [Overflow()]
        assert ask(agents.question(8)) == agents.answer(8)
        faults += [Overflow(), Overflow()]
        before = len(server.requests)
        with pytest.raises(ContextOverflow) as raised:
            ask(agents.question(9))
    first, second = server.requests[before:]
    assert second.tokens < first.tokens
    assert raised.value.breakdown


@pytest.mark.parametrize(
    ("answer", "usage"),
    [
        (
            {
                "choices": [{"message": {"role": "assistant", "content": "Yes."}}],
                "usage": {
                    "prompt_tokens": 100,
                    "completion_tokens": 7,
                    "prompt_tokens_details": {"cached_tokens": 60},
                },
            },
            (40, 7, 60, 0),
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Yes."}],
                "usage": {
                    "input_tokens": 40,
                    "output_tokens": 7,
                    "cache_read_input_tokens": 60,
                    "cache_creation_input_tokens": 5,
                },
            },
            (40, 7, 60, 5),
        ),
        ({"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "usage": 7}, None),
    ],
)
def test_an_answer_is_read_from_its_json_too(answer, usage):
    said = read_answer(answer)
    told = said.usage and (
        said.usage.input,
        said.usage.output,
        said.usage.cache_read,
        said.usage.cache_write,
    )
    assert told == usage
    assert len(said.messages) == 1


@pytest.mark.parametrize("answer", [None, "Yes.", {}, {"choices": 3}, object(), []])
def test_an_unknown_answer_is_rejected_with_a_hint(answer):
    with pytest.raises(InputError, match=r"messages\.create"):
        read_answer(answer)


# --- summaries -----------------------------------------------------------------------------


def check_accounts(server: ScriptedServer) -> None:
    requests = [request for request in server.requests if not is_for_summary(request)]
    assert len(requests) < len(server.requests)
    assert any(agents.ACCOUNT in request.text for request in requests)
    assert server.violations == () == server.errors


@sdks
def test_the_model_of_a_loop_writes_the_summaries_itself(name):
    with (
        ScriptedServer(one_model, window=agents.WINDOW) as server,
        calling(name, server) as call,
    ):
        session = opened(name, summarizer=as_summarizer(call))
        agents.run(asker(SDKS[name], session, call), turns=20)
    check_accounts(server)


@sdks
def test_the_model_of_an_async_loop_writes_the_summaries_itself(name):
    sdk = SDKS[name]

    async def main() -> None:
        async with sdk.aclient(server) as client:
            call = sdk.call(client, sdk.tools)
            session = opened(name, summarizer=as_async_summarizer(call))
            await agents.arun(aasker(sdk, session, call), turns=20)

    with ScriptedServer(one_model, window=agents.WINDOW) as server:
        asyncio.run(main())
    check_accounts(server)


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "A."}, "finish_reason": "stop"}
                ]
            },
            "end",
        ),
        (
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "A."}, "finish_reason": "length"}
                ]
            },
            "length",
        ),
        (
            {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": "A."},
                        "finish_reason": "incomplete",
                    }
                ]
            },
            "length",
        ),
        ({"status": "completed", "output": OUTPUT}, "end"),
        ({"status": "incomplete", "output": OUTPUT}, "length"),
        ({"status": "length", "output": OUTPUT}, "length"),
        ({"role": "assistant", "content": [{"type": "text", "text": "A."}]}, "end"),
        (
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "A."}],
                "stop_reason": "max_tokens",
            },
            "length",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "A."},
                    {"type": "tool_use", "id": "t", "name": "read", "input": {}},
                ],
            },
            "tools",
        ),
    ],
)
def test_the_answer_of_a_loop_has_a_stop_reason(answer, stop):
    seen: list[Any] = []

    def call(messages: list[Any]) -> Any:
        seen.extend(messages)
        return answer

    reply = as_summarizer(call)(Ask("What happened?", 100, "The rules."))
    assert (reply.text, reply.stop) == ("A.", stop)
    assert seen == [{"role": "user", "content": "The rules.\n\nWhat happened?"}]


def test_the_model_of_a_plain_loop_recalls_what_was_removed():
    def remembering(request: ReceivedRequest) -> Any:
        if request.last == "What was the third?":
            handle = re.search(r"anything by ([0-9a-f]{6,})", request.text)
            return CallTool(
                "recall", {"handle": handle[1] if handle else "", "query": "turn 003 ticket"}
            )
        if request.transcript.messages[-1].results and "recall" in str(
            request.transcript.messages[-2].calls
        ):
            return Answer(f"I read: {request.last}")
        return agents.model(request)

    session = opened("chat")
    tools = Toolbox([tool_from_function(agents.read_file), recall_tool(session)])
    schemas = tools.schemas("openai-chat")
    session.surround(tools=schemas)
    sdk = SDKS["chat"]

    def ask(text: str) -> str:
        session.append({"role": "user", "content": text})
        while True:
            message = send(session, sdk.call(client, schemas)).choices[0].message
            for called in message.tool_calls or []:
                output = tools.run(called.function.name, called.function.arguments)
                session.append({"role": "tool", "tool_call_id": called.id, "content": output.text})
            if not message.tool_calls:
                return str(message.content)

    with ScriptedServer(remembering, window=agents.WINDOW) as server, sdk.client(server) as client:
        said = agents.run(ask, turns=14)
        recalled = ask("What was the third?")
    assert any(receipt.status == "compacted" for receipt in session.receipts)
    assert server.violations == ()
    agents.check_words([*said, "What was the third?"], agents.words(session.messages))
    assert recalled.startswith("I read: ")
    assert "ORD-0023757" in recalled
