"""Excerpts; the rows O-6 to O-14 of published suites, where they fit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import COUNTER

from foldline.outputs.verdict import failing_note, is_failure
from foldline.relevance.alarms import is_alarm
from foldline.snapshot.excerpt import MARKER_TOKENS, excerpt, marker, paragraphs
from foldline.snapshot.query import Query
from foldline.testing.histories import KINDS, sample
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

STYLES = ("head", "tail", "head_tail", "salient")
LINES = [f"line {n} of the output" for n in range(1_000)]
LOG = "\n".join(LINES)


def cut(text, tokens, style="head_tail", **rest):
    return excerpt(text, tokens, COUNTER, handle="abcdef", style=style, **rest)


@pytest.mark.parametrize("style", STYLES)
def test_a_text_that_is_short_enough_stays_as_it_is(style):
    assert cut("short", 100, style) == "short"


@pytest.mark.parametrize("style", STYLES)
def test_an_excerpt_names_its_handle_and_how_much_there_is(style):
    short = cut(LOG, 500, style)
    assert "recall abcdef" in short
    assert "tokens" in short


def test_the_style_says_which_end_is_kept():
    head, tail = cut(LOG, 300, "head"), cut(LOG, 300, "tail")
    assert head.startswith(LINES[0])
    assert LINES[-1] not in head
    assert tail.endswith(LINES[-1])
    assert LINES[0] not in tail
    both = cut(LOG, 300)
    assert both.startswith(LINES[0])
    assert both.endswith(LINES[-1])


def test_it_is_cut_between_lines():
    assert set(cut(LOG, 400).split("\n")) - set(LINES) == {
        line for line in cut(LOG, 400).split("\n") if "recall" in line
    }


def test_what_went_wrong_is_kept_from_the_middle():
    lines = [*LINES[:500], "ConnectionError: peer reset in net/pool.py", *LINES[500:]]
    assert "ConnectionError" in cut("\n".join(lines), 400, "salient")
    assert all("ConnectionError" in cut("\n".join(lines), 400, style) for style in STYLES)


@pytest.mark.requirement("H7")
def test_a_single_endless_line_is_cut_inside():
    short = cut("x" * 1_000_000, 200)
    assert COUNTER.text(short) <= 200
    assert short.startswith("xxx")


@pytest.mark.parametrize("tokens", [1, 5, 20, MARKER_TOKENS])
def test_where_nothing_fits_the_bare_marker_is_left(tokens):
    assert cut(LOG, tokens) == marker("abcdef", COUNTER.text(LOG), 1_000)


REAL = TokenCounter(EstimatedCounter("o200k"))


@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 400),
    st.integers(1, 600),
    st.sampled_from(STYLES),
)
def test_an_excerpt_never_takes_more_than_its_tokens_nor_more_than_the_text(
    kind, lines, tokens, style
):
    text = sample(kind, lines)
    short = excerpt(text, tokens, REAL, handle="abcdef", style=style)
    bare = marker("abcdef", REAL.text(text), text.count("\n") + 1, failing_note(text, ()))
    assert REAL.text(short) <= max(tokens, REAL.text(bare))
    short.encode("utf-8")


@pytest.mark.parametrize("line", ["Error: x", "2 tests FAILED", "Traceback (most", "发生错误"])
def test_alarms_are_recognised(line):
    assert is_alarm(line)
    assert not is_alarm("all is well")


ORDERS = [{"id": f"W{4000 + n}", "name": f"customer {n}", "total": n * 1.1} for n in range(400)]


def test_an_output_that_fits_in_a_shorter_form_is_kept_whole():
    text = json.dumps(ORDERS)
    short = cut(text, COUNTER.text(text) * 3 // 4, "salient")
    assert "written shorter; recall abcdef" in short
    assert all(order["id"] in short for order in ORDERS)


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_the_row_that_is_asked_for_is_quoted_as_it_was_written(layout):
    asked = Query.in_words("What does order W4217 cost?")
    text = json.dumps(ORDERS, **layout)
    tokens = COUNTER.text(text) // 10
    short = excerpt(text, tokens, COUNTER, handle="abcdef", query=asked)
    assert json.dumps(ORDERS[217]).replace(" ", "") in short.replace(" ", "")
    assert COUNTER.text(short) <= tokens


@given(
    st.lists(st.sampled_from([*LINES[:40], "ok 3 tests", "x" * 300]), min_size=1, max_size=200),
    st.sampled_from(
        [
            "FAILED tests/test_a.py::test_b - AssertionError",
            "error: no such file",
            "数据库连接失败",
        ]
    ),
    st.integers(0, 200),
    st.integers(1, 400),
    st.sampled_from(STYLES),
)
def test_what_failed_never_looks_as_if_it_had_passed(lines, failure, place, tokens, style):
    text = "\n".join((*lines[:place], failure, *lines[place:]))
    short = cut(text, tokens, style)
    assert any(map(is_failure, short.split("\n"))) or ", with failures" in short


def test_the_last_item_of_a_list_stays_with_those_before_it():
    items = [f"- `load_{n}` must never be called because it fails in part {n}" for n in range(8)]
    last = "- and the rest of it"
    others = [f"Of the words in part {n}, some are in the next one." for n in range(40)]
    text = "\n\n".join(["The task.", *others[:20], "\n".join([*items, last]), *others[20:]])
    room = COUNTER.text(text) // 3
    names = {f"load_{n}": 3.0 for n in range(8)}
    short = paragraphs(text, room, COUNTER, names, handle="abcdef")
    assert COUNTER.text(short) <= room
    assert "\n".join([*items, last]) in short


@pytest.mark.parametrize(
    "paragraph",
    ["因为缓存已经过期所以构建失败。" * 70, "It fails; the cache is old. " * 80, "a,b;" * 600],
)
def test_pieces_of_a_paragraph_stand_together_as_in_the_text(paragraph):
    text = paragraph.strip() + "\n\n----" * 600
    room = COUNTER.text(paragraph) + 60
    assert paragraph.strip() in paragraphs(text, room, COUNTER, {}, handle="abcdef")
