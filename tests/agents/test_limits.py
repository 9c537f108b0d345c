import pytest

from foldline.agents.limits import AgentLimits, AgentResult, AgentSpending
from foldline.errors import BudgetError, InputError
from foldline.models import Completion
from foldline.tools import ToolOutput
from foldline.values.messages import Usage


def test_spending_adds_up_answers_and_calls():
    done = Completion(usage=Usage(100, 20, 50, 5), usd=0.25)
    spending = AgentSpending().with_answer(done).with_answer(Completion())
    spending = spending.with_call(ToolOutput("", stats={"usd": 0.5})).with_call(ToolOutput(""))
    assert spending == AgentSpending(2, 2, 0.75, 1, 155, 20)
    assert AgentSpending.from_dict(spending.to_dict()) == spending


@pytest.mark.parametrize("stats", [{"usd": "x"}, {"usd": -5}, {"usd": None}, {}])
def test_a_tool_without_a_price_costs_nothing(stats):
    assert AgentSpending().with_call(ToolOutput("", stats=stats)).usd == 0


@pytest.mark.parametrize(
    ("spending", "limits", "status"),
    [
        (AgentSpending(steps=9), AgentLimits(steps=10), None),
        (AgentSpending(steps=10), AgentLimits(steps=10), "steps"),
        (AgentSpending(seconds=60.0), AgentLimits(seconds=60), "time"),
        (AgentSpending(usd=0.9), AgentLimits(usd=1.0), None),
        (AgentSpending(usd=1.0), AgentLimits(usd=1.0), "money"),
        (AgentSpending(unpriced=1), AgentLimits(usd=1.0), "money"),
        (AgentSpending(unpriced=1, usd=5.0), AgentLimits(), None),
    ],
)
def test_a_limit_is_reached_or_not(spending, limits, status):
    found = spending.limit_reached(limits)
    assert (found and found[0]) == status


@pytest.mark.parametrize(
    "numbers", [{"steps": 0}, {"seconds": -1}, {"usd": -0.1}, {"usd": "x"}, {"retries": -1}]
)
def test_invalid_limits_are_errors(numbers):
    with pytest.raises(BudgetError, match=f"limits.{next(iter(numbers))}"):
        AgentLimits(**numbers)


@pytest.mark.parametrize("value", [None, 3, {"steps": "x"}, {"colour": 1}, {"steps": -1}])
def test_invalid_spending_is_refused(value):
    with pytest.raises((InputError, BudgetError)):
        AgentSpending.from_dict(value)


def test_a_result_is_summarized_in_one_line():
    assert str(AgentResult("done", "All well.", AgentSpending(2))) == (
        "done (2 steps, 0.0000 US dollars): All well."
    )
