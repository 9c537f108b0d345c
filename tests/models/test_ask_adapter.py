"""One Ask in plain text, over real sockets, in all three protocols."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic

import pytest
from tests.models.conftest import KEY, NAMES, client_of, seconds_to_cancel

from foldline.core.asks import Ask, Model, ModelLimits
from foldline.models import Catalogue, ModelInfo, Prices
from foldline.models.client import output_cap
from foldline.testing import ScriptedServer
from foldline.testing.scripted import (
    Answer,
    CallTool,
    Capped,
    CutOff,
    Malformed,
    Nothing,
    Overflow,
    RateLimit,
    Raw,
    Refuse,
    Stall,
    Status,
)
from foldline.values.messages import Usage

ANTHROPIC = NAMES[2]

ASK = Ask("What happened?", 500, system="Be brief.", seconds=20.0)


def caps(server: ScriptedServer) -> list[int]:
    """Return the caps of all requests, under any field name."""
    return [
        value
        for request in server.requests
        for key, value in request.body.items()
        if key in ("max_tokens", "max_completion_tokens", "max_output_tokens")
    ]


@pytest.mark.requirement("K35", "F42")
def test_an_ask_is_sent_as_plain_text_with_model_and_cap_and_no_tools(name):
    with ScriptedServer(["It rained."]) as server, client_of(server, name) as client:
        reply = client.answer(ASK)
        (request,) = server.requests
        assert server.violations == ()
    assert (reply.text, reply.error, reply.stop, reply.attempts) == ("It rained.", "", "end", 1)
    assert reply.model == client.reader.name == name.partition(":")[2]
    assert reply.usage.output > 0
    assert reply.usd == pytest.approx(client.reader.usd(reply.usage.input, reply.usage.output))
    assert request.body["model"] == client.name
    assert "tools" not in request.body
    assert "temperature" not in request.body
    assert caps(server) == [500]
    assert "What happened?" in str(request.body)
    assert "Be brief." in str(request.body)


@pytest.mark.requirement("K35")
def test_a_client_works_in_blocking_and_async_programs(name):
    async def awaited():
        async with client:
            return await client.aanswer(ASK)

    with ScriptedServer(["one", "two"]) as server, client_of(server, name) as client:
        assert isinstance(client, Model)
        assert client.answer(ASK).text == "one"
        assert asyncio.run(awaited()).text == "two"


@pytest.mark.requirement("C3")
@pytest.mark.parametrize(
    ("wanted", "window", "prompt", "cap"),
    [
        (20_000, 128_000, 10_000, 20_000),
        (20_000, 65_536, 45_537, 65_536 - 45_537 - 65_536 // 50),
        (20_000, 65_536, 70_000, 1),
        (20_000, 65_536, 64_475, 1),
        (20_000, 200_000, 60_000, 20_000),
    ],
)
def test_the_cap_is_clamped_to_the_remaining_window(wanted, window, prompt, cap):
    found = output_cap(wanted, ModelInfo("m", window, output=32_000), prompt)
    assert found == cap
    assert found == 1 or prompt + found < window


@pytest.mark.requirement("C3")
def test_the_cap_is_clamped_to_the_models_own(name):
    own = Catalogue.load().with_models(ModelInfo("small", 8_000, 1_000, provider="openai"))
    prefix = name.partition(":")[0]
    with ScriptedServer(default="ok") as server:
        with client_of(server, f"{prefix}:small", catalogue=own) as client:
            for words in (1, 7_400, 9_000):
                client.answer(Ask("word " * words, 5_000))
        sent = caps(server)
    assert sent[0] == 1_000
    assert 1 < sent[1] < 700
    assert sent[2] == 1


@pytest.mark.requirement("C3")
def test_a_model_that_always_thinks_gets_extra_room_for_it(name):
    prefix = name.partition(":")[0]
    with ScriptedServer(default="ok") as server:
        with client_of(server, f"{prefix}:gpt-5-mini") as client:
            client.answer(ASK)
            # The price quoted in advance is that of the whole request.
            assert client.reader.usd(0, 500) == pytest.approx(4_596 * 2 / 1_000_000)
        with client_of(server, f"{prefix}:gpt-5-mini", thinking=0) as client:
            client.answer(ASK)
        assert caps(server) == [4_596, 500]


@pytest.mark.requirement("F43", "C3")
def test_a_truncated_answer_has_the_stop_length(name):
    with ScriptedServer([Capped("It rai")]) as server, client_of(server, name) as client:
        reply = client.answer(ASK)
    assert (reply.text, reply.stop, reply.error) == ("It rai", "length", "")


@pytest.mark.requirement("F42", "K35")
@pytest.mark.parametrize(
    ("step", "stop", "says"),
    [
        (CallTool("read", {"path": "a"}), "tools", "tool"),
        (Answer("Let me see.", calls=(CallTool("read", {}),)), "tools", "tool"),
        (Refuse("I will not."), "refusal", "I will not."),
        (Answer("", stop="length"), "length", "cut off before it began"),
        (Nothing(), None, "empty"),
        (Nothing("null"), None, ""),
        (Nothing("blank"), None, "empty"),
        (Nothing("none"), None, ""),
        (Malformed(), None, "JSON"),
        (Raw(b"<html>busy</html>", type="text/html"), None, "JSON"),
        (Raw(b"[]"), None, "object"),
        (Raw(b"{}"), None, "holds no"),
        (Raw(b"[" * 200_000), None, "JSON"),
        (CutOff(0), None, "connection"),
        (CutOff(120), None, "connection"),
        (Overflow(limit=32_000), "overflow", ""),
        (Status(401, message="bad key"), None, "bad key"),
        (Status(404), None, "404"),
    ],
)
def test_a_missing_answer_gives_no_text_and_the_reason(name, step, stop, says):
    with ScriptedServer([step]) as server, client_of(server, name) as client:
        reply = client.answer(ASK)
    assert reply.text == ""
    assert says in reply.error
    assert reply.error
    assert stop in (None, reply.stop)


def test_a_window_that_fills_up_during_the_answer_is_an_overflow():
    """Only Anthropic has a stop reason for it; with OpenAI it looks like the cap."""
    step = Answer("It rai", stop="overflow")
    with ScriptedServer([step]) as server, client_of(server, ANTHROPIC) as client:
        reply = client.answer(ASK)
    assert (reply.text, reply.stop, reply.retry) == ("", "overflow", False)
    assert "full" in reply.error


def test_an_overflow_reports_the_real_limit_and_is_not_retried(name):
    with ScriptedServer([Overflow(limit=32_000)], default="no") as server:
        with client_of(server, name) as client:
            reply = client.answer(Ask("x", 10, attempts=3))
        assert len(server.requests) == 1
    assert (reply.stop, reply.retry, reply.attempts) == ("overflow", False, 1)
    assert reply.limit in (32_000, None)
    assert (reply.limit == 32_000) or name.startswith("openai-responses")


@pytest.mark.requirement("K33")
def test_a_rate_limit_is_not_an_overflow(name):
    with ScriptedServer([RateLimit(retry_after=0.0)]) as server, client_of(server, name) as client:
        reply = client.answer(ASK)
    assert (reply.stop, reply.retry, reply.limit) == ("unknown", True, None)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_transient_errors_are_retried_as_often_as_the_ask_allows(name, status, no_pauses):
    script = [Status(status), Status(status), "at last"]
    with ScriptedServer(script, default="no") as server, client_of(server, name) as client:
        reply = client.answer(Ask("x", 10, attempts=3))
    assert (reply.text, reply.attempts) == ("at last", 3)
    with ScriptedServer(script, default="no") as server, client_of(server, name) as client:
        reply = client.answer(Ask("x", 10, attempts=2))
        assert len(server.requests) == 2
    assert (reply.text, reply.attempts, reply.retry) == ("", 2, True)
    assert str(status) in reply.error


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_permanent_errors_are_returned_at_once(name, status, no_pauses):
    with ScriptedServer([Status(status)], default="no") as server:
        with client_of(server, name) as client:
            reply = client.answer(Ask("x", 10, attempts=5))
        assert len(server.requests) == 1
    assert (reply.retry, reply.attempts) == (False, 1)


def test_a_broken_connection_is_retried(name, no_pauses):
    with (
        ScriptedServer([CutOff(0), CutOff(200), "whole"]) as server,
        client_of(server, name) as client,
    ):
        reply = client.answer(Ask("x", 10, attempts=3))
    assert (reply.text, reply.attempts) == ("whole", 3)


def test_an_unreachable_server_is_a_transient_error(name):
    with ScriptedServer() as server:
        gone = server
    with client_of(gone, name) as client:
        reply = client.answer(Ask("x", 10, seconds=5.0))
    assert reply.retry
    assert "ConnectError" in reply.error


@pytest.mark.parametrize("after", [0, 30, 400])
def test_the_deadline_holds_at_every_stage_of_a_stalled_response(name, after):
    with ScriptedServer([Stall(30.0, after=after)]) as server, client_of(server, name) as client:
        began = monotonic()
        reply = client.answer(Ask("x", 10, seconds=0.4, attempts=3))
        assert monotonic() - began < 2.0
    assert (reply.text, reply.retry) == ("", True)
    assert "in time" in reply.error


def test_the_deadline_includes_pauses(name):
    with ScriptedServer(default=Status(503)) as server, client_of(server, name) as client:
        began = monotonic()
        reply = client.answer(Ask("x", 10, seconds=0.9, attempts=50))
        assert monotonic() - began < 1.6
        assert 1 <= len(server.requests) <= 3
    assert "503" in reply.error


def test_a_wait_requested_by_the_provider_is_respected(name):
    script = [Status(429, retry_after=0.3), "later"]
    with ScriptedServer(script) as server, client_of(server, name) as client:
        began = monotonic()
        reply = client.answer(Ask("x", 10, attempts=2))
        assert 0.3 <= monotonic() - began < 3.0
    assert reply.text == "later"


def test_a_wait_beyond_the_deadline_fails_at_once(name):
    script = [Status(429, retry_after=60.0)]
    with ScriptedServer(script) as server, client_of(server, name) as client:
        began = monotonic()
        reply = client.answer(Ask("x", 10, seconds=5.0, attempts=3))
        assert monotonic() - began < 1.5
    assert (reply.attempts, reply.retry) == (1, True)


@pytest.mark.parametrize("step", [Stall(30.0), Status(503)])
def test_cancelling_ends_a_request_and_a_pause_at_once(name, step):
    with ScriptedServer(default=step) as server, client_of(server, name) as client:
        asking = client.aanswer(Ask("x", 10, attempts=9))
        assert asyncio.run(seconds_to_cancel(client, server, asking)) < 0.25
        assert len(server.requests) == 1


def test_usage_and_price_include_cache_reads(name):
    used = Usage(input=100, output=50, cache_read=900)
    with ScriptedServer([Answer("ok", usage=used)]) as server, client_of(server, name) as client:
        reply = client.answer(ASK)
        info = client.info
    assert reply.usage == used
    paid = 100 * info.prices.input + 50 * info.prices.output + 900 * info.prices.cache_read
    assert reply.usd == pytest.approx(paid / 1_000_000)


def test_the_price_of_an_unknown_model_is_none():
    with ScriptedServer(["ok"]) as server, client_of(server, "openai:house-7b") as client:
        assert client.answer(ASK).usd is None
        assert client.reader.usd(10, 10) is None
        assert client.reader == client.reader
        assert client.reader.window == 128_000


@pytest.mark.requirement("K37")
def test_the_reader_prices_long_requests_as_long():
    info = ModelInfo("m", 1_000_000, prices=Prices(1, 10), long=Prices(2, 20), long_above=100_000)
    own = Catalogue.load().with_models(info)
    with ScriptedServer() as server, client_of(server, "openai:m", catalogue=own) as client:
        reader = client.reader
    assert isinstance(reader, ModelLimits)
    assert reader.usd(100_000, 1_000) == pytest.approx(0.1 + 0.01)
    assert reader.usd(200_000, 1_000) == pytest.approx(0.4 + 0.02)


def test_the_key_is_sent_and_never_shown(name, caplog, no_pauses):
    caplog.set_level("DEBUG")
    steps = [Status(500, message=f"echo {KEY}"), Status(401, message=f"bad {KEY}"), "ok"]
    with ScriptedServer(steps) as server, client_of(server, name) as client:
        shown = [repr(client), str(vars(client)), repr(client.answer(Ask("x", 9, attempts=2)))]
        shown.append(repr(client.answer(ASK)))
        names = {key.lower() for key in server.requests[0].headers}
    assert names & {"authorization", "x-api-key"}
    assert KEY not in "".join(shown) + caplog.text


def test_without_an_attempt_nothing_is_sent(name):
    with ScriptedServer() as server, client_of(server, name) as client:
        reply = client.answer(Ask("x", 10, attempts=0))
        assert server.requests == ()
    assert (reply.text, reply.retry, reply.attempts) == ("", False, 0)


def test_a_lone_surrogate_in_the_prompt_is_sent_safely(name):
    with ScriptedServer(["ok"]) as server, client_of(server, name) as client:
        assert client.answer(Ask("a \ud800 b \x00 c", 10)).text == "ok"
        assert server.violations == ()


def test_one_client_answers_many_threads(name):
    found: list[str] = []
    with ScriptedServer(default="ok") as server, client_of(server, name) as client:
        threads = [
            threading.Thread(target=lambda: found.append(client.answer(ASK).text), daemon=True)
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert found == ["ok"] * 16
