from functools import lru_cache
from typing import Any

import pytest

from foldline.tokens.pieces import PIECE, pieces
from foldline.tokens.splintr import VOCABULARIES, SplintrCounter

splintr = pytest.importorskip("splintr", reason="the extra 'tokens' is not installed")
Tokenizer = splintr.Tokenizer


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


def test_name_and_exactness_describe_the_vocabulary() -> None:
    assert SplintrCounter("deepseek").name == "splintr:deepseek_v3"
    assert SplintrCounter("deepseek").exact
    assert not SplintrCounter("o200k", exact=False).exact


def test_available_lists_the_installed_families() -> None:
    assert SplintrCounter.available("o200k")
    assert not SplintrCounter.available("claude")
    with pytest.raises(KeyError):
        SplintrCounter("claude")


LONG = {
    "code": "".join(f"    value_{n} = call({n}, 'text')  # why/how\n" for n in range(4_000)),
    "one line": "".join(f'{{"id": {n}, "name": "row {n}"}}, ' for n in range(5_000)),
    "prose": "Words that a user said, with some\n\n\n  marks -- and /paths/to/files.\r\n" * 2_000,
    "chinese": "第一行的内容很长，没有空格。" * 6_000,
    "one letter": "a" * 100_000,
}


@lru_cache(maxsize=1)
def tokenizer(vocabulary: str) -> Any:
    """Return the tokenizer of a vocabulary; one of them takes half a second to load."""
    return Tokenizer.from_pretrained(vocabulary)


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("family", VOCABULARIES)
def test_a_long_text_counts_as_if_it_were_encoded_whole(family: str, text: str) -> None:
    if family in ("gemma", "llama2", "mistral1"):
        text = text[: PIECE + 5_000]  # a tenth of the speed of the others
    whole = len(tokenizer(VOCABULARIES[family]).encode_ordinary(text))
    cuts = sum(1 for _ in pieces((text,))) - 1
    assert abs(SplintrCounter(family).count(text) - whole) <= 4 * cuts


@pytest.mark.parametrize("text", [LONG["code"], LONG["one line"], LONG["prose"]])
def test_a_text_with_lines_or_words_counts_exactly(text: str) -> None:
    whole = len(tokenizer("o200k_base").encode_ordinary(text))
    assert SplintrCounter().count(text) == whole


@pytest.mark.parametrize("family", VOCABULARIES)
def test_short_texts_count_as_many_tokens_as_encoding_makes(family: str) -> None:
    encode = tokenizer(VOCABULARIES[family]).encode_ordinary
    counter = SplintrCounter(family)
    for text in (
        "",
        " ",
        "a",
        " a",
        "a b\n\n",
        "<s>",
        "<",
        "[INST] x",
        "</think>",
        "\t\n的",
        "👍",
    ):
        assert counter.count(text) == len(encode(text)), text
