"""Results of a measurement: consistent tables and plots, and goals."""

from __future__ import annotations

import math

import pytest

from foldline.errors import InputError
from foldline.evaluation.sections import Goal, ReportTable, Series

GOALS = (Goal("need at 5 %", 0.91, "", least=0.9), Goal("time", 70.0, "ms/MB", most=60.0))


def test_a_goal_is_met_within_its_bounds_and_never_by_nan():
    assert [goal.held for goal in GOALS] == [True, False]
    assert Goal("x", 5.0, "s", most=5.0, least=5.0).held
    assert not Goal("x", math.nan, "s", most=5.0).held


def test_a_row_of_another_width_is_refused_with_its_number():
    with pytest.raises(InputError, match="row 1 of the table 'T' has 1 cells for 2 columns"):
        ReportTable("T", ("a", "b"), ((1, 2), (3,)))


def test_an_interval_belongs_to_every_point_or_to_none():
    with pytest.raises(InputError, match="2 points, but intervals of 1 low"):
        Series("s", ((0, 1), (1, 2)), (0.5,), (1.5,))
