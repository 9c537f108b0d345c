from __future__ import annotations

import pytest

from foldline.core.budget import Amount
from foldline.errors import BudgetError


@pytest.mark.parametrize(
    ("text", "tokens"), [("8000", 8_000), ("8k", 8_000), ("1.5M", 1_500_000), ("25 %", 500)]
)
def test_an_amount_is_read_as_people_write_it(text: str, tokens: int) -> None:
    assert Amount.parse(text).of(2_000) == tokens


@pytest.mark.parametrize("text", ["", "ten", "0", "0%", "-1k", "9" * 40])
def test_what_leaves_no_room_or_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(BudgetError):
        Amount.parse(text)


def test_a_share_is_refused_where_there_is_nothing_to_share() -> None:
    with pytest.raises(BudgetError, match="8000 or 200k"):
        Amount.parse("50%", shares=False)
