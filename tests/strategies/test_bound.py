import pytest
from tests.neutral import COUNTER, T, U, log

from foldline.core.retention_settings import Outputs
from foldline.strategies.bound import bound
from foldline.values.messages import Message

LONG = "\n".join(f"line {n} of build/log.txt" for n in range(2_000))


def recorded(message, **rest):
    return bound(message, COUNTER, handle="abcdef", outputs=Outputs(**rest))


def test_an_output_above_the_hard_limit_is_cut_to_the_soft_one():
    (message,) = log(T("1", LONG))
    (edit,) = recorded(message, soft=500, hard=1_000)
    assert COUNTER.text(edit.text) <= 500
    assert edit.handle == "abcdef"
    assert edit.text.startswith("line 0")
    assert edit.text.endswith("line 1999 of build/log.txt")


def test_an_output_up_to_the_hard_limit_is_unchanged():
    (message,) = log(T("1", "x" * 4_000))
    assert recorded(message, soft=500, hard=1_000) == ()


@pytest.mark.parametrize("style", ["head", "tail", "head_tail", "salient"])
def test_an_output_of_few_tokens_and_many_lines_or_bytes_is_cut_as_well(style):
    blank = "\n" * 50_000 + "the end"
    (message,) = log(T("1", blank))
    for bounds in ({"lines": 40}, {"bytes": 1_000}):
        (edit,) = recorded(message, soft=10**6, hard=10**6, style=style, **bounds)
        assert edit.text.count("\n") <= bounds.get("lines", 10**6)
        assert len(edit.text) <= bounds.get("bytes", 10**6) + 100
        assert f"recall {edit.handle}" in edit.text
        assert edit.text.endswith("the end") is (style != "head")


def test_an_output_is_within_all_its_bounds_at_once():
    (message,) = log(T("1", LONG))
    (edit,) = recorded(message, soft=5_000, hard=6_000, lines=20, bytes=2_000)
    assert COUNTER.text(edit.text) <= 5_000
    assert edit.text.count("\n") <= 20
    assert len(edit.text) <= 2_100


def test_omitted_lines_with_a_failure_are_marked():
    lines = [*LONG.split("\n")[:60], "E   AssertionError: 1 != 2", "FAILED tests/test_a.py::test"]
    (message,) = log(T("1", "\n".join([*lines, *LONG.split("\n")[:60]])))
    (edit,) = recorded(message, lines=10)
    assert "lines left out; with failures; recall abcdef" in edit.text


def test_user_messages_are_never_cut_when_they_are_recorded():
    (message,) = log(U(LONG))
    assert recorded(message, soft=500, hard=1_000) == ()


def test_of_several_outputs_in_one_message_each_has_its_own_handle():
    parts = (*T("1", LONG).parts, *T("2", "ok").parts, *T("3", LONG).parts)
    (message,) = log(Message("tool", parts))
    edits = recorded(message, soft=500, hard=1_000)
    assert [(edit.part, edit.handle) for edit in edits] == [(0, "abcdef.0"), (2, "abcdef.2")]
