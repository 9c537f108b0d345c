"""Cues: names that tell something by themselves, the likeliest first."""

from __future__ import annotations

from tests.growth import grows_linearly

from foldline.snapshot.cues import likely_names
from foldline.snapshot.sources import SourceText


def cues(likely, text="", passages=(), known=()):
    source = SourceText(0, 0, "agent", text, "", 0.25, 1.0)
    return list(likely_names(likely, [source], passages, known))


def test_the_likeliest_come_first_each_once_and_without_what_is_known():
    found = cues(
        {"load_all": 1.0, "free_all": 2.0, "seen.py": 9.0}, "", ["free_all in b.py"], ["seen.py"]
    )
    assert found == ["free_all", "load_all", "b.py"]


def test_the_end_of_a_hyphenated_word_stands_as_the_whole_word():
    assert cues({"-run-tests": 1.0}, "Use dry-run-tests first.") == ["dry-run-tests"]
    assert cues({"--check": 1.0}, "Use --check.") == ["--check"]
    assert cues({"-known": 1.0, "-top": 1.0}) == []


def test_ordinary_words_in_capitals_and_giant_names_are_left_out():
    assert cues({"SAME": 1.0, "x_" * 99: 1.0, "MAX_SIZE": 1.0}) == ["MAX_SIZE"]


def test_times_and_lengths_of_a_style_sheet_are_left_out():
    assert cues({"0.5s": 1.0, "1.1rem": 1.0, "300ms": 1.0, "v1.2s": 1.0}) == ["v1.2s"]


def test_the_letter_of_an_escaped_line_feed_makes_no_name():
    source = SourceText(0, 0, "written", 'print("\\nAfter_all")', "", 0.25, 1.0)
    assert list(likely_names({"nAfter_all": 2.0, "next_step": 1.0}, [source], (), ())) == [
        "next_step"
    ]


def named(size):
    """Return so many names, and as many texts that each have a backslash and a hyphenated word."""
    sources = [
        SourceText(n, 0, "agent", f"see \\name_{n} in dry-name-{n}", "", 0.25, 1.0)
        for n in range(size)
    ]
    return {f"name_{n}": 1.0 for n in range(size)}, sources


def test_listing_grows_linearly_with_names_and_texts():
    assert grows_linearly(lambda made: list(likely_names(*made, (), ())), named, 2_000, 16_000)
