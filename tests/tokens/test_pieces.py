from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from foldline.tokens.pieces import PIECE, pieces

words = st.lists(st.sampled_from(["a ", "word", "\n", "\n\n", " ", "/", "的", "9", "\ud800", ""]))


@given(words, st.integers(0, 5))
def test_pieces_add_up_to_the_text_and_none_is_longer_than_allowed(parts, times):
    text = "".join(parts) * 10**times
    found = list(pieces((text[: 5 * PIECE],)))
    assert "".join(found) == text[: 5 * PIECE]
    assert max(map(len, found)) <= PIECE


@given(words, st.integers(0, 5))
def test_it_does_not_matter_in_which_parts_a_text_is_given(parts, times):
    parts = parts * 10**times
    text = "".join(parts)
    assert list(pieces(parts)) == list(pieces((text,)))
    assert list(pieces((text, "", text))) == list(pieces((text + text,)))


def test_a_text_is_cut_before_a_line_or_a_single_blank():
    lines = list(pieces(("a line of words\n" * PIECE,)))
    assert len(lines) > 10
    assert all(piece.startswith(("a line", " line", " of", " words")) for piece in lines)


def test_a_text_without_a_place_to_cut_is_cut_anywhere():
    assert [len(piece) for piece in pieces(("a" * (2 * PIECE + 1),))] == [PIECE, PIECE, 1]


def test_a_short_text_is_one_piece():
    assert list(pieces(("",))) == [""]
    assert list(pieces(("short",))) == ["short"]


def test_the_time_to_cut_grows_with_the_text():
    for unit in ("a", " ", "\n", "/ ", " 9"):
        assert grows_linearly(
            lambda text: sum(map(len, pieces((text,)))), repeated(unit), 8 * PIECE, 64 * PIECE
        )
