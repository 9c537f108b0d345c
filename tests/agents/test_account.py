import pytest

from foldline.agents.account import AgentLimits, AgentResult, Tally
from foldline.errors import BudgetError, InputError
from foldline.models import Completion
from foldline.tools import ToolOutput
from foldline.values.messages import Usage


def test_a_tally_adds_up_answers_calls_and_compactions():
    done = Completion(usage=Usage(100, 20, 50, 5), usd=0.25)
    tally = Tally().answered(done).answered(Completion())
    tally = tally.called(ToolOutput("", stats={"usd": 0.5})).called(ToolOutput("")).paid(0.25)
    assert tally == Tally(2, 2, 1.0, 1, 155, 20)
    assert Tally.from_dict(tally.at(3.5).to_dict()) == tally.at(3.5)


@pytest.mark.parametrize("stats", [{"usd": "x"}, {"usd": -5}, {"usd": None}, {}])
def test_a_tool_that_says_no_price_costs_nothing(stats):
    assert Tally().called(ToolOutput("", stats=stats)).usd == 0


@pytest.mark.parametrize(
    ("tally", "limits", "status"),
    [
        (Tally(steps=9), AgentLimits(steps=10), None),
        (Tally(steps=10), AgentLimits(steps=10), "steps"),
        (Tally(seconds=60.0), AgentLimits(seconds=60), "time"),
        (Tally(usd=0.9), AgentLimits(usd=1.0), None),
        (Tally(usd=1.0), AgentLimits(usd=1.0), "money"),
        (Tally(unpriced=1), AgentLimits(usd=1.0), "money"),
        (Tally(unpriced=1, usd=5.0), AgentLimits(), None),
    ],
)
def test_a_limit_is_reached_or_not(tally, limits, status):
    found = tally.beyond(limits)
    assert (found and found[0]) == status


@pytest.mark.parametrize(
    "numbers", [{"steps": 0}, {"seconds": -1}, {"usd": -0.1}, {"usd": "x"}, {"retries": -1}]
)
def test_limits_that_make_no_sense_are_errors(numbers):
    with pytest.raises(BudgetError, match=f"limits.{next(iter(numbers))}"):
        AgentLimits(**numbers)


@pytest.mark.parametrize("value", [None, 3, {"steps": "x"}, {"colour": 1}, {"steps": -1}])
def test_what_is_no_tally_is_not_read(value):
    with pytest.raises((InputError, BudgetError)):
        Tally.from_dict(value)


def test_a_result_says_how_it_ended_in_one_line():
    assert str(AgentResult("done", "All well.", Tally(2))) == (
        "done (2 steps, 0.0000 US dollars): All well."
    )
