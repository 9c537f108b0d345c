"""Reasons of refusals, and how they quote model output."""

import pytest

from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

pytestmark = pytest.mark.requirement("T7")


def test_control_characters_are_escaped():
    assert visible("a\x1b[2J\u202eb\ud800\U000e0041") == "a\\u001b[2J\\u202eb\\ud800\\U000e0041"
    assert visible("x" * 9, 4) == "xxxx… (9 characters in all)"


def test_needs_approval_is_a_refusal_until_approved():
    beyond = NeedsApproval("cat reads /x.", "outside", "/x")
    assert isinstance(beyond, Refused)
    assert (beyond.risk, beyond.path, str(beyond)) == ("outside", "/x", "cat reads /x.")
    assert str(Refused("No variables.", "Write the value.")) == "No variables. Write the value."
