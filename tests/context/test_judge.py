from __future__ import annotations

import pytest

from foldline.context import Context, ContextBuilder, judge
from foldline.core.asks import Ask, Reply

GOOD = (
    '{"relevance": 8, "completeness": 5.5, "density": 10, "missing": ["the owner"], '
    '"superfluous": []}'
)


@pytest.fixture
def context() -> Context:
    return ContextBuilder().build("Which port?")


@pytest.mark.requirement("E2.2")
@pytest.mark.parametrize("text", [GOOD, f"Here it is:\n```json\n{GOOD}\n```"])
def test_a_model_gives_a_second_opinion(context: Context, text: str):
    asked: list[Ask] = []

    def model(ask: Ask) -> Reply:
        asked.append(ask)
        return Reply(text, model="m")

    verdict = judge(context, model)
    assert (verdict.relevance, verdict.completeness, verdict.density) == (0.8, 0.55, 1.0)
    assert (verdict.missing, verdict.model, verdict.error) == (("the owner",), "m", "")
    assert context.text in asked[0].prompt


@pytest.mark.requirement("E2.2")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("It is fine."), "not a JSON"),
        (Reply("[1]"), "not a JSON"),
        (Reply("{" * 5_000), "not a JSON"),
        (Reply('{"relevance": 11, "completeness": 1, "density": 1}'), "from 0 to 10"),
        (Reply('{"relevance": NaN, "completeness": 1, "density": 1}'), "from 0 to 10"),
        (Reply('{"relevance": true, "completeness": 1, "density": 1}'), "from 0 to 10"),
        (Reply('{"relevance": 1}'), "missing"),
        (Reply(error="refused"), "refused"),
    ],
)
def test_a_malformed_answer_gives_an_error_and_no_marks(context: Context, reply: Reply, why: str):
    verdict = judge(context, lambda _: reply)
    assert why in verdict.error
    assert verdict.relevance is None


def test_the_named_items_are_bounded(context: Context):
    many = ", ".join('"' + "x" * 1_000 + '"' for _ in range(50))
    text = f'{{"relevance": 1, "completeness": 1, "density": 1, "missing": [{many}, 3]}}'
    verdict = judge(context, lambda _: text)
    assert len(verdict.missing) == 10
    assert {len(name) for name in verdict.missing} == {300}
