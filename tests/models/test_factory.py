from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.models.conftest import KEY, address, say

from foldline.errors import InputError
from foldline.models import Catalogue, ModelInfo, light, model, summarizer
from foldline.models.catalogue import choose_summarizer
from foldline.testing import ScriptedServer

LOCAL = "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("name", "called", "dialect"),
    [
        ("anthropic:claude-haiku-4-5", "claude-haiku-4-5", "anthropic"),
        ("openai:gpt-5-mini", "gpt-5-mini", "openai-chat"),
        ("openai-chat:gpt-5-mini", "gpt-5-mini", "openai-chat"),
        ("openai-responses:gpt-5-mini", "gpt-5-mini", "openai-responses"),
        ("deepseek:deepseek-chat", "deepseek-chat", "openai-chat"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "anthropic"),
        ("gpt-4o", "gpt-4o", "openai-chat"),
        ("glm-4.6", "glm-4.6", "openai-chat"),
        ("openai:qwen2.5:7b", "qwen2.5:7b", "openai-chat"),
        ("qwen2.5:7b", "qwen2.5:7b", "openai-chat"),
        ("my/own-model", "my/own-model", "openai-chat"),
    ],
)
def test_a_name_gives_protocol_and_model(name, called, dialect):
    client = model(name, base_url=LOCAL)
    assert (client.name, client.dialect) == (called, dialect)


@pytest.mark.parametrize("name", ["my-model", "", ":", "openai:", "what:ever", "gpt-99"])
def test_the_provider_of_an_unknown_model_must_be_named(name):
    with pytest.raises(InputError, match="openai:NAME"):
        model(name)


@pytest.mark.parametrize("name", ["gpt-4o", "anthropic:claude-haiku-4-5", "kimi-k2.6"])
def test_without_a_key_the_variable_is_named(name):
    with pytest.raises(InputError, match="_API_KEY"):
        model(name)


def test_key_and_address_come_from_the_environment(monkeypatch):
    with ScriptedServer(default="ok") as server:
        for name in ("OPENAI", "ANTHROPIC"):
            whole = f"{name.lower()}:m"
            monkeypatch.setenv(f"{name}_BASE_URL", address(server, whole))
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
            with model(whole) as client:
                assert client.complete(say("x")).text == "ok"
        # A custom address may serve models that are not in the catalogue.
        with model("house-7b") as client:
            assert client.complete(say("x")).text == "ok"
        sent = [{key.lower() for key in request.headers} for request in server.requests]
        assert all("authorization" in keys or "x-api-key" in keys for keys in sent)


def test_arguments_override_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    with ScriptedServer(["ok"]) as server:
        with model("openai:m", base_url=server.openai_url, api_key="") as client:
            assert client.complete(say("x")).text == "ok"
        assert "authorization" not in {key.lower() for key in server.requests[0].headers}


def test_headers_of_a_gateway_are_sent_and_not_shown():
    with ScriptedServer(["ok"]) as server:
        client = model("openai:m", base_url=server.openai_url, headers={"X-Gateway": KEY})
        with client:
            assert client.complete(say("x")).text == "ok"
            assert KEY not in repr(client) + repr(vars(client))
        assert "x-gateway" in {key.lower() for key in server.requests[0].headers}


def test_a_custom_catalogue_may_name_a_provider(tmp_path, monkeypatch):
    path = tmp_path / "models.json"
    with ScriptedServer(["ok"]) as server:
        entry = {"name": "house-7b", "provider": "house", "window": 9_000}
        house = {"base_url": server.openai_url, "key": "HOUSE_KEY", "url": "HOUSE_URL"}
        path.write_text(json.dumps({"providers": {"house": house}, "models": [entry]}))
        own = Catalogue.load(path)
        with model("house-7b", catalogue=own) as client:
            assert (client.reader.window, client.complete(say("x")).text) == (9_000, "ok")


def test_the_catalogue_needs_no_network_library_and_the_package_none_at_all():
    code = (
        "import sys, foldline\n"
        "assert 'foldline.models' not in sys.modules\n"
        "from foldline.models import Catalogue, price, light\n"
        "Catalogue.load().find('gpt-4o')\n"
        "print(sorted({'httpx2', 'stamina', 'asyncio', 'ssl', 'socket'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


@pytest.mark.requirement("K36")
@pytest.mark.parametrize(
    ("model", "sibling"),
    [
        ("claude-opus-4-5-20251101", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5", "claude-haiku-4-5"),
        ("claude-haiku-4-5", "claude-haiku-4-5"),
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4", "gpt-4o-mini"),
        ("openai:gpt-5", "gpt-5-mini"),
        ("house-7b", "house-7b"),
    ],
)
def test_the_light_model_is_a_cheaper_sibling_or_the_same(model, sibling):
    assert light(model) == sibling


@pytest.mark.requirement("K36")
def test_a_light_model_that_cannot_read_the_history_is_not_chosen():
    own = Catalogue.load().with_models(
        ModelInfo("large", 1_000_000, 9_000, light="small"), ModelInfo("small", 100_000, 9_000)
    )
    chosen = choose_summarizer("light", "large", own)
    assert chosen.name == "large"
    assert "100,000" in chosen.reason
    # In several requests, 200,000 tokens are enough for a million.
    assert choose_summarizer("light", "claude-sonnet-4-6") == choose_summarizer(
        "claude-haiku-4-5", ""
    )


@pytest.mark.requirement("K36")
def test_a_named_model_is_chosen_with_a_warning_if_its_window_is_too_small():
    assert choose_summarizer("gpt-4o-mini", "gpt-4o") == choose_summarizer("gpt-4o-mini", "")
    small = choose_summarizer("openai:gpt-4", "gpt-4o")
    assert small.name == "openai:gpt-4"
    assert "8,192" in small.reason
    assert choose_summarizer("openai:unheard-of", "gpt-5").reason == ""


@pytest.mark.requirement("K36")
@pytest.mark.parametrize("which", ["same", "light"])
def test_a_choice_that_depends_on_the_agents_model_needs_its_name(which):
    with pytest.raises(InputError, match="model="):
        choose_summarizer(which, "")


@pytest.mark.requirement("K35", "K36")
def test_the_summarizer_is_a_client_of_the_chosen_model(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    assert summarizer("same", of="claude-opus-4-5").name == "claude-opus-4-5"
    assert summarizer("light", of="claude-opus-4-5").reader.name == "claude-sonnet-4-5"
    other = summarizer("openai:gpt-5-mini", of="claude-opus-4-5", attempts=1)
    assert (other.dialect, other.reader.window) == ("openai-chat", 272_000)


def test_a_custom_catalogue_decides(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    own = Catalogue.load().with_models(
        ModelInfo("house-70b", 64_000, 8_000, provider="openai", light="house-7b"),
        ModelInfo("house-7b", 64_000, 8_000, provider="openai"),
    )
    assert light("house-70b", own) == "house-7b"
    assert summarizer("light", of="house-70b", catalogue=own).name == "house-7b"
