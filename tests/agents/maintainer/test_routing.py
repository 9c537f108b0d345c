from __future__ import annotations

from itertools import product

import pytest

from foldline import BudgetError
from foldline.agents.maintainer import route, routing
from foldline.agents.maintainer.routing import (
    AUTHORITIES,
    VOLATILITIES,
    StorageRoute,
)


@pytest.mark.requirement("E4.1")
def test_the_rule_is_total_and_is_the_table_that_is_documented():
    rows = [row.split("|")[1:-1] for row in (routing.__doc__ or "").splitlines() if "| t" in row]
    rows += [r.split("|")[1:-1] for r in (routing.__doc__ or "").splitlines() if "| a person" in r]
    words = {"terminal": "terminal", "memory": "memory", "note": "notes"}
    names = {"the workspace": "workspace", "a person": "person", "the agent": "agent"}
    seen = 0
    for row in (one for one in rows if one[0].strip() in names):
        for volatility, cell in zip(VOLATILITIES, row[1:], strict=True):
            home = route(names[row[0].strip()], volatility)
            assert home.layer == words[cell.replace(",", " ").split()[0]]
            seen += 1
    assert seen == len(list(product(AUTHORITIES, VOLATILITIES)))


@pytest.mark.requirement("E4.1")
def test_what_the_workspace_says_is_never_copied_and_what_lasts_is_a_note():
    assert all(route("workspace", one) == StorageRoute("terminal") for one in VOLATILITIES)
    assert route("person", "lasting") == StorageRoute("notes", level="project")
    assert route("agent", "lasting") == StorageRoute("notes", level="task")
    assert route("agent", "moment") == StorageRoute("memory", kind="working")


def test_other_words_are_named():
    with pytest.raises(BudgetError):
        route("somebody", "lasting")
    with pytest.raises(BudgetError):
        route("agent", "for ever")
