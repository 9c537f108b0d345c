from __future__ import annotations

import math

import pytest

from foldline.core.validation import check_name, positive, suggest_name, whole
from foldline.errors import BudgetError


@pytest.mark.parametrize("value", [-1, 1.0, True, "3", None, 10**13])
def test_a_value_that_is_not_a_whole_number_is_rejected_by_name(value):
    with pytest.raises(BudgetError, match=r"room\.margin must be a whole number"):
        whole("room.margin", value)
    whole("room.margin", 0)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, True, "0.5", None])
def test_a_value_that_is_not_a_fraction_is_rejected_by_name(value):
    with pytest.raises(BudgetError, match=r"tail\.fraction must be a number from 0 to 1"):
        positive("tail.fraction", value, 1.0)
    positive("tail.fraction", 1)


def test_a_mistyped_name_gets_a_suggestion():
    with pytest.raises(BudgetError, match=r"no policy 'defalt'.*Did you mean 'default'"):
        check_name("policy", "defalt", ("default", "clear"))
    assert suggest_name("zzz", ("default",)) == ""


def test_an_error_shows_only_the_beginning_of_a_huge_value():
    with pytest.raises(BudgetError) as caught:
        whole("x", "y" * 100_000)
    assert len(str(caught.value)) < 300
