from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.cli.sample import conversation

from foldline.cli.drawing import SIGNS, STYLES, Screen, bar, legend
from foldline.cli.output import flexible, table
from foldline.evaluation.breakdown import KINDS, Share, by_kind
from foldline.formats.registry import dialect
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TokenCounter


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert set(STYLES) == set(KINDS)
    assert len(set(STYLES.values())) == len(KINDS)


def test_a_conversation_is_divided_among_coloured_kinds() -> None:
    messages = dialect("openai-chat").decode(conversation()).messages
    counter = TokenCounter(choose_counter())
    parts = by_kind(messages, counter)
    assert [part.name for part in parts] == [
        "system",
        "user",
        "assistant",
        "tool calls",
        "tool results",
    ]
    assert sum(part.tokens for part in parts) == counter.messages(messages)


CALLS = Share("tool calls", 30, 1)
RESULTS = Share("tool results", 70, 1)


@pytest.mark.parametrize("width", [1, 7, 10, 80])
def test_a_bar_has_the_requested_width(width: int) -> None:
    assert len(bar([CALLS, RESULTS], 100, width).plain) == width
    assert bar([CALLS], 100, 10).plain == "███░░░░░░░"
    assert bar([CALLS], 100, 10, blocks=False).plain == "---......."


def test_without_colours_every_kind_has_a_sign_of_its_own() -> None:
    assert set(SIGNS) == set(KINDS)
    assert len({*SIGNS.values(), "."}) == len(KINDS) + 1
    assert bar([CALLS, RESULTS], 100, 10, blocks=False).plain == "---#######"
    assert legend([CALLS, RESULTS], 80, blocks=False).plain == "- tool calls  # tool results  "


def test_a_share_above_zero_is_never_drawn_empty() -> None:
    assert bar([Share("media", 1, 1)], 100_000, 10).plain.startswith("█")
    assert "█" not in bar([], 100, 10).plain


class Closed(io.StringIO):
    """A stream whose reader is closed."""

    def write(self, _: str, /) -> int:
        raise BrokenPipeError


def test_a_closed_reader_is_distinct_from_an_error() -> None:
    with pytest.raises(BrokenPipeError):
        Screen(file=Closed()).print("words")


WORDS = st.text(st.sampled_from("ab 漢é…"), min_size=1, max_size=30)


def drawn(rows: list[tuple[str, int, int, str]], width: int) -> list[str]:
    grid = table("name", ">first", ">second", "*words")
    for name, first, second, words in rows:
        grid.add_row(name, f"{first:,}", f"{second:,}", flexible(words))
    out = io.StringIO()
    Console(file=out, width=width, markup=False).print(grid)
    return out.getvalue().splitlines()


@given(
    st.lists(
        st.tuples(WORDS, st.integers(0, 10**9), st.integers(0, 10**9), WORDS),
        min_size=1,
        max_size=4,
    ),
    st.integers(24, 120),
)
def test_a_number_is_shown_whole_or_its_column_is_dropped(
    rows: list[tuple[str, int, int, str]], width: int
) -> None:
    head, *lines = drawn(rows, width)
    assert all(cell_len(line) <= width for line in (head, *lines))
    for (_, first, second, _), line in zip(rows, lines, strict=True):
        assert f"{first:,}" in line
        assert (f"{second:,}" in line) or "second" not in head


def test_text_columns_shrink_before_a_column_is_dropped() -> None:
    rows = [("a name of some length", 1_234_567, 7, "a sentence that goes on and on")]
    wide, narrow, narrowest = (drawn(rows, width) for width in (80, 44, 30))
    assert "a sentence that goes on and on" in wide[1]
    assert "second" in narrow[0]
    assert "a sent" in narrow[1]
    assert "words" not in narrowest[0]
    assert "1,234,567" in narrowest[1]
