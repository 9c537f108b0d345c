import pytest

from foldline.counters.splintr import VOCABULARIES, SplintrCounter

pytest.importorskip("splintr", reason="the extra 'tokens' is not installed")


@pytest.mark.parametrize(
    ("family", "text", "tokens"),
    [
        ("o200k", "Hello world!", 3),
        ("o200k", "你好", 1),
        ("cl100k", "tiktoken is great!", 6),
        ("cl100k", "antidisestablishmentarianism", 6),
        ("cl100k", "2 + 2 = 4", 7),
        ("cl100k", "お誕生日おめでとう", 9),
        ("qwen", "12345", 5),
    ],
)
def test_counts_as_published(family: str, text: str, tokens: int) -> None:
    assert SplintrCounter(family).count(text) == tokens


@pytest.mark.parametrize("family", VOCABULARIES)
def test_adds_nothing_around_the_text(family: str) -> None:
    counter = SplintrCounter(family)
    assert counter.count("") == 0
    assert counter.count("hello") <= 2


@pytest.mark.parametrize("family", VOCABULARIES)
def test_special_token_text_counts_as_characters(family: str) -> None:
    counter = SplintrCounter(family)
    assert counter.count("<|endoftext|><|im_start|>") > 8


def test_lone_surrogates_count_as_replacement_characters() -> None:
    counter = SplintrCounter()
    assert counter.count("a\ud800b") == counter.count("a\ufffdb")


def test_says_what_counts_and_whether_it_is_the_models_own() -> None:
    assert SplintrCounter("deepseek").name == "splintr:deepseek_v3"
    assert SplintrCounter("deepseek").exact
    assert not SplintrCounter("o200k", exact=False).exact


def test_knows_which_families_it_has() -> None:
    assert SplintrCounter.available("o200k")
    assert not SplintrCounter.available("claude")
    with pytest.raises(KeyError):
        SplintrCounter("claude")
