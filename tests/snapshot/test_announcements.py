"""Announcements: what an agent says it does next is cut off, what it found stays."""

from __future__ import annotations

import pytest

from foldline.snapshot.announcements import announces, is_chatter, without_chatter


def trimmed(text: str) -> str:
    return text[slice(*without_chatter(text, 0, len(text)))]


@pytest.mark.parametrize(
    "text",
    [
        "The lock is never released. Let me look at its tests:",
        "Great! Now let me check the file. The lock is never released.",
        "I apologize for the oversight. The lock is never released.",
        "I look at lock.py, since it is new.\nThe lock is never released.",
    ],
)
def test_what_was_found_stays_without_what_comes_next(text):
    assert trimmed(text) == "The lock is never released."


@pytest.mark.parametrize(
    "text",
    [
        "I'll use a mutex instead of a channel. It is cheaper.",
        "Now I must never write to main.",
        "Let me check the file.",
        "Done.",
        "",
    ],
)
def test_decisions_stay_and_so_does_what_is_all_there_is(text):
    assert trimmed(text) == text


def test_only_a_statement_of_one_sentence_is_an_announcement():
    assert announces("Now let me run the tests:")
    assert not announces("Let me run the tests. They fail because the port is taken.")
    assert not is_chatter("The build passes.")


def test_long_texts_without_sentences_are_left_alone():
    text = "let me " * 200_000
    assert trimmed(text) == text


def test_a_turn_without_an_answer_says_nothing():
    assert is_chatter("No response requested.")
