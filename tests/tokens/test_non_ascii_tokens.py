"""What is counted beyond ASCII."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.non_ascii_tokens import CHARACTER_CLASSES, PAIR_CLASSES, wide_counts


def characters(text: str) -> list[int]:
    return wide_counts(text)[:CHARACTER_CLASSES]


def pairs(text: str) -> list[int]:
    return wide_counts(text)[CHARACTER_CLASSES:]


@given(st.text(st.characters(), max_size=200))
def test_every_unit_beyond_ascii_has_a_class(text: str) -> None:
    low = sum(0xDC00 <= ord(char) <= 0xDFFF for char in text)
    high = sum(0xD800 <= ord(char) <= 0xDBFF for char in text)
    wide = sum(ord(char) >= 0x80 for char in text)
    if not low and not high:
        assert sum(characters(text)) == wide
    assert len(wide_counts(text)) == CHARACTER_CLASSES + PAIR_CLASSES


@pytest.mark.parametrize("text", ["", "plain text, 42\n", "\0\x7f"])
def test_ascii_has_none(text: str) -> None:
    assert not any(wide_counts(text))


@pytest.mark.parametrize("word", ["文件", "可以", "ます", "니다", " п"])
def test_common_pairs_are_known(word: str) -> None:
    assert sum(pairs(word)) >= 1


def test_a_rare_pair_is_not() -> None:
    assert not any(pairs("龘靐"))


def test_a_common_and_a_rare_character_are_of_different_classes() -> None:
    assert characters("的") != characters("龘")


def test_pairs_are_found_wherever_they_stand() -> None:
    assert sum(pairs("文件")) == 1
    assert sum(pairs("x文件")) >= 1
    assert sum(pairs("好文件")) >= 1
    assert sum(pairs("文件" * 10)) >= 10


def test_ascii_between_two_characters_keeps_them_apart() -> None:
    assert sum(pairs("文 - 件")) == sum(pairs("文")) + sum(pairs(" 件"))


def test_repeating_a_line_repeats_its_counts() -> None:
    once = wide_counts("\n上下文压缩 and テスト\n")
    assert wide_counts("\n上下文压缩 and テスト\n" * 7) == [7 * count for count in once]
