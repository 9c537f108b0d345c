import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import BudgetError
from foldline.tools import truncate_observation

LINES = [f"line {n}" for n in range(100)]
TEXT = "\n".join(LINES)


def test_an_output_that_fits_is_unchanged():
    kept = truncate_observation(TEXT)
    assert (kept.text, kept.lines, kept.size, kept.left_out) == (TEXT, 100, len(TEXT), 0)
    assert truncate_observation("").text == ""


@pytest.mark.parametrize(
    ("keep", "shown"),
    [
        ("head", [*LINES[:10], "[… 90 of 100 lines left out …]"]),
        ("tail", ["[… 90 of 100 lines left out …]", *LINES[90:]]),
        ("head_tail", [*LINES[:4], "[… 90 of 100 lines left out …]", *LINES[94:]]),
    ],
)
def test_whole_lines_of_the_chosen_side_stay(keep, shown):
    kept = truncate_observation(TEXT, max_lines=10, keep=keep)
    assert kept.text.split("\n") == shown
    assert kept.left_out == 90


def test_bytes_are_limited_and_the_note_names_the_handle_of_the_rest():
    kept = truncate_observation("ä" * 30 + "\n" + TEXT, max_bytes=50, note="recall abc123")
    assert "recall abc123" in kept.text
    assert kept.text.endswith("line 99")
    assert kept.text.startswith("[… ")


def test_one_long_line_is_cut_between_characters():
    kept = truncate_observation("界" * 1_000, max_bytes=100, keep="head")
    assert kept.text == "界" * 33 + "\n[… 2,900 of 3,000 bytes left out …]"
    assert kept.left_out == 1


@pytest.mark.parametrize("bad", [{"max_lines": 0}, {"max_bytes": -1}, {"keep": "middle"}])
def test_invalid_limits_are_errors(bad):
    with pytest.raises(BudgetError):
        truncate_observation(TEXT, **bad)


@given(st.text(), st.integers(1, 20), st.integers(1, 200), st.sampled_from(["head", "tail"]))
def test_the_limits_always_hold(text, lines, size, keep):
    kept = truncate_observation(text, max_lines=lines, max_bytes=size, keep=keep)
    if not kept.left_out:
        assert kept.text == text
        return
    rest = [line for line in kept.text.split("\n") if not line.startswith("[… ")]
    assert len(rest) <= max(lines, text.count("\n") + 1)
    assert len("\n".join(rest).encode()) <= size
