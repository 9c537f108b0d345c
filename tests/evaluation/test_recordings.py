"""Files are measured whole, and reported in tables, plots and goals."""

from __future__ import annotations

import dataclasses
import json

import pytest
from tests.evaluation.sample import scores, session

from foldline.core.config import Config
from foldline.engine.policies import policy
from foldline.errors import BudgetError, InputError
from foldline.evaluation import findings
from foldline.evaluation.findings import details, library_plot, overview, source_plot
from foldline.evaluation.methods import policy_method, trimming
from foldline.evaluation.retention import MeasurementPlan, Replays, measure_file
from foldline.models.info import Prices

LADDER = policy("default")
PLAN = MeasurementPlan((policy_method(LADDER), trimming()), {"10%": lambda tokens: tokens // 10})
REPLAYS = Replays((LADDER,), 16_000, Config())
PRICES = Prices(3.0, 15.0, 3.75, 0.3)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("sessions") / "session.json"
    path.write_text(json.dumps(session()), encoding="utf-8")
    return measure_file(path, PLAN, REPLAYS)


def test_a_file_is_cut_compacted_and_replayed(measured):
    assert len(measured.observations) == 6
    assert measured.source == "wire"
    assert set(measured.bills) == {"no compaction", "clear at every step", "Foldline default"}


def test_without_replays_there_is_no_price(measured):
    assert measure_file(measured.path, PLAN, None).bills == {}


def test_an_invalid_session_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2]")
    with pytest.raises(InputError):
        measure_file(tmp_path / "x.json", PLAN, None)


def test_a_window_that_is_too_small_for_any_agent_is_refused():
    with pytest.raises(BudgetError, match="window of 10 tokens"):
        dataclasses.replace(REPLAYS, window=10)


def test_the_price_is_of_every_file_and_a_share_of_no_compaction(measured):
    section = findings.price([measured, measured], PRICES, "some-model", 16_000)
    assert section is not None
    rows = {row[0]: row for row in section.tables[0].rows}
    assert rows["no compaction"][2] == "100%"
    assert rows["Foldline default"][5] == "0 of 122"
    assert findings.price([], PRICES, "some-model", 16_000) is None


def test_validity_is_a_goal_and_names_broken_promises(measured):
    held = findings.validity(measured.observations)
    assert held.goals[0].held
    broken = [
        dataclasses.replace(one, made=dataclasses.replace(one.made, broken="PAIR: only the call."))
        for one in measured.observations
    ]
    told = findings.validity(broken)
    assert not told.goals[0].held
    assert told.goals[0].value == 3
    assert "PAIR: only the call." in told.text


def test_speed_is_reported_for_every_method(measured):
    rows = findings.speed(measured.observations).tables[0].rows
    assert [row[0] for row in rows] == ["Foldline default", "trim to the tail"]
    assert all(row[3] > 0 for row in rows)


def test_retention_is_reported_by_method_budget_and_source():
    section = findings.retention(scores(), "Foldline")
    assert "3 cuts through 3 sessions" in section.text
    table = section.tables[0]
    assert table.columns == ("history cut to", "5%", "10%")
    assert [row[0] for row in table.rows] == ["Foldline", "trim"]
    assert table.rows[0][2] == "0.890 (0.880–0.900)"
    assert section.tables[2].rows[0][:3] == ("5%", "agent0", 2)
    assert [plot.name for plot in section.plots] == ["kept", "kept-by-source"]


def test_a_measure_that_is_missing_leaves_a_gap_and_no_error():
    some = [score for score in scores() if (score.method, score.goal) != ("trim", "5%")]
    assert overview(some, "T").rows[1][1] is None
    assert len(details(some).rows) == 3


def test_plots_have_the_best_method_on_top_and_an_interval_for_every_bar():
    plot = library_plot(list(reversed(scores())), "kept", "Kept")
    assert plot.labels == ("Foldline", "trim")
    assert [series.name for series in plot.series] == ["cut to 10%", "cut to 5%"]
    assert source_plot(scores(), "by", "By").labels == ("agent0", "agent1")
    for series in plot.series:
        assert all(
            low <= y <= high
            for (_, y), low, high in zip(series.points, series.low, series.high, strict=True)
        )
