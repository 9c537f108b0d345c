import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.names import (
    LONGEST,
    blank_separators,
    is_exact,
    is_name,
    items,
    mentions,
    words,
)


@pytest.mark.parametrize(
    "word",
    [
        *("src/app.py", "app.py", "me@host", "load_settings", "loadSettings", "--verbose"),
        *("8080", "2.14.7", "deadbeef1", "ENOENT"),
    ],
)
def test_paths_ids_numbers_and_flags_are_names(word):
    assert is_name(word)


@pytest.mark.parametrize("word", ["-", "--", "-x", "deadbeef", "the", "The", "API"])
def test_an_ordinary_word_is_not_a_name(word):
    assert not is_name(word)


def test_a_path_a_number_a_hash_or_a_dotted_name_is_exact_and_no_other_name():
    exact = ["src/app.py", "/etc/pass_wd", "me@host", "4711", "2.14.7", "deadbeef1", "a.b"]
    assert all(is_name(word) and is_exact(word) for word in exact)
    others = ["load_settings", "a_b.py", "loadSettings", "--verbose", "--a/b", "ENOENT", "the"]
    assert not any(map(is_exact, others))


def test_items_are_found_in_any_text_without_their_punctuation():
    text = "Run `pytest -x tests/test_api.py::test_it`, see (config.toml) and ERRNO_104."
    assert list(items(text)) == ["tests/test_api.py", "test_it", "config.toml", "ERRNO_104"]


def test_hyphenated_words_are_taken_apart():
    assert "node-18.2" not in items("node-18.2")
    assert "18.2" in items("node-18.2")


def test_every_mention_is_found_in_order():
    assert list(mentions(blank_separators("a_b, `c_d`: a_b"))) == ["a_b", "c_d", "a_b"]


@given(st.text(st.characters(codec=None), max_size=60))
def test_characters_outside_items_become_blanks_except_line_feeds(text):
    plain = blank_separators(text)
    assert plain.isascii()
    assert plain.count("\n") == text.count("\n")
    assert plain.split() == blank_separators(plain).split()


@given(st.text("ab_./@~+-9é \n😀", max_size=60))
def test_every_mention_is_a_name_in_the_text(text):
    found = list(mentions(blank_separators(text)))
    assert all(item in text and is_name(item) for item in found)
    assert list(dict.fromkeys(found)) == list(items(text))
    assert found == [item for word in blank_separators(text).split() for item in mentions(word)]


def test_a_word_that_is_too_long_is_not_an_item():
    assert [*items("a_" + "b" * (LONGEST - 2))] == ["a_" + "b" * (LONGEST - 2)]
    assert not items("a_" + "b" * (LONGEST - 1))


def test_ordinary_words_are_found_inside_names_too():
    assert words("Mend the loadSettings of it") == {"mend", "the", "load", "settings"}
    assert words("retry_limit") == {"retry", "limit"}


@pytest.mark.parametrize(
    "text",
    ["", "汉字 😀", "a" * 1_000_000, "." * 100_000, "-" * 100_000, "\ud800", "汉" * 300_000],
)
def test_no_text_is_an_error_or_slow(text):
    start = time.perf_counter()
    items(text)
    assert time.perf_counter() - start < 2


def test_words_that_were_read_take_little_memory():
    tracemalloc.start()
    for number in range(50_000):
        assert items(f"order_{number}")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 3_000_000
