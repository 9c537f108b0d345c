"""A section survives a round trip through JSON, and a malformed one is reported."""

from __future__ import annotations

import json
import math

import pytest

from foldline.errors import InputError
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from stored_section import read_section

SECTION = ReportSection(
    "retention",
    "What is kept",
    "At a cut in a session …",
    (ReportTable("Kept", ("library", "5 %"), (("Foldline", 0.9), ("none", None)), "fractions"),),
    (
        Plot(
            "kept",
            "Kept by budget",
            "lines",
            "budget (%)",
            "need",
            (Series("Foldline", ((5.0, 0.9), (10.0, 0.95)), (0.88, 0.93), (0.92, 0.97)),),
            log_x=True,
            goal=0.9,
        ),
        Plot("by", "By source", "bars", "", "need", (Series("a", ((0, 1.0),)),), ("pi",)),
    ),
    (Goal("need at 5 %", 0.91, "", least=0.9), Goal("time", 70.0, "ms/MB", most=60.0)),
)


def test_a_section_survives_a_round_trip_through_json():
    assert read_section(json.loads(json.dumps(SECTION.to_json()))) == SECTION


def test_a_figure_that_is_not_a_number_becomes_none_and_is_read_back():
    odd = ReportSection("s", "S", "", goals=(Goal("x", math.nan, "s", most=1.0),))
    wire = json.dumps(odd.to_json(), allow_nan=False)
    assert math.isnan(read_section(json.loads(wire)).goals[0].value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "a section must be a JSON object"),
        ({"name": "x"}, "no field 'title'"),
        ({"name": "x", "title": "X", "text": "", "tables": [1]}, "a table must be a JSON object"),
        ({"name": "x", "title": "X", "text": "", "goals": [{"value": "soon"}]}, "malformed"),
        (
            {"name": "x", "title": "X", "text": "", "plots": [{"series": [], "colour": 1}]},
            "malformed",
        ),
    ],
)
def test_an_invalid_section_is_refused_in_one_sentence(value, said):
    with pytest.raises(InputError, match=said):
        read_section(value)
