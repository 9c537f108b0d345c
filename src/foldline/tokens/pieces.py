"""Long texts in pieces, so that what encodes them needs no more memory than for one piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from foldline.lazy import lazy_pattern

PIECE: Final = 32_768
"""
Characters of a piece, at most. A run without blanks takes an encoder of byte pairs about 60 bytes
of memory a byte, and above this size also more time a byte.
"""

_WINDOW: Final = 2_048
"""Characters at the end of a piece in which a place to cut is looked for."""

_PLACE: Final = lazy_pattern(r"(?<=\n)(?=[^\s/])|(?<=\S)(?= [^\W\d_])")
"""
Where no token reaches across: before a line, and before a blank with a word. By the patterns of
the vocabularies, white space and slashes may belong to the line feed before them, and a blank
belongs to the word behind it.
"""


def pieces(text: str) -> Iterator[str]:
    """
    Cut a text into pieces whose tokens add up to those of the whole.

    Where a text has no line and no word for 2,048 characters, it is cut anywhere; each such cut
    may cost a token.

    Args:
        text: Any text.
    """
    start = 0
    while len(text) - start > PIECE:
        end = start + PIECE
        place = _PLACE.search(text, end - _WINDOW, end)
        cut = place.start() if place else end
        yield text[start:cut]
        start = cut
    yield text[start:] if start else text


def without_lone_surrogates(text: str) -> str:
    """
    Replace lone surrogates with U+FFFD and join the pairs, as JSON encoders on the way would.

    Tokenizers take UTF-8, which has no surrogates; Python strings from broken JSON may hold them.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
