import pytest

from foldline.errors import InputError
from foldline.rooted_files import TooLarge
from foldline.tools.replacements import Replacement, apply_replacements


def test_pieces_are_replaced_one_after_the_other():
    done = apply_replacements("a b c", [Replacement("a", "b c"), Replacement("b c b c", "d")])
    assert done == "d"
    assert apply_replacements("x x x", [Replacement("x", "y", everywhere=True)]) == "y y y"


@pytest.mark.requirement("H18")
@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (Replacement("x", "z"), "occurs 2 times"),
        (Replacement("q", "z"), "does not occur"),
        (Replacement("", "z"), "is empty"),
        (Replacement("y", "y"), "the same"),
    ],
)
def test_a_piece_that_does_not_match_exactly_once_changes_nothing(piece, words):
    with pytest.raises(InputError, match=words) as raised:
        apply_replacements("x x y", [Replacement("y", "x2"), Replacement("x2", "y"), piece])
    assert raised.value.field == "edits[2]"


def test_lines_that_end_with_carriage_returns_keep_them():
    assert apply_replacements("a\r\nb\r\n", [Replacement("a\nb", "c\nd")]) == "c\r\nd\r\n"
    assert apply_replacements("a\r\nb\n", [Replacement("b\n", "c\n")]) == "a\r\nc\n"
    assert apply_replacements("a\r\nb\r\n", [Replacement("a\r\nb", "c\r\nd")]) == "c\r\nd\r\n"


@pytest.mark.requirement("H18")
def test_replacements_that_multiply_a_text_stop_before_it_is_too_large():
    grow = Replacement("a", "a" * 100, everywhere=True)
    with pytest.raises(TooLarge, match="more than 1,000 characters") as raised:
        apply_replacements("a", [grow] * 50, 1_000)
    assert raised.value.field == "edits[1]"
    assert apply_replacements("a" * 2_000, [Replacement("a", "", everywhere=True)], 1_000) == ""
