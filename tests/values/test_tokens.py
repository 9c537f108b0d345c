import pytest
from tests.neutral import A, Quarters, T, U, c

from foldline.tokens.estimate import EstimatedCounter
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.values.tokens import CACHE_ENTRIES, CALL_TOKENS, MESSAGE_TOKENS, TokenCounter


class Counting(Quarters):
    def __init__(self):
        self.texts = []

    def count(self, text):
        self.texts.append(text)
        return super().count(text)


def test_a_message_costs_its_texts_and_their_overhead():
    counter = TokenCounter(Quarters())
    assert counter.message(U("abcdefgh")) == MESSAGE_TOKENS + 2
    assert counter.message(A(c("1", "abcd", "{}"))) == MESSAGE_TOKENS + CALL_TOKENS + 2
    assert counter.message(T("1", "abcd")) == MESSAGE_TOKENS + CALL_TOKENS + 1
    assert counter.messages([U("abcd"), U("abcd")]) == 2 * (MESSAGE_TOKENS + 1)


def test_omitted_parts_cost_nothing():
    counter = TokenCounter(Quarters())
    assert counter.message(Message("assistant", (Omitted("reasoning"),))) == 0
    assert counter.part(Omitted("clear")) == 0


@pytest.mark.requirement("K9")
def test_a_long_text_is_counted_once():
    texts = Counting()
    counter = TokenCounter(texts)
    assert counter.text("x" * 100) == counter.text("x" * 100)
    assert len(texts.texts) == 1


@pytest.mark.requirement("K9", "H6")
def test_the_cache_of_counts_is_bounded():
    counter = TokenCounter(Quarters())
    for number in range(CACHE_ENTRIES + 10):
        counter.text(f"{number:030d}")
    assert len(counter._seen) <= CACHE_ENTRIES


def test_a_correction_learned_from_usage_scales_every_text():
    counter = TokenCounter(Quarters(), ratio=2.0)
    assert counter.text("abcdefgh") == 4
    assert counter.name == "quarters×2.00"
    assert TokenCounter(Quarters()).name == "quarters"


def test_signatures_cost_nothing_and_visible_reasoning_does():
    counter = TokenCounter(Quarters())
    assert counter.part(Thinking("abcd", signed=True, raw={"signature": "x" * 8_000})) == 1
    assert counter.part(Thinking("", signed=True, raw={"data": "x" * 50_000})) == 0


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "media",
    [
        Media("image", "image/png", size=1_000_000),
        Media("image", "image/png", size=1_000_000, width=1024, height=768),
        Media("document", "application/pdf", size=1_000_000, pages=3),
        Media("audio", "audio/wav", size=100_000),
    ],
)
def test_media_cost_their_size_in_pixels_not_in_bytes(provider, media):
    counter = TokenCounter(Quarters(), provider=provider)
    result = ToolResult("1", (Text("see"), media))
    assert 80 <= counter.part(media) <= 6_000
    assert counter.part(result) == CALL_TOKENS + 1 + counter.part(media)


def test_unknown_parts_are_counted_by_their_text():
    assert TokenCounter(Quarters()).part(Opaque("new_thing", "abcd")) == 1


@pytest.mark.requirement("K7")
def test_system_prompt_and_tools_are_overhead():
    counter = TokenCounter(Quarters())
    tools = [{"name": "run", "description": "x" * 400}]
    assert counter.overhead("", []) == 0
    assert counter.overhead("abcd", []) == MESSAGE_TOKENS + 1
    assert counter.overhead("", tools) > 100


HARD = [
    *("<|endoftext|>", "\ud800", "\x00"),
    *("👩‍👩‍👧‍👦" * 100, "汉字" * 5_000, "a" * 100_000, " " * 8_000),
]


@pytest.mark.parametrize("text", HARD, ids=["special", "surrogate", "nul", "zwj", "cjk", "a", " "])
def test_no_text_is_an_error(text):
    counter = TokenCounter(EstimatedCounter("o200k"))
    assert counter.text(text) > 0
    assert counter.part(ToolCall(None, text, text)) >= 2 * counter.text(text)
