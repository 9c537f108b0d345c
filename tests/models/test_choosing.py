from __future__ import annotations

import pytest

from foldline.errors import InputError
from foldline.models import Catalogue, ModelInfo, light, summarizer
from foldline.models.choosing import choose


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
def test_a_light_model_that_cannot_read_the_history_is_not_taken():
    own = Catalogue.load().with_models(
        ModelInfo("large", 1_000_000, 9_000, light="small"), ModelInfo("small", 100_000, 9_000)
    )
    chosen = choose("light", "large", own)
    assert chosen.name == "large"
    assert "100,000" in chosen.reason
    # In several requests, 200,000 tokens are enough for a million.
    assert choose("light", "claude-sonnet-4-6") == choose("claude-haiku-4-5", "")


@pytest.mark.requirement("K36")
def test_a_model_that_was_named_is_taken_and_what_it_cannot_read_is_said():
    assert choose("gpt-4o-mini", "gpt-4o") == choose("gpt-4o-mini", "")
    small = choose("openai:gpt-4", "gpt-4o")
    assert small.name == "openai:gpt-4"
    assert "8,192" in small.reason
    assert choose("openai:unheard-of", "gpt-5").reason == ""


@pytest.mark.requirement("K36")
@pytest.mark.parametrize("which", ["same", "light"])
def test_what_depends_on_the_agents_model_needs_its_name(which):
    with pytest.raises(InputError, match="model="):
        choose(which, "")


@pytest.mark.requirement("K35", "K36")
def test_the_summarizer_is_a_client_of_the_chosen_model(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    assert summarizer("same", of="claude-opus-4-5").name == "claude-opus-4-5"
    assert summarizer("light", of="claude-opus-4-5").reader.name == "claude-sonnet-4-5"
    other = summarizer("openai:gpt-5-mini", of="claude-opus-4-5", attempts=1)
    assert (other.dialect, other.reader.window) == ("openai-chat", 272_000)


def test_ones_own_catalogue_decides(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    own = Catalogue.load().with_models(
        ModelInfo("house-70b", 64_000, 8_000, provider="openai", light="house-7b"),
        ModelInfo("house-7b", 64_000, 8_000, provider="openai"),
    )
    assert light("house-70b", own) == "house-7b"
    assert summarizer("light", of="house-70b", catalogue=own).name == "house-7b"
