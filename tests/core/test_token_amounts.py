from __future__ import annotations

import pytest

from foldline.core.budget import Amount
from foldline.errors import BudgetError


@pytest.mark.parametrize(
    ("text", "tokens"), [("8000", 8_000), ("8k", 8_000), ("1.5M", 1_500_000), ("25 %", 500)]
)
def test_common_notations_of_an_amount_are_parsed(text: str, tokens: int) -> None:
    assert Amount.parse(text).of(2_000) == tokens


@pytest.mark.parametrize("text", ["", "ten", "0", "0%", "-1k", "9" * 40])
def test_malformed_and_empty_amounts_are_rejected(text: str) -> None:
    with pytest.raises(BudgetError):
        Amount.parse(text)


def test_a_share_without_a_total_is_rejected() -> None:
    with pytest.raises(BudgetError, match="8000 or 200k"):
        Amount.parse("50%", shares=False)
