from __future__ import annotations

import pytest

from foldline.core.retention_settings import STYLES, Clearing, Outputs, Tail
from foldline.errors import BudgetError


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tail(fraction=1.5), r"tail\.fraction"),
        (lambda: Tail(newest=-1), r"tail\.newest"),
        (lambda: Clearing(keep=-1), r"clearing\.keep"),
        (lambda: Clearing(only="read"), r"clearing\.only is a tuple"),
        (lambda: Clearing(never=(1,)), r"clearing\.never is a tuple"),
        (lambda: Clearing(only=("Read",), never=("read",)), "'read' is in clearing.only and"),
        (lambda: Clearing(gain_fraction=2), r"clearing\.gain_fraction"),
        (lambda: Outputs(soft=30_000), r"outputs\.soft \(30,000\) is larger"),
        (lambda: Outputs(soft=5), r"outputs\.soft must be a whole number from 100 on"),
        (lambda: Outputs(lines=0), r"outputs\.lines must be a whole number from 10 on"),
        (lambda: Outputs(bytes=1), r"outputs\.bytes must be a whole number from 1000 on"),
        (lambda: Outputs(style="heads"), "no style 'heads'.*Did you mean 'head'"),
    ],
)
def test_invalid_settings_are_errors_that_name_them(make, words):
    with pytest.raises(BudgetError, match=words):
        make()


@pytest.mark.requirement("C12")
def test_no_recent_result_at_all_may_be_kept():
    assert Clearing(keep=0).keep == 0


def test_the_styles_are_those_that_a_cut_knows():
    from typing import get_args

    from foldline.snapshot.excerpt import Style

    assert get_args(Style) == STYLES
