"""Reasons, and how they repeat what a model wrote."""

import pytest

from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

pytestmark = pytest.mark.requirement("T7")


def test_what_a_terminal_would_obey_is_spelled_out():
    assert visible("a\x1b[2J\u202eb\ud800\U000e0041") == "a\\u001b[2J\\u202eb\\ud800\\U000e0041"
    assert visible("x" * 9, 4) == "xxxx… (9 characters in all)"


def test_what_is_beyond_is_refused_until_somebody_says_yes():
    beyond = NeedsApproval("cat reads /x.", "outside", "/x")
    assert isinstance(beyond, Refused)
    assert (beyond.risk, beyond.path, str(beyond)) == ("outside", "/x", "cat reads /x.")
    assert str(Refused("No variables.", "Write the value.")) == "No variables. Write the value."
