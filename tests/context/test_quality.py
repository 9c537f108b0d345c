from __future__ import annotations

import json
import string

import pytest

from foldline.context import ContextBuilder, ContextConfig, ContextPacket
from foldline.context.quality import SENTENCES, WEIGHTS, QualityReport, evaluate


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
    assert "No source mentions 'billing', 'port'" in told


@pytest.mark.requirement("E2.2")
def test_it_suggests_a_larger_budget():
    big = named("the owner is Ann " + "x y z " * 300, "people", 0.9)
    small = named("billing has an office", "office", 0.95)
    told = advice("billing owner", small, big, max_tokens=100, enable_compression=False)
    assert "'owner' is mentioned only in 'people', which was left out (room)" in told
    assert "raise max_tokens by about" in told


@pytest.mark.requirement("E2.2")
def test_it_reports_an_empty_context_and_a_failed_source():
    def broken(_: str) -> None:
        raise ConnectionError("refused")

    told = advice("billing", sources=(broken,))
    assert "The source broken returned nothing: ConnectionError: refused" in told
    assert "The context has only instructions and the question" in told


@pytest.mark.requirement("E2.2")
def test_the_advice_is_in_the_language_of_the_question():
    told = advice("计费服务的端口", named("午饭在十二点", "会议纪要", 0.15))
    assert "“会议纪要”占用" in told
    assert "没有任何来源谈到" in told


def test_both_languages_have_the_same_sentences_with_the_same_places():
    def places(sentence: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(sentence)} - {None}

    assert set(SENTENCES["en"]) == set(SENTENCES["zh"])
    for key, sentence in SENTENCES["en"].items():
        assert places(sentence) == places(SENTENCES["zh"][key]), key


FACT = ContextPacket("The billing port is 8443.", metadata={"title": "ports"})
NOISE = [
    ContextPacket(f"Minutes {n}: lunch was at noon and it rained.", relevance_score=0.6,
                  metadata={"title": f"minutes {n}"})
    for n in range(5)
]  # fmt: skip


def report(
    *packets: ContextPacket, query: str = "billing port?", **settings: object
) -> QualityReport:
    config = ContextConfig(**settings)  # type: ignore[arg-type]
    return ContextBuilder(config=config).build(query, custom_packets=packets).report


@pytest.mark.requirement("E2.2")
def test_a_context_that_answers_is_worth_more_than_one_that_does_not():
    good, diluted, empty = report(FACT), report(FACT, *NOISE), report()
    assert good.score > diluted.score > empty.score
    assert good.completeness.value == 1.0
    assert empty.score < 0.2


@pytest.mark.requirement("E2.2")
def test_the_score_is_the_weighted_sum_and_the_budget_is_split_by_section():
    found = report(FACT, *NOISE)
    weighed = (
        WEIGHTS["relevance"] * found.relevance.value
        + WEIGHTS["completeness"] * found.completeness.value
        + WEIGHTS["density"] * found.density.value
        + WEIGHTS["redundancy"] * (1 - found.redundancy.value)
    )
    assert found.score == pytest.approx(weighed)
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
    assert {use.place for use in found.budget} >= {"task", "context", "output"}
    assert all(use.share == use.tokens / found.max_tokens for use in found.budget)
    assert found.tokens <= found.max_tokens


def test_it_can_be_written_as_json():
    told = json.loads(json.dumps(report(FACT, *NOISE).to_dict(most=2)))
    assert len(told["relevance"]["findings"]) <= 2
    assert set(WEIGHTS) < set(told)


def test_it_is_the_same_every_time():
    context = ContextBuilder().build("billing port?", custom_packets=[FACT, *NOISE])
    again = evaluate(
        "billing port?",
        context.sections,
        context.left_out,
        tokens=context.tokens,
        max_tokens=3000,
    )
    assert again == context.report
