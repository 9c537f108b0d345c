from __future__ import annotations

import json

import pytest

from foldline.errors import FoldlineError, InputError
from foldline.models import Catalogue, ModelInfo, Prices, price
from foldline.values.messages import Usage


def find(name: str) -> ModelInfo:
    return Catalogue.load().find(name)


@pytest.mark.requirement("C14", "C23")
@pytest.mark.parametrize(
    ("name", "known", "window"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5", 200_000),
        ("sonnet-4-5", "claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-20250514", "claude-sonnet-4", 200_000),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", 200_000),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", 200_000),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet", 200_000),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", 1_000_000),
        ("gpt-4", "gpt-4", 8_192),
        ("gpt-4-0613", "gpt-4", 8_192),
        ("gpt-4.1", "gpt-4.1", 1_047_576),
        ("gpt-4-1106-preview", "gpt-4-turbo", 128_000),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini", 128_000),
        ("models/gemini-2.5-flash", "gemini-2.5-flash", 1_048_576),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-chat", 128_000),
        ("moonshotai/kimi-k2.6:free", "kimi-k2.6", 262_144),
        ("z-ai/glm-4.6", "glm-4.6", 200_000),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder", 262_144),
    ],
)
def test_a_model_is_found_by_all_its_names(name, known, window):
    info = find(name)
    assert (info.name, info.window, info.resolved) == (known, window, True)


@pytest.mark.requirement("C14", "C23")
@pytest.mark.parametrize(
    "name", ["claude-sonnet-4-9", "gpt-5.9", "gpt-6.3-sol", "my-model", "", "gpt", "claude", "🦙"]
)
def test_an_unknown_model_has_an_assumed_window_and_is_unresolved(name):
    info = find(name)
    assert (info.window, info.resolved, info.prices) == (128_000, False, None)


@pytest.mark.parametrize("name", ["x" * 100_000, "-" * 5_000, "a/" * 5_000, "\x00\n", "::::"])
def test_a_malformed_name_is_an_unknown_model(name):
    assert not find(name).resolved


def test_every_bundled_model_is_consistent():
    catalogue = Catalogue.load()
    assert catalogue.size > 100
    for info in catalogue.models.values():
        assert 0 < info.output <= info.window, info.name
        assert info.readable <= info.window
        assert info.provider in catalogue.providers
        assert info.as_of
        assert info.source
        assert info.tokens
        if info.light:
            assert catalogue.find(info.light).name == info.light, f"{info.name}: {info.light}"
        if info.prices:
            assert info.prices.input <= info.prices.output
            assert info.cache.read <= 1 <= info.cache.write
        if info.long:
            assert info.long.input > info.prices.input
            assert 0 < info.long_above < info.window or info.name.startswith("claude-sonnet-4")


@pytest.mark.requirement("K37")
def test_a_price_includes_cache_reads_and_writes():
    usage = Usage(input=1_000_000, output=100_000, cache_read=0, cache_write=0)
    assert price(find("claude-haiku-4-5"), usage) == pytest.approx(1.0 + 0.5)
    cached = Usage(input=0, output=0, cache_read=1_000_000, cache_write=1_000_000)
    assert price(find("claude-haiku-4-5"), cached) == pytest.approx(0.1 + 1.25)
    # Without a price for cache writes, they cost as much as fresh tokens.
    assert price(find("gpt-4o"), cached) == pytest.approx(1.25 + 2.5)
    assert price(find("unheard-of"), usage) is None


@pytest.mark.requirement("K37")
def test_a_long_request_has_the_long_price():
    short, long = Usage(input=272_000, output=1_000), Usage(input=272_001, output=1_000)
    info = find("gpt-5.4")
    assert price(info, short) == pytest.approx(0.272 * 2.5 + 0.015)
    assert price(info, long) == pytest.approx(0.272001 * 5 + 0.0225)
    read = Usage(input=1, output=0, cache_read=272_000)
    assert price(info, read) == pytest.approx((5 + 272_000 * 0.5) / 1_000_000)


def test_cache_factors_are_derived_from_prices():
    rules = find("claude-sonnet-4-5").cache
    assert (rules.kind, rules.seconds, rules.least) == ("explicit", 300, 1_024)
    assert (rules.write, rules.read) == (pytest.approx(1.25), pytest.approx(0.1))
    assert find("claude-opus-4-5").cache.least == 4_096
    assert find("gpt-4o").cache.kind == "automatic"
    assert find("gpt-4").cache.kind == "none"


def test_with_models_does_not_change_the_original_catalogue():
    first = Catalogue.load()
    own = ModelInfo("house-7b", window=32_000, output=4_000, prices=Prices(0.1, 0.2))
    second = first.with_models(own, aliases=["gpt-4"])
    assert second.find("house-7b-2026-01-01") is own
    assert second.find("gpt-4") is own
    assert first.find("house-7b").resolved is False
    assert first.find("gpt-4").window == 8_192


def test_custom_models_are_loaded_from_a_file(tmp_path, monkeypatch):
    path = tmp_path / "models.json"
    entry = {
        "name": "house-7b",
        "provider": "house",
        "aliases": ["gpt-4o"],
        "window": 32_000,
        "usd": {"in": 1, "out": 2},
        "source": "the house",
    }
    house = {"protocol": "openai-chat", "base_url": "http://llm.local/v1", "key": "HOUSE_KEY"}
    path.write_text(json.dumps({"providers": {"house": house}, "models": [entry]}))
    monkeypatch.setenv("FOLDLINE_MODELS", str(path))
    for catalogue in (Catalogue.load(), Catalogue.load(path)):
        assert catalogue.find("gpt-4o").name == "house-7b"
        assert catalogue.find("house-7b").source == "the house"
        assert catalogue.find("gpt-4o-mini").window == 128_000
        assert catalogue.providers["house"].base_url == "http://llm.local/v1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "models"),
        ('{"models": 3}', "models"),
        ('{"models": [3]}', r"models\[0\]"),
        ('{"models": [{"name": ""}]}', r"models\[0\]"),
        ('{"models": [{"name": "x"}]}', r"models\[0\].window"),
        ('{"models": [{"name": "x", "window": -1}]}', r"models\[0\].window"),
        ('{"models": [{"name": "x", "window": true}]}', r"models\[0\].window"),
        ('{"models": [{"name": "x", "window": 9, "usd": {"in": 1}}]}', r"usd.out"),
        ('{"models": [{"name": "x", "window": 9, "usd": {"in": NaN, "out": 1}}]}', r"usd.in"),
        ('{"models": [{"name": "x", "window": 9, "aliases": "y"}]}', r"aliases"),
        ('{"models": [{"name": "x", "window": 9, "cache": {"kind": "odd"}}]}', r"cache.kind"),
        ('{"models": [], "providers": []}', "providers"),
        ('{"models": [], "providers": {"a": {"key": 3}}}', "providers.a.key"),
    ],
)
def test_a_malformed_file_is_named_with_its_field(tmp_path, text, says):
    path = tmp_path / "models.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        Catalogue.load(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(FoldlineError, match=r"nowhere\.json"):
        Catalogue.load(tmp_path / "nowhere.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FoldlineError, match=r"binary\.json"):
        Catalogue.load(tmp_path / "binary.json")
