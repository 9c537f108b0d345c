from __future__ import annotations

import pytest
from tests.cli.sample import conversation

from foldline.cli.bars import STYLES, BarSegment, bar, segments
from foldline.evaluation.breakdown import KINDS
from foldline.formats.registry import dialect
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TokenCounter


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert set(STYLES) == set(KINDS)
    assert len(set(STYLES.values())) == len(KINDS)


def test_a_conversation_is_divided_into_coloured_segments() -> None:
    messages = dialect("openai-chat").decode(conversation()).messages
    counter = TokenCounter(choose_counter())
    parts = segments(messages, counter)
    assert [part.name for part in parts] == [
        "system",
        "user",
        "assistant",
        "tool calls",
        "tool results",
    ]
    assert sum(part.tokens for part in parts) == counter.messages(messages)


BLUE = BarSegment("blue", 30, "blue")
RED = BarSegment("red", 70, "red")


@pytest.mark.parametrize("width", [1, 7, 10, 80])
def test_a_bar_is_as_wide_as_it_shall_be(width: int) -> None:
    assert len(bar([BLUE, RED], 100, width).plain) == width
    assert bar([BLUE], 100, 10).plain == "███░░░░░░░"
    assert bar([BLUE], 100, 10, "ascii").plain == "###......."


def test_something_is_never_drawn_as_nothing() -> None:
    assert bar([BarSegment("tiny", 1, "red")], 100_000, 10).plain.startswith("█")
    assert "█" not in bar([], 100, 10).plain
