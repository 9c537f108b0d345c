from __future__ import annotations

import pytest
from tests.growth import grows_linearly, repeated

from foldline import BudgetError, InputError, StoreError
from foldline.agents.maintainer import ExplorationBudget, Trail
from foldline.agents.maintainer.exploration import (
    ExplorationWatch,
    describe_exploration,
    next_probes,
    probe_tool,
    stop_reason,
)
from foldline.agents.maintainer.measures import ComplexityReport, Function
from foldline.agents.maintainer.survey import CodebaseSurvey, Spot

SURVEY = CodebaseSurvey(
    "/x",
    sizes={"app/orders.py": 400, "app/users.py": 100, "docs/a.md": 50},
    spots=(
        Spot("app/orders.py", 1.0, 400, 30, 3),
        Spot("app/users.py", 0.1, 100, 4, 1),
    ),
    complexity=ComplexityReport((Function("app/orders.py", "total", 9, 22, 40, 2),)),
)


def look(trail, path, text):
    return trail.after("read_file", {"path": path}, text)


@pytest.mark.requirement("E5.2")
def test_novelty_is_the_share_of_lines_that_were_not_seen():
    trail = look(Trail(), "a.py", "one\ntwo\n")
    trail = look(trail, "./b.py", "two\nthree\n\n")
    assert [one.novelty for one in trail.looks] == [1.0, 0.5]
    assert trail.files == {"a.py", "b.py"}
    assert trail.novelty(2) == 0.75
    assert Trail().novelty(3) == 1.0
    assert look(trail, "a.py", "").looks[-1].novelty == 0.0


@pytest.mark.requirement("E5.2")
def test_it_stops_without_novelty_or_tokens_and_not_before():
    budget = ExplorationBudget(tokens=1_000, window=3, novelty=0.2)
    trail = Trail()
    for n in range(3):
        trail = look(trail, "a.py", f"line {n}")
    assert stop_reason(trail, budget) == ""
    for _ in range(3):
        trail = look(trail, "a.py", "line 1")
    assert "only 0% of the last" in stop_reason(trail, budget)
    assert "are used" in stop_reason(look(Trail(), "b", "word " * 2_000), budget)
    assert "Stop exploring" in describe_exploration(SURVEY, trail, budget)


@pytest.mark.requirement("E5.2")
def test_the_next_probe_is_hot_unread_and_about_the_question():
    first, second = next_probes(SURVEY, Trail())
    assert (first.path, first.value) == ("app/orders.py", 1.0)
    assert "complexity 22" in first.why
    assert "30 commits" in first.why
    assert second.path == "app/users.py"
    assert next_probes(SURVEY, Trail(), "who are the users?")[0].path == "app/users.py"
    read = look(Trail(), "app/orders.py", "text")
    assert [one.path for one in next_probes(SURVEY, read)] == ["app/users.py"]
    assert "app/users.py (about 1,200 tokens)" in describe_exploration(
        SURVEY, read, ExplorationBudget()
    )


def test_with_no_file_left_it_concludes():
    assert "No promising file is left" in describe_exploration(
        CodebaseSurvey("/x"), Trail(), ExplorationBudget()
    )


def test_paths_in_commands_count_as_read():
    trail = Trail().after("terminal", {"command": "sed -n 1,9p app/orders.py | head"}, "x")
    assert trail.files == {"app/orders.py"}


@pytest.mark.parametrize("piece", ["a", "a/", "a.", ".py "])
def test_paths_in_commands_are_found_in_linear_time(piece):
    assert grows_linearly(
        lambda command: Trail().after("terminal", {"command": command}, "x"),
        repeated(piece), 2_000, 16_000,
    )  # fmt: skip


@pytest.mark.parametrize("wrong", [{"tokens": 0}, {"window": 0}, {"novelty": 2.0}])
def test_an_invalid_budget_is_refused(wrong):
    with pytest.raises(BudgetError):
        ExplorationBudget(**wrong)


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("no such folder"), "invalid_arguments"), (StoreError("gone"), "unavailable")],
)
def test_a_survey_that_cannot_be_made_is_an_answer_of_the_tool(error, code):
    def fail():
        raise error

    output = probe_tool(fail, ExplorationWatch(ExplorationBudget())).run({})
    assert output.code == code
    assert str(error) in output.text
