from __future__ import annotations

from tests.cli.sample import conversation

from foldline.cli.bars import STYLES, segments
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
