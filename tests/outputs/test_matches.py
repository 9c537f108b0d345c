"""Matches of a search."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.outputs.matches import by_file, is_search, search, unfiled

FOUND = [f"src/a_{n // 10}/b.py:{n * 3}:    value = call({n})" for n in range(60)]
CONTEXT = [
    "src/a.py-11-before",
    "src/a.py:12:match",
    "--",
    "src/b.py:3:x:4:y",
    "Binary file matches",
]


@given(st.lists(st.sampled_from(FOUND + CONTEXT) | st.text("a:/-1. ", min_size=1), max_size=30))
def test_files_are_named_once_and_every_match_can_be_read_again(lines):
    made = by_file(lines)
    if made:
        assert unfiled(made) == lines


def test_a_search_has_a_shorter_form_without_loss():
    made = search(FOUND)
    assert made.lossless
    assert len(made.whole) < 0.8 * len("\n".join(FOUND))
    assert unfiled(made.whole) == FOUND


def test_a_search_is_told_from_a_log_and_a_table():
    assert is_search(FOUND)
    assert not is_search([f"10:4{n % 10}:00 INFO all is well {n}" for n in range(30)])
    assert not is_search([f"{n}\tAnn Li\tOslo\t2025-01-02" for n in range(30)])
