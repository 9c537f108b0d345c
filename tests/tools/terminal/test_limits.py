"""The limits of one call."""

import pytest

from foldline.errors import BudgetError
from foldline.tools.terminal import TerminalLimits

pytestmark = pytest.mark.requirement("T7")


def test_limits_are_checked():
    assert TerminalLimits(seconds=2.5).resources()["cpu"] == 3
    for wrong in (
        {"seconds": -1},
        {"output": 0},
        {"memory": 1},
        {"visible_output": 1},
        {"processes": 1},
    ):
        with pytest.raises(BudgetError, match="terminal"):
            TerminalLimits(**wrong)
