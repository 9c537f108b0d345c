"""Splitting of long texts into pieces, to bound the memory of encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from foldline.lazy import lazy_pattern

PIECE: Final = 16_384
"""
Maximum length of a piece, in characters. A run without blanks takes a byte pair encoder about 60
bytes of memory per byte, and above twice this size also more time per byte.
"""

_WINDOW: Final = 2_048
"""Characters at the end of a piece that are searched for a place to cut."""

_PLACE: Final = lazy_pattern(r"(?<=\n)(?=[^\s/])|(?<=\S)(?= \S)")
"""
Positions that no token crosses: before a line, and before a single blank. In the patterns of the
vocabularies, white space and slashes may belong to the preceding line feed, and a blank to what
follows it.
"""


def pieces(texts: Iterable[str]) -> Iterator[str]:
    """
    Split a text into pieces whose token counts add up to that of the whole.

    Without a line or a single blank for 2,048 characters a cut is arbitrary and may add a few
    tokens. The vocabularies llama2 and mistral1 may add one to every further piece.

    Args:
        texts: The text, in any parts; they are never joined to more than a piece and a part.
    """
    held, size = list[str](), 0
    for part in texts:
        held.append(part)
        size += len(part)
        if size > PIECE:
            text, start = "".join(held), 0
            while len(text) - start > PIECE:
                end = start + PIECE
                place = _PLACE.search(text, end - _WINDOW, end)
                cut = place.start() if place else end
                yield text[start:cut]
                start = cut
            held, size = [text[start:]], len(text) - start
    yield "".join(held)


def without_lone_surrogates(text: str) -> str:
    """
    Replace lone surrogates with U+FFFD and join surrogate pairs, as JSON encoders do.

    Tokenizers take UTF-8, which has no surrogates; Python strings from broken JSON may hold them.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
