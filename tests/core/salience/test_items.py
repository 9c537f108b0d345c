import time

import pytest

from foldline.core.salience.items import items, kind_of, occurrences, subwords, words


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("src/app.py", "path"),
        ("app.py", "dotted"),
        ("me@host", "dotted"),
        ("load_settings", "snake"),
        ("loadSettings", "camel"),
        ("--verbose", "flag"),
        ("-", None),
        ("--", None),
        ("8080", "number"),
        ("2.14.7", "number"),
        ("deadbeef1", "hash"),
        ("deadbeef", None),
        ("ENOENT", "upper"),
        ("the", None),
    ],
)
def test_a_word_is_classified(word, kind):
    assert kind_of(word) == kind


def test_items_are_found_in_any_text_without_their_punctuation():
    text = "Run `pytest -x tests/test_app.py::test_it`, see (config.toml) and ERRNO_104."
    assert list(items(text)) == ["tests/test_app.py", "test_it", "config.toml", "ERRNO_104"]


def test_hyphenated_words_are_taken_apart():
    assert "node-18.2" not in items("node-18.2")
    assert "18.2" in items("node-18.2")


def test_every_occurrence_is_counted():
    assert occurrences("a_b a_b c_d")["a_b"] == ("snake", 2)


def test_ordinary_words_are_found_inside_names_too():
    assert words("Mend the loadSettings of it") == {"mend", "the", "load", "settings"}
    assert set(subwords("retry_limit")) == {"retry", "limit"}


@pytest.mark.parametrize(
    "text", ["", "汉字 😀", "a" * 100_000, "." * 100_000, "-" * 100_000, "\ud800"]
)
def test_no_text_is_an_error_or_slow(text):
    start = time.perf_counter()
    items(text)
    assert time.perf_counter() - start < 2
