"""Items: the words of a text that are used verbatim: names, paths, ids, numbers, flags."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from foldline.lazy import lazy_pattern

LONGEST = 160
"""Characters of the longest word that can hold items."""

_CAMEL = lazy_pattern(r"[a-z][A-Z]")
_HEX = lazy_pattern(r"[0-9a-f]{7,64}")
_SUBWORD = lazy_pattern(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")

_MEMO_SIZE = 1 << 13
"""Maximum number of cached words, of about 150 bytes each."""


def _is_kept(char: str) -> bool:
    return char == "\n" or (char.isascii() and (char.isalnum() or char in "_./@~+-"))


# Characters beyond Latin-1 are encoded as "?", which no name contains: one blank for each.
_BLANKED = bytes(code if _is_kept(chr(code)) else ord(" ") for code in range(256))


def blank_separators(text: str) -> str:
    """
    Replace every character that no item contains with a blank; positions and line feeds stay.

    Splitting the result finds words three times as fast as a regular expression.
    """
    return text.encode("latin-1", "replace").translate(_BLANKED).decode("ascii")


def is_name(word: str) -> bool:
    """Return True for a path, number, flag, hash or name, False for an ordinary word."""
    if word.startswith("-"):
        return word.lstrip("-")[:1].isalpha() and len(word) > 3
    # One after the other: a loop over the signs takes longer than all the rest.
    if word.isdigit() or "/" in word or "_" in word or "." in word or "@" in word:
        return True
    if word.islower():
        return not word.isalpha() and _HEX.fullmatch(word) is not None
    return len(word) >= 4 if word.isupper() else _CAMEL.search(word) is not None


def is_exact(name: str) -> bool:
    """Return True for a path, number, hash or dotted name: these cannot be paraphrased."""
    if "/" in name or name.replace(".", "").isdigit():
        return not name.startswith("-")
    if name.startswith("-") or "_" in name:
        return False
    return "." in name or "@" in name or (bool(_HEX.fullmatch(name)) and not name.isalpha())


class _Memo(dict[str, tuple[str, ...]]):
    """A cache of the items of every word, so that a loop at C speed can look up many words."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(word) > LONGEST:
            return ()  # not cached: it may be as long as a text
        if len(self) >= _MEMO_SIZE:
            self.clear()
        found = self[word] = _items(word) if len(word) >= 3 else ()
        return found


def _items(word: str) -> tuple[str, ...]:
    """Return the items in a word, without surrounding punctuation; an ordinary word has none."""
    bare = word.rstrip("./-+~@").lstrip("+._")
    if "-" not in bare or "/" in bare or bare.startswith("-"):
        return (bare,) if len(bare) >= 3 and is_name(bare) else ()
    # Hyphenated words share endings more often than the whole word: rev-parse, re-parse.
    pieces = [*bare.split("-"), bare[bare.index("-") :]]
    return tuple([piece for piece in pieces if len(piece) >= 3 and is_name(piece)])


_memo = _Memo()


def mentions(plain: str) -> Iterator[str]:
    """Yield every mention of an item in a text from `blank_separators`, in order."""
    # Line by line: the list of the words of a long text takes ten times its memory.
    words = chain.from_iterable(map(str.split, plain.split("\n")))
    return chain.from_iterable(map(_memo.__getitem__, words))


def items(text: str) -> dict[str, None]:
    """Return the items of a text, each once, in order of appearance."""
    return dict.fromkeys(mentions(blank_separators(text)))


def words(text: str) -> set[str]:
    """Return the ordinary words of a text in lower case, including those inside names."""
    return {word.lower() for word in _SUBWORD.findall(text)}
