from __future__ import annotations

import pytest

from foldline.context import Case, ContextBuilder, ContextConfig, ContextPacket, compare
from foldline.context.comparison import recall, sign_test
from foldline.errors import InputError

CASES = [
    Case(
        f"Which port has service{n}?",
        packets=(
            ContextPacket(f"The port of service{n} is {8000 + n}."),
            ContextPacket(f"Minutes {n}: it rained. " * 40, relevance_score=0.2),
        ),
        facts=(f"is {8000 + n}",),
    )
    for n in range(8)
]


def builder(**settings: object) -> ContextBuilder:
    return ContextBuilder(config=ContextConfig(**settings))  # type: ignore[arg-type]


def test_the_better_of_two_builders_is_reported_with_its_probability():
    result = compare(CASES, builder(), builder(min_relevance=0.3), ("loose", "strict"))
    row = result.row("relevance")
    assert (row.better, row.worse, row.verdict) == (8, 0, "better")
    assert row.chance == pytest.approx(2 / 2**8)
    assert result.row("recall").verdict == "same"
    assert result.row("tokens").verdict == "better"
    table = result.table()
    assert table.startswith("| | loose | strict |")
    assert "| relevance |" in table


def test_the_same_way_twice_is_the_same():
    result = compare(CASES, builder(), builder())
    assert {r.verdict for r in result.rows if r.figure != "milliseconds"} == {"same"}


def test_cases_that_cannot_be_built_are_counted():
    result = compare(CASES, builder(), builder(max_tokens=5))
    assert result.failed == (0, 8)
    assert result.rows == ()


def test_nothing_to_compare_is_an_error():
    with pytest.raises(InputError, match="no case"):
        compare([], builder(), builder())
    with pytest.raises(InputError, match="no figure"):
        compare(CASES[:1], builder(), builder()).row("beauty")


def test_recall_ignores_case_width_and_line_breaks():
    assert recall("The  Port\nis ８４４３", ["port is 8443"]) == 1.0
    assert recall("nothing", ["a", "nothing"]) == 0.5
    assert recall("x", []) == 1.0


def test_the_sign_test_is_that_of_the_books():
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 5) == 1.0
    assert sign_test(0, 6) == pytest.approx(0.03125)
    assert sign_test(9, 1) == pytest.approx(0.021484375)
