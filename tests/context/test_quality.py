from __future__ import annotations

import json

import pytest

from foldline.context import ContextBuilder, ContextConfig, ContextPacket
from foldline.context.quality import WEIGHTS, Report, evaluate

FACT = ContextPacket("The billing port is 8443.", metadata={"title": "ports"})
NOISE = [
    ContextPacket(f"Minutes {n}: lunch was at noon and it rained.", relevance_score=0.6,
                  metadata={"title": f"minutes {n}"})
    for n in range(5)
]  # fmt: skip


def report(*packets: ContextPacket, query: str = "billing port?", **settings: object) -> Report:
    config = ContextConfig(**settings)  # type: ignore[arg-type]
    return ContextBuilder(config=config).build(query, custom_packets=packets).report


@pytest.mark.requirement("E2.2")
def test_a_context_that_answers_is_worth_more_than_one_that_does_not():
    good, diluted, empty = report(FACT), report(FACT, *NOISE), report()
    assert good.score > diluted.score > empty.score
    assert good.completeness.value == 1.0
    assert empty.score < 0.2


@pytest.mark.requirement("E2.2")
def test_the_score_is_the_weighted_sum_and_the_budget_is_told_by_section():
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
