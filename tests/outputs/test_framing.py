"""What an output is framed by."""

from foldline.outputs.condensed import Condensed
from foldline.outputs.condensing import FAILURE, FIRST, LAST, SUMMARY, weigh_frame

LINES = tuple(f"line {n}" for n in range(40))


def test_the_first_and_the_last_line_stay():
    worth = weigh_frame(Condensed("plain", LINES))
    assert worth[0] == FIRST
    assert worth[39] == LAST
    assert set(worth) == {0, 1, 38, 39}


def test_what_is_told_about_an_output_is_not_its_end():
    worth = weigh_frame(Condensed("log", (*LINES, "[9 lines like: line 3]"), notes=1))
    assert worth[39] == LAST
    assert 40 not in worth


def test_failures_and_summaries_stay():
    lines = (*LINES, "ERROR: lost", *LINES, "== 1 failed in 2s ==")
    worth = weigh_frame(Condensed("plain", lines))
    assert worth[40] == FAILURE
    assert worth[81] >= SUMMARY


def test_what_a_kind_judged_higher_is_not_lowered():
    assert weigh_frame(Condensed("table", LINES, {0: 1.0}))[0] == 1.0
    assert weigh_frame(Condensed("plain", ())) == {}
