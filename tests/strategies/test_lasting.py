"""What an earlier snapshot listed stands in the next one, as far as there is room for it."""

from __future__ import annotations

import pytest

from foldline.strategies.lasting import FRESH_SHARE, HELD_SHARE, lasting

ROOM = 10_000


def words(text: str) -> int:
    return len(text.split())


def test_what_was_listed_once_stays_beside_what_is_new():
    held = {3: "aaaaaa we decided on zstd", 4: "bbbbbb the root cause is a lock"}
    fresh = ["cccccc we decided on sqlite"]
    assert lasting("Decisions", fresh, held, ROOM, words) == [*fresh, *held.values()]


def test_a_line_stands_once():
    line = "aaaaaa we decided on zstd"
    assert lasting("Decisions", [line, line], {1: line}, ROOM, words) == [line]


def test_a_decision_outlasts_any_number_of_remarks():
    plain = "abcdef I decided to use zstd for the archive"
    held = {0: plain}
    for generation in range(200):
        fresh = [f"ffffff it turns out that {generation} {n} is odd" for n in range(12)]
        held = dict(enumerate(lasting("Decisions", fresh, held, ROOM, words)))
    assert plain in held.values()


def test_what_was_changed_outlasts_what_was_read():
    written = "abcdef src/totals.py (written)"
    held = {0: written}
    for generation in range(200):
        fresh = [f"ffffff src/part_{generation}_{n}.py (read)" for n in range(40)]
        held = dict(enumerate(lasting("Files", fresh, held, ROOM, words)))
    assert written in held.values()


def test_among_equals_the_newer_stays():
    held = {n: f"{n:06x} we decided on the number {n}" for n in range(2_000)}
    kept = lasting("Decisions", [], held, ROOM, words)
    assert kept == [held[n] for n in range(len(kept))]


@pytest.mark.parametrize("title", [*HELD_SHARE, "Open errors"])
def test_a_list_never_takes_more_than_its_share(title: str):
    fresh = [f"{n:06x} we decided that {n}" for n in range(3_000)]
    held = {n: f"{n:06x} it was decided that {n}" for n in range(3_000)}
    taken = sum(words(line) + 1 for line in lasting(title, fresh, held, ROOM, words))
    assert taken <= (FRESH_SHARE + HELD_SHARE.get(title, 0.0)) * ROOM


def test_an_error_of_long_ago_is_not_held():
    assert lasting("Open errors", [], {1: "aaaaaa FAILED test_a"}, ROOM, words) == []
