"""
The token estimate: feature counts of a text times fitted weights.

The weights (``weights.txt``) were written by ``bench/fit_tokens.py`` on 2026-11-22 from 13,664
pieces (60 to 8,000 characters) of 29 kinds of text from 450 public packages, manuals and books,
listed in that script. Truth is the real vocabulary of each family (splintr-rs 0.22). No current
Claude vocabulary is public: that column is the Claude-2 vocabulary times 1.12, the median of what
Claude 4.5 and 4.6 reported for 65 large tool results. llama2, mistral1, modernbert and whisper
have weights too.

Error on sources outside the fit, pieces above 50 tokens, 95th percentile in percent
(``bench/tokens.py``). Terse Chinese is verse, classical prose and labels; other scripts are those
in none of the rows, from Amharic to Tatar:

=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======
p95, %                o200k  cl100k   llama  deeps.    qwen    kimi     glm mistral   gemma  claude
=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======
arabic                 19.3    10.1    19.0    18.5    16.9    12.7    14.0    19.0    14.5    13.6
base64                  8.9    12.0    12.0     8.4    12.0     8.7    12.0     9.8     6.5     8.4
chinese                10.8     8.3    12.2    11.7    14.8    12.3    11.0     8.5    16.0    13.4
chinese terse          13.5    15.5    14.3    17.6    15.1    19.9    16.9    13.2    15.4    12.4
chinese traditional     9.1     8.2     9.8     9.3     9.5    11.1     6.5    12.4    13.4    10.6
code with chinese      15.8    18.4    15.6    12.4    20.0    18.8    16.4    10.4    15.4    18.2
config                 18.6    23.4    23.4    17.5    20.0    23.1    22.0    18.8    13.0    13.0
emoji                   8.3     7.0     6.8     7.5     6.8     7.5     7.3     6.9     5.5     4.9
hex                     6.2     7.4     7.0     4.7     7.3     6.5     8.5     7.3     5.1     7.4
hindi                  16.7     6.4    22.7    10.0    13.0    11.9     5.5    13.5    24.6     9.5
japanese               15.3     8.6    14.1    10.6    13.6    15.1     9.2    11.5    14.8    11.8
json compact           35.6    41.9    40.7    27.3    38.7    40.6    39.1    28.1    22.5    24.9
json pretty            15.2    16.6    16.4    17.6    14.9    16.1    15.4    16.6     9.2    13.8
korean                 11.1    12.6    10.6    10.5    16.2    11.7     9.5    15.7     9.5    10.4
logs                    9.3    10.2    10.2     7.9    10.3    12.3     9.8    11.3     5.7     7.5
minified               36.7    39.3    38.6    40.8    39.8    35.8    38.9    29.3    32.1    26.0
other scripts          16.2    14.0    18.4    23.2    22.6    16.9    15.6    18.0    26.1    18.6
pages                  14.0    20.3    20.3    15.4    20.3    18.8    20.3    13.4    10.2    14.1
prose                  14.8    19.0    19.0    14.8    19.0    20.0    18.8    14.3    11.8    19.9
python                 12.9    13.7    13.7    13.8    13.7    12.2    13.2    16.4     8.9    11.6
russian                24.2    16.8    25.6    19.0    25.4    22.4    20.3    13.5    24.2    12.9
shell                   8.8     8.1     8.8     9.2     8.3     8.1     9.3     7.9     7.4    14.4
systems                17.3    19.2    18.2    14.6    17.6    16.0    17.6    15.6    10.3    15.4
tables                 18.6    12.9    22.1    19.1    14.8    19.5    12.7    29.2    13.7    24.0
terminal               19.7    14.7    18.6    10.3    14.3    16.5    14.0    17.6    21.6    10.7
web                    14.9    14.3    14.3    13.1    14.3    14.8    14.8    12.3    10.1    11.1
all kinds              15.2    14.3    16.4    13.8    16.1    15.1    14.6    16.0    13.7    13.0
agent transcripts      11.7    12.1    12.3    12.3    12.0    13.5    12.0    13.3    10.1    11.4
20 together             4.7     4.2     5.0     4.6     5.1     5.1     4.5     5.2     4.2     4.1
=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======

Worst cases: JSON that is one long list of rare words, minified code that is mostly tables or
embedded fonts, and Russian, Hindi and drawings in vocabularies that hardly cover them.
"""

from __future__ import annotations

import sys
from array import array
from functools import cache
from itertools import repeat
from math import ceil
from operator import add, mul
from typing import ClassVar, Final
from zlib import decompress

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern, read_data
from foldline.tokens.choose import DEFAULT_FAMILY

CHARACTER_CLASSES: Final = 16
PAIR_CLASSES: Final = 24
CLASSES_FILE: Final = "wide_classes.bin"
"""Packed with zlib: the class of every UTF-16 unit from U+0080 on, a byte each; then the pairs of
units that have a class, little-endian, in four lanes of bytes; then the classes of those pairs."""

_BESIDE_ASCII = lazy_pattern(r"[\x00-\x7f]+(?=[\x00-\x7f])")
_FIRST_WIDE: Final = 0x80
_UNITS: Final = 0x10000


def wide_counts(text: str) -> list[int]:
    """
    Count the characters of every class, then the pairs of every class.

    Args:
        text: Any string; lone surrogates count as characters.

    Returns:
        ``CHARACTER_CLASSES`` and then ``PAIR_CLASSES`` counts; all 0 for a text in ASCII.
    """
    # In the byte order of the machine, after a byte order mark.
    units = _BESIDE_ASCII.sub("", text).encode("utf-16", "surrogatepass")[2:]
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
    return decompress(read_data(__package__, CLASSES_FILE))


@cache
def _characters() -> bytes:
    """Return the class of every UTF-16 unit; 0 is ASCII."""
    return bytes(_FIRST_WIDE) + _classes()[: _UNITS - _FIRST_WIDE]


@cache
def _pairs() -> dict[int, int]:
    """Return the class of every pair of units that has one."""
    packed = _classes()[_UNITS - _FIRST_WIDE :]
    count = len(packed) // 5
    pairs = bytearray(4 * count)
    for lane in range(4):
        pairs[lane::4] = packed[lane * count : (lane + 1) * count]
    units = array("H", bytes(pairs))
    if sys.byteorder == "big":
        units.byteswap()
    return dict(zip(memoryview(units).cast("B").cast("I"), packed[4 * count :], strict=True))


WEIGHTS_FILE: Final = "weights.txt"
"""The names of the families; then a row per feature: thousandths of a token each, and its name."""

_HEAD, *_ROWS = read_data(__package__, WEIGHTS_FILE).decode("ascii").splitlines()

FAMILIES: Final = tuple(_HEAD.split())
"""The estimated vocabularies, in the order of the columns."""

*_WEIGHTS, FEATURES = zip(*(row.split(maxsplit=len(FAMILIES)) for row in _ROWS), strict=True)
"""
The features, in the order of the rows; those from "run of wide characters" on are counted only in
non-ASCII texts. `features` counts in the same order: a new one starts as a row of zeros, which
``bench/fit_tokens.py`` fits.

A mark is ASCII that is neither letter, digit, blank (space, tab) nor newline.
"""


@cache
def weights(family: str) -> tuple[float, ...]:
    """Return the weights of one of the ``FAMILIES``, in tokens, in the order of ``FEATURES``."""
    return tuple([int(weight) / 1_000 for weight in _WEIGHTS[FAMILIES.index(family)]])


LETTER, UPPER, DIGIT, BLANK, NEWLINE, MARK, WIDE, CONSONANT = range(8)
"""The bit of every class; a letter may have three bits."""

CHUNK: Final = 16_384
"""Bytes per integer: fits the processor's cache, and is the size of the masks."""

LONGEST_TOKEN: Final = 125
"""Bytes: the longest tokens are runs of blanks, 128 in o200k, less a margin."""


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
_ONES = int.from_bytes(b"\x01" * CHUNK, "little")
_PLANES = [_ONES << bit for bit in range(8)]
_BYTE = FEATURES.index("byte")
_WIDE_RUN = FEATURES.index("run of wide characters")
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_LEADS = bytes(range(0xC0, 0x100))


def estimate(text: str, family: str = DEFAULT_FAMILY) -> int:
    """
    Estimate the number of tokens of ``text``.

    Args:
        text: Any string; lone surrogates and special-token text are plain characters.
        family: Vocabulary to estimate, one of ``FAMILIES``; an unknown one means o200k.

    Returns:
        Tokens: 0 for the empty text, at least 1 for any other.
    """
    if not text:
        return 0
    counts = features(text)
    tokens: float = sum(map(mul, weights(_nearest(family)), counts))
    return max(round(tokens), ceil(counts[_BYTE] / LONGEST_TOKEN))


def _nearest(family: str) -> str:
    return family if family in FAMILIES else DEFAULT_FAMILY


def features(text: str) -> list[int]:
    """Count the ``FEATURES`` of the weights; ASCII text has only the first ones."""
    wide = not text.isascii()
    data = text.encode("utf-8", "surrogatepass")
    if wide:
        data = data.translate(None, _CONTINUATIONS)  # leaves one byte per character
    totals = _chunk_counts(data[:CHUNK], wide)
    for start in range(CHUNK, len(data), CHUNK):
        totals = list(map(add, totals, _chunk_counts(data[start : start + CHUNK], wide)))
    counts = [1, len(data), data.count(b"_"), data.count(b"\\"), *totals]
    if wide:  # a run counts as one byte: wide_counts counts its content
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


@frozen
class EstimatedCounter:
    """
    Estimates tokens with fitted weights.

    Args:
        family: Vocabulary to estimate; one without weights counts as o200k.
    """

    exact: ClassVar[bool] = False
    family: str = DEFAULT_FAMILY

    @property
    def name(self) -> str:
        """``estimate:`` and the family whose weights are used."""
        return f"estimate:{_nearest(self.family)}"

    def count(self, text: str) -> int:
        """Estimate the tokens of ``text``: 0 for the empty text, never an exception."""
        return estimate(text, self.family)
