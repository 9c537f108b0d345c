from importlib import util

import pytest

from foldline.errors import InputError
from foldline.tokens.choose import choose_counter, family_of


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "o200k"),
        ("gpt-4.1", "o200k"),
        ("gpt-5-codex", "o200k"),
        ("o3-mini", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("openai/gpt-4o:free", "o200k"),
        ("claude-sonnet-4-5", "claude"),
        ("us.anthropic.claude-opus-4-v1:0", "claude"),
        ("Anthropic/Claude-3.5-Haiku", "claude"),
        ("deepseek-chat", "deepseek"),
        ("Qwen/Qwen3-32B", "qwen"),
        ("meta-llama/Llama-2-7b-chat", "llama2"),
        ("microsoft/phi-4", "cl100k"),
        ("google/gemma-3-27b-it", "gemma"),
        ("mistral-large-latest", "mistral"),
        ("mistralai/Mistral-7B-Instruct-v0.1", "mistral1"),
        ("gemini-2.5-pro", None),
        ("somebody-elses-model", None),
        ("", None),
        (None, None),
    ],
)
def test_names_the_family_of_a_model(model: str | None, family: str | None) -> None:
    assert family_of(model) == family


def test_takes_the_real_vocabulary_when_it_is_installed() -> None:
    pytest.importorskip("splintr", reason="the extra 'tokens' is not installed")
    counter = choose_counter("gpt-4o")
    assert (counter.name, counter.exact, counter.count("Hello world!")) == (
        "splintr:o200k_base",
        True,
        3,
    )


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "somebody-elses-model", None])
def test_a_substitute_vocabulary_is_not_exact(model: str | None) -> None:
    assert not choose_counter(model).exact


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "google/gemini-3-flash"])
def test_gemini_is_estimated_as_gemma(model: str) -> None:
    counter = choose_counter(model)
    assert (counter.name, counter.exact) == ("estimate:gemma", False)


@pytest.mark.parametrize("prefer", [None, "splintr", "tiktoken", "estimate"])
def test_claude_is_estimated(prefer: str | None) -> None:
    counter = choose_counter("claude-sonnet-4-5", prefer=prefer)
    assert (counter.name, counter.exact) == ("estimate:claude", False)


def test_the_estimate_can_be_preferred() -> None:
    assert choose_counter("gpt-4o", prefer="estimate").name == "estimate:o200k"


def test_without_vocabularies_it_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline.tokens.splintr.find_spec", lambda _: None)
    monkeypatch.setattr("foldline.tokens.tiktoken.find_spec", lambda _: None)
    assert util.find_spec("foldline") is not None
    assert choose_counter("gpt-4o").name == "estimate:o200k"
    assert choose_counter("deepseek-chat", prefer="splintr").name == "estimate:deepseek"


def test_an_unknown_preference_is_rejected_by_name() -> None:
    with pytest.raises(InputError, match=r"prefer.*'magic'.*splintr, tiktoken, estimate"):
        choose_counter("gpt-4o", prefer="magic")
