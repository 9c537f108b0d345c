"""
Counting what makes tokens beyond ASCII: characters and pairs of neighbours, by class.

A tokenizer joins neighbouring characters that often stand together. So the tokens of a text are
what its characters take alone, less what is joined: 文 and 件 take two tokens, 文件 one. Which
characters are dear, and which pairs are joined, was read off the real vocabularies and put into
classes of like price (``wide_classes.bin``, written by ``bench/fit_tokens.py``): characters by
what they take beside a neighbour that is nothing special, pairs by how far they differ from that.
Each family of vocabularies has a weight for every class.

Looking up a character or a pair costs some 50 ns, in two passes over the UTF-16 units of the
text; of the ASCII in it only the last character before something wide is looked at, because a
blank and the word after it are one token in most alphabets.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import repeat
from typing import Final
from zlib import decompress

from foldline.lazy_patterns import lazy_pattern

CHARACTER_CLASSES: Final = 16
PAIR_CLASSES: Final = 24
CLASSES_FILE: Final = "wide_classes.bin"
"""Packed with zlib: the class of every UTF-16 unit from U+0080 on, a byte each; then the pairs of
units that have a class, little-endian, in four lanes of bytes; then the classes of those pairs."""

_NATIVE: Final = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_BESIDE_ASCII = lazy_pattern(r"[\x00-\x7f]+(?=[\x00-\x7f])")
_FIRST_WIDE: Final = 0x80
_UNITS: Final = 0x10000


def wide_counts(text: str) -> list[int]:
    """
    Count the characters of every class, then the pairs of every class.

    Args:
        text: Any string; lone surrogates are characters like others.

    Returns:
        ``CHARACTER_CLASSES`` and then ``PAIR_CLASSES`` counts; all 0 for a text in ASCII.
    """
    units = _BESIDE_ASCII.sub("", text).encode(_NATIVE, "surrogatepass")
    characters = bytes(map(_characters().__getitem__, memoryview(units).cast("H")))
    pairs = _pair_classes(units) + _pair_classes(units[2:])
    return [
        *(characters.count(number) for number in range(1, CHARACTER_CLASSES + 1)),
        *(pairs.count(number) for number in range(1, PAIR_CLASSES + 1)),
    ]


def _pair_classes(units: bytes) -> bytes:
    """Look up every second pair: two UTF-16 units read as one number."""
    whole = memoryview(units)[: len(units) // 4 * 4].cast("I")
    return bytes(map(_pairs().get, whole, repeat(0)))


@cache
def _classes() -> bytes:
    from pkgutil import get_data  # slow to import, and a text in ASCII does not need it

    packed = get_data(__package__, CLASSES_FILE)
    return decompress(packed or b"")


@cache
def _characters() -> bytes:
    """Return the class of every UTF-16 unit; 0 is ASCII."""
    return bytes(_FIRST_WIDE) + _classes()[: _UNITS - _FIRST_WIDE]


@cache
def _pairs() -> dict[int, int]:
    """Return the class of every pair of units that has one."""
    packed = _classes()[_UNITS - _FIRST_WIDE :]
    count = len(packed) // 5
    units = bytearray(4 * count)
    for lane in range(4):
        units[lane::4] = packed[lane * count : (lane + 1) * count]
    native = units.decode("utf-16-le", "surrogatepass").encode(_NATIVE, "surrogatepass")
    return dict(zip(memoryview(native).cast("I"), packed[4 * count :], strict=True))
