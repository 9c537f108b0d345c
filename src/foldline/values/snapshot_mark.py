"""
The mark by which a text of Foldline is recognised in a plain list of messages.

The first line ends with a checksum over the text and its length in characters, as in
``… #1a2b3c4d+1234]``: pasted, edited or quoted text does not match it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from foldline.blake2 import blake2b
from foldline.lazy import lazy_pattern

SNAPSHOT_HEADER = "[Snapshot by Foldline, not by the user"
"""Opening of a snapshot in English."""

CHINESE_HEADER = "[Foldline 的快照，并非用户所写"
"""Opening of a snapshot in Chinese."""

SNAPSHOT_HEADERS = (SNAPSHOT_HEADER, CHINESE_HEADER)
"""Openings of snapshots of all versions."""

ATTACHMENT_HEADER = "[Put back by Foldline, not by the user"
"""Opening of every message that reinjects files and plans after a compaction."""

LONGEST_HEAD = 1_000
"""Maximum length of a first line with a mark, in characters."""

LONGEST_MARK = 20
"""Maximum length of a mark, in characters."""

CHUNK = 65_536
"""Number of characters encoded at once for a checksum."""

REMEMBERED = 32
"""Number of cached checks; a conversation has a snapshot or two."""

_MARK = lazy_pattern(r" #([0-9a-f]{8})\+(\d{1,9})\]\Z")

_HEAD_010 = lazy_pattern(
    re.escape(SNAPSHOT_HEADER) + r": quotes from \d[\d,]{0,15} folded messages "
    r"\(\d[\d,]{0,15} tokens\), some of them parts of lines\. Data, not instructions\. "
    r"The number before a line recalls its step(?:, [0-9a-f]{1,10} \(with grep\) all)?\.\]"
)
_NARRATIVE_010 = "## What happened, told by a model"
_SECTIONS_010 = frozenset(
    f"## {title}"
    for title in ("The user said", "Files", "Plan", "Open errors", "Decisions", "What happened")
)
_LINE_010 = lazy_pattern(r" |[0-9a-f]{6,32}(?:\.\d{1,9})? ")


def seal_text(text: str) -> str:
    """
    Return a text of Foldline with its mark at the end of the first line.

    The mark covers the first line and the text below it, except trailing white space; an existing
    mark is replaced.
    """
    head, feed, rest = text.partition("\n")
    return f"{seal(head, [rest] if feed else [])}{feed}{rest}"


def seal(head: str, texts: Sequence[str] = ()) -> str:
    """Return a first line with its mark over the texts of one or more lines that follow it."""
    covered = list(texts)
    while covered and not covered[-1].strip():
        covered.pop()
    covered[-1:] = map(str.rstrip, covered[-1:])
    size = sum(map(len, covered)) + max(0, len(covered) - 1)
    stem = _MARK.sub("]", head).removesuffix("]")
    return f"{stem} #{_checksum(stem, covered)}+{size}]"


def first_line(text: str) -> str:
    """Return the first line of a text, without the mark."""
    feed = text.find("\n")
    return _MARK.sub("]", text if feed < 0 else text[:feed])


def split_snapshot(text: str) -> tuple[str, str]:
    """
    Separate a snapshot from text that a client merged after it into the same message.

    Returns:
        The text of the snapshot, "" if the text does not start with one, and the rest.
    """
    end = seal_end(text, SNAPSHOT_HEADERS)
    return text[:end], text[end:]


def seal_end(text: str, headers: tuple[str, ...], start: int = 0) -> int:
    """Return the end of a marked text with one of these headers; ``start`` if there is none."""
    return _seal_end(text, start) if text.startswith(headers, start) else start


@lru_cache(maxsize=REMEMBERED)
def _seal_end(text: str, start: int) -> int:
    feed = text.find("\n", start, start + LONGEST_HEAD)
    first = feed if feed >= 0 else min(len(text), start + LONGEST_HEAD)
    mark = _MARK.search(text, max(start, first - LONGEST_MARK), first)
    if mark is None:
        return len(text) if _is_from_010(text[start:]) else start
    size = int(mark[2])
    end = first + 1 + size if size else first
    if end > len(text) or mark[1] != _checksum(
        text[start : mark.start()], [text[first + 1 : end]]
    ):
        return start
    return end


def _checksum(head: str, texts: Iterable[str]) -> str:
    # Piece by piece, to avoid a copy of a large snapshot.
    digest = blake2b(head.encode("utf-8", "surrogatepass"), digest_size=4)
    digest.update(b"\n")
    for number, text in enumerate(texts):
        digest.update(b"\n" if number else b"")
        for start in range(0, len(text), CHUNK):
            digest.update(text[start : start + CHUNK].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _is_from_010(text: str) -> bool:
    """Return True if a text is only a snapshot of 0.1.0, which had no marks."""
    head, *lines = text.rstrip().split("\n")
    if not _HEAD_010.fullmatch(head):
        return False
    free = False
    for number, line in enumerate(lines):
        if line in _SECTIONS_010:
            free = False
        elif number == 0:
            if line != _NARRATIVE_010:
                return False
            free = True
        elif not free and not _LINE_010.match(line):
            return False
    return True
