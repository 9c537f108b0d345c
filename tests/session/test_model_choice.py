"""A session with the name of a model: its window and its summarizer."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

import foldline
from foldline.core.asks import Ask
from foldline.core.budget import Room
from foldline.core.config import Config
from foldline.errors import FoldlineError
from foldline.models import model
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, Status

TURNS = [
    {"role": role, "content": f"{role} {n}: the file src/part_{n}.py has {n} errors. " * 12}
    for n in range(40)
    for role in ("user", "assistant")
]


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.delenv("FOLDLINE_MODELS", raising=False)


@pytest.fixture
def server(monkeypatch):
    with ScriptedServer(default="The errors in src/part_1.py were counted.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def opened(tmp_path, **options) -> foldline.Session:
    return foldline.Session.open(tmp_path / "a.db", "s", **options)


@pytest.mark.requirement("C14", "C23")
@pytest.mark.parametrize(
    ("model", "options", "scale"),
    [
        ("claude-sonnet-4-5", {}, 200_000 - 16_384 - 4_000),
        ("gpt-4", {}, 8_192 - 1_024 - 163),
        # The request may take less than the window less the answer.
        ("gpt-5", {}, 272_000 - 4_096),
        # No more is reserved than the model can write.
        ("claude-3-opus", {}, 200_000 - 4_096 - 4_000),
        ("claude-sonnet-4-5", {"window": 50_000}, 50_000 - 6_250 - 1_000),
        ("claude-sonnet-4-5", {"output": 1_000}, 200_000 - 1_000 - 4_000),
        (
            "claude-sonnet-4-5",
            {"config": Config(room=Room(window=100_000))},
            100_000 - 12_500 - 2_000,
        ),
        ("house-7b", {}, 128_000 - 16_000 - 2_560),
    ],
)
def test_the_window_comes_from_the_caller_then_the_model_then_a_default(
    tmp_path, model, options, scale
):
    with opened(tmp_path, model=model, **options) as session:
        assert session.budget.scale == scale
        assert session.budget.resolved is (model != "house-7b")
    # The model given at creation counts when the session is opened again.
    if not options:
        with opened(tmp_path) as session:
            assert session.budget.scale == scale


@pytest.mark.requirement("C23")
def test_an_assumed_window_is_reported_in_the_receipt(tmp_path):
    with opened(tmp_path, model="house-7b") as session:
        session.extend(TURNS)
        assert "128,000 tokens are assumed" in " ".join(session.compact(force=True).warnings)
    assert "128,000" in " ".join(foldline.compact(TURNS).receipt.warnings)
    for known in ({"model": "gpt-4o"}, {"window": 9_000}, {"budget": 2_000}):
        assert foldline.compact(TURNS, **known).receipt.warnings == ()


@pytest.mark.requirement("C14")
def test_compact_takes_the_window_of_a_model():
    small = foldline.compact(TURNS, model="gpt-4")
    assert small.receipt.budget == 8_192 - 1_024 - 163
    assert small.receipt.status == "compacted"
    assert foldline.compact(TURNS, model="gpt-4o").receipt.status == "unchanged"


@pytest.mark.requirement("K35", "K36")
@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("same", "claude-sonnet-4-5"),
        ("light", "claude-haiku-4-5"),
        ("openai:gpt-4o-mini", "gpt-4o-mini"),
        ("openai-responses:gpt-4o-mini", "gpt-4o-mini"),
    ],
)
def test_a_named_model_summarizes(tmp_path, server, named, asked):
    with opened(tmp_path, model="claude-sonnet-4-5", summarizer=named) as session:
        session.extend(TURNS)
        receipt = session.compact(3_000)
        assert "src/part_1.py were counted" in str(session.view())
    assert receipt.status == "compacted"
    assert {request.body["model"] for request in server.requests} == {asked}
    assert all("tools" not in request.body for request in server.requests)
    assert server.violations == ()
    assert receipt.spent.model == asked
    assert receipt.spent.usd > 0


@pytest.mark.requirement("K36")
def test_the_configuration_names_the_summarizer_where_the_call_does_not(tmp_path, server):
    config = Config(summarizer="light")
    with opened(tmp_path, model="claude-sonnet-4-5", config=config) as session:
        session.extend(TURNS)
        assert session.compact(3_000).spent.model == "claude-haiku-4-5"
    told = foldline.compact(TURNS, budget=3_000, model="gpt-4o", config=config)
    assert told.receipt.spent.model == "gpt-4o-mini"


def test_a_named_model_summarizes_in_async_programs(tmp_path, server):
    async def work():
        session = opened(tmp_path, model="gpt-4o", summarizer="same")
        async with session:
            await session.aextend(TURNS)
            return await session.acompact(3_000)

    assert asyncio.run(work()).spent.model == "gpt-4o"


@pytest.mark.requirement("F42", "F43")
@pytest.mark.parametrize(
    "step",
    [
        CallTool("read", {"path": "x"}),
        Answer("", stop="length"),
        Status(401),
        Status(400),
    ],
)
def test_an_unusable_answer_leaves_a_snapshot_without_an_account(monkeypatch, step):
    with ScriptedServer(default=step) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        result = foldline.compact(TURNS, budget=3_000, summarizer="openai:gpt-4o-mini")
        assert server.requests
    assert result.receipt.status == "compacted"
    assert result.receipt.tokens_after <= 3_000
    assert "part_" in str(result.messages)


def test_an_unreachable_model_is_an_error_on_opening(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(FoldlineError, match="OPENAI_API_KEY"):
        opened(tmp_path, model="gpt-4o", summarizer="same")
    with pytest.raises(FoldlineError, match="model="):
        foldline.Session.open(tmp_path / "b.db", "t", summarizer="light")
    with pytest.raises(FoldlineError, match="OPENAI_API_KEY"):
        foldline.compact(TURNS, budget=3_000, summarizer="openai:gpt-4o")
    with opened(tmp_path) as session:
        assert session.messages == ()


def test_a_given_summarizer_is_called_and_left_open(tmp_path, server):
    with model("openai:gpt-4o-mini") as client:
        with opened(tmp_path, summarizer=client) as session:
            session.extend(TURNS)
            assert session.compact(3_000).spent.model == "gpt-4o-mini"
        assert client.answer(Ask("Still there?", 10)).text


def test_the_clients_of_a_session_are_closed_with_it(tmp_path, server):
    with opened(tmp_path, model="gpt-4o", summarizer="same") as session:
        session.extend(TURNS)
        session.compact(3_000)
        client = session._state.settings.owned_client
        assert client is not None
        assert client._sender.transport._pools
    assert not client._sender.transport._pools


def test_without_a_named_summarizer_no_network_is_loaded(tmp_path):
    code = (
        "import sys, foldline\n"
        f"session = foldline.Session.open({str(tmp_path / 'a.db')!r}, 's', model='gpt-4o')\n"
        "session.append({'role': 'user', 'content': 'hello'})\n"
        "session.view()\n"
        "print(sorted({'httpx2', 'stamina'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")
