from __future__ import annotations

import string

import pytest

from foldline.context import ContextBuilder, ContextConfig, ContextPacket
from foldline.context.advice import SENTENCES


def advice(query: str, *packets: ContextPacket, sources: tuple = (), **settings: object) -> str:
    builder = ContextBuilder(config=ContextConfig(**settings), sources=sources)  # type: ignore[arg-type]
    return "\n".join(builder.build(query, custom_packets=packets).report.advice)


def named(text: str, title: str, score: float | None = None) -> ContextPacket:
    return ContextPacket(text, relevance_score=score, metadata={"title": title})  # type: ignore[arg-type]


@pytest.mark.requirement("E2.2")
def test_it_names_the_packet_and_the_cure():
    told = advice("billing port", named("lunch at noon " * 20, "minutes", 0.15))
    assert "'minutes' takes" in told
    assert "raise min_relevance" in told
    assert "No source speaks of 'billing', 'port'" in told


@pytest.mark.requirement("E2.2")
def test_it_says_what_a_larger_budget_would_bring():
    big = named("the owner is Ann " + "x y z " * 300, "people", 0.9)
    small = named("billing has an office", "office", 0.95)
    told = advice("billing owner", small, big, max_tokens=100, enable_compression=False)
    assert "'owner' is spoken of only in 'people', which was left out (room)" in told
    assert "raise max_tokens by about" in told


@pytest.mark.requirement("E2.2")
def test_it_says_when_nothing_is_in_and_when_a_source_failed():
    def broken(_: str) -> None:
        raise ConnectionError("refused")

    told = advice("billing", sources=(broken,))
    assert "The source broken gave nothing: ConnectionError: refused" in told
    assert "Nothing but instructions and the question is in" in told


@pytest.mark.requirement("E2.2")
def test_it_speaks_the_language_of_the_question():
    told = advice("计费服务的端口", named("午饭在十二点", "会议纪要", 0.15))
    assert "“会议纪要”占用" in told
    assert "没有任何来源谈到" in told


def test_both_languages_have_the_same_sentences_with_the_same_places():
    def places(sentence: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(sentence)} - {None}

    assert set(SENTENCES["en"]) == set(SENTENCES["zh"])
    for key, sentence in SENTENCES["en"].items():
        assert places(sentence) == places(SENTENCES["zh"][key]), key
