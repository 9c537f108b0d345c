"""
Estimating the tokens of a text without its vocabulary.

A token estimate is a weighted count of what makes tokens: words, long words, humps in camelCase,
digit groups, runs of punctuation, indentation, and characters of other scripts. Counting such
things with a regular expression costs 150 ms for a megabyte; here it costs about a tenth of that.

**How.** The bytes of the text, a run of other than ASCII counting as one, are translated to
classes, one bit a class, and the result is read as one big integer. Shifting it by 8 bits puts
every character on its neighbour, so that one ``&`` compares all neighbours of all classes at
once: ``here & after`` keeps the characters that are followed by their own class,
``here ^ (here & after)`` the last character of every run, and two more shifts find every run of
four. ``int.bit_count`` then counts. Everything runs at C speed in linear time, and no input can
make it raise. What is not ASCII is counted by `foldline.core.wide`.

The weights (`foldline.core.estimate_weights`) were fitted against the real vocabularies; that
module says on what, when, and how far off the estimate is.
"""

from __future__ import annotations

from math import ceil
from operator import add, mul
from typing import Final

from foldline.core.estimate_weights import DEFAULT_FAMILY, FEATURES, WEIGHTS
from foldline.core.wide import wide_counts

LETTER, UPPER, DIGIT, BLANK, NEWLINE, MARK, WIDE, CONSONANT = range(8)
"""The bit of every class; a letter may have three of them."""

CHUNK: Final = 16_384
"""Bytes per integer: fits the processor's cache, and is the size of the masks."""

LONGEST_TOKEN: Final = 125
"""Bytes: the longest tokens are runs of blanks, 128 of them in o200k, less a margin."""


def _class_of(byte: int) -> int:
    char = chr(byte)
    if byte >= 0x80:
        return 1 << WIDE
    if char.isalpha():
        consonant = char not in "aeiouyAEIOUY"
        return 1 << LETTER | char.isupper() << UPPER | consonant << CONSONANT
    if char.isdigit():
        return 1 << DIGIT
    if byte < 0x20 and char not in "\t\n\r":
        return 0
    return 1 << {" ": BLANK, "\t": BLANK, "\n": NEWLINE, "\r": NEWLINE}.get(char, MARK)


_CLASSES = bytes(map(_class_of, range(256)))
_PLANES = [int.from_bytes(bytes([1 << bit]) * CHUNK, "little") for bit in range(8)]
_BYTE = FEATURES.index("byte")
_WIDE_RUN = FEATURES.index("run of wide characters")
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_LEADS = bytes(range(0xC0, 0x100))


def estimate(text: str, family: str = DEFAULT_FAMILY) -> int:
    """
    Estimate how many tokens ``text`` takes.

    Args:
        text: Any string; lone surrogates and special-token text are plain characters.
        family: Vocabulary to imitate, a key of ``WEIGHTS``; an unknown one means o200k.

    Returns:
        Tokens: 0 for the empty text, at least 1 for any other.
    """
    if not text:
        return 0
    weights = WEIGHTS.get(family) or WEIGHTS[DEFAULT_FAMILY]
    counts = features(text)
    tokens: float = sum(map(mul, weights, counts))
    return max(round(tokens), ceil(counts[_BYTE] / LONGEST_TOKEN))


def features(text: str) -> list[int]:
    """Count the ``FEATURES`` of the weights; a text in ASCII has only the first ones."""
    wide = not text.isascii()
    data = text.encode("utf-8", "surrogatepass")
    if wide:
        data = data.translate(None, _CONTINUATIONS)  # leaves one byte a character
    totals = _chunk_counts(data[:CHUNK], wide)
    for start in range(CHUNK, len(data), CHUNK):
        totals = list(map(add, totals, _chunk_counts(data[start : start + CHUNK], wide)))
    counts = [1, len(data), data.count(b"_"), data.count(b"\\"), *totals]
    if wide:  # a run counts as one byte, whatever it holds: wide_counts counts that
        counts[_BYTE] = len(data.translate(None, _LEADS)) + counts[_WIDE_RUN]
        counts += wide_counts(text)
    return counts


def _chunk_counts(chunk: bytes, wide: bool) -> list[int]:
    here = int.from_bytes(chunk.translate(_CLASSES), "little")
    two = here & (here >> 8)  # followed by its own class
    four = two & (two >> 16)
    five = four & (two >> 24)
    ends = here ^ two  # last of its run
    letter, upper, digit, blank, newline, mark, _, consonant = _PLANES
    planes = [
        ends & letter,
        four & letter,
        ends & consonant,
        (five ^ (five & (five >> 8))) & consonant,
        _before(here, LETTER, UPPER),
        two & upper,
        ends & digit,
        here & digit,
        four & digit,
        here & blank,
        _before(here, BLANK, DIGIT),
        (two ^ (two & (two >> 8))) & blank,
        ends & mark,
        four & (four >> 32) & mark,
        _before(here, MARK, LETTER),
        _before(here, MARK, NEWLINE),
        ends & newline,
        _before(here, LETTER, DIGIT),
        _before(here, DIGIT, LETTER),
    ]
    if wide:
        planes += (
            ends & _PLANES[WIDE],
            _before(here, WIDE, NEWLINE),
            _before(here, NEWLINE, WIDE),
            _before(here, BLANK, WIDE),
        )
    return [plane.bit_count() for plane in planes]


def _before(here: int, first: int, second: int) -> int:
    """Keep the characters of class ``first`` whose next character is of class ``second``."""
    return here & (here >> (8 + second - first)) & _PLANES[first]
