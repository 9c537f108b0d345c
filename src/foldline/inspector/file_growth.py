"""
A file that grows: only what was appended is read, where the beginning is still the same.

The new lines are decoded together with the first lines of the file and those just before them; the
last messages that are known have to come out of that again, else the file is read as a whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from foldline.errors import InputError
from foldline.formats.files import read_file
from foldline.values.identity import identify
from foldline.values.messages import Message

HEAD: Final = 64 * 1024
"""Bytes at the beginning of a file that say what it is; whole lines of them are decoded anew."""

OVERLAP: Final = 512 * 1024
"""Bytes before the new ones that are decoded with them."""

MOST: Final = 16_000_000
"""New bytes from which a file is read as a whole."""

SAME: Final = 12
"""Known messages that have to come out again; fewer where there are no more."""

CHANGED: Final = 3
"""Messages at the end that the next lines may still change."""

_STEP: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Mark:
    """
    Up to where a file of lines was read.

    ``end`` is behind its last whole line, in bytes; ``digest`` is that of everything before.
    """

    path: Path
    format: str
    inode: int
    end: int
    digest: bytes = field(repr=False)


def mark(path: Path, format: str, size: int) -> Mark | None:  # noqa: A002  # as everywhere
    """
    Remember a file that was read.

    Args:
        path: The file.
        format: What it is.
        size: How long it was when reading began, in bytes.

    Returns:
        None where it is not written line by line, so that it cannot be read from the middle.
    """
    with path.open("rb") as file:
        first = file.readline(HEAD)
        if not first.endswith(b"\n") or not _is_object(first):
            return None
        end = _line_end(file, size)
        return Mark(path, format, os.fstat(file.fileno()).st_ino, end, _digest(file, end))


def appended(marked: Mark, known: Sequence[Message]) -> tuple[tuple[Message, ...], Mark] | None:
    """
    Read what was appended to a file.

    Args:
        marked: Up to where it was read.
        known: The messages of its current conversation.

    Returns:
        All messages of the conversation now, those that are known as the same objects; None where
        the file has to be read as a whole.
    """
    with marked.path.open("rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        if status.st_ino != marked.inode or not 0 <= size - marked.end <= MOST:
            return None
        if _digest(file, marked.end) != marked.digest:
            return None
        end = _line_end(file, size)
        window = _window(file, marked.end, size)
        now = Mark(marked.path, marked.format, marked.inode, end, _digest(file, end))
    try:
        found = read_file(window, format=marked.format).current.transcript.messages
    except InputError:
        return None
    joined = _joined(known, found)
    return None if joined is None else (joined, now)


def _joined(known: Sequence[Message], found: Sequence[Message]) -> tuple[Message, ...] | None:
    """Continue known messages by those that were found behind the last of them."""
    for dropped in range(min(CHANGED, len(known) - 1) + 1):
        kept = known[: len(known) - dropped]
        last = kept[-SAME:]
        ends = [
            end
            for end in range(len(last), len(found) + 1)
            if found[end - 1] == last[-1] and tuple(found[end - len(last) : end]) == tuple(last)
        ]
        if len(ends) == 1:
            return (*kept, *identify(found[ends[0] :], [message.id for message in kept]))
        if ends:
            return None
    return None


def _window(file: BinaryIO, start: int, end: int) -> bytes:
    """Return whole lines: the first of a file, those before a place, and those from there on."""
    file.seek(0)
    head = file.read(min(HEAD, start))
    head = head[: head.rfind(b"\n") + 1]
    begin = max(len(head), start - OVERLAP)
    file.seek(begin)
    rest = file.read(end - begin)
    if begin > len(head):
        rest = rest[rest.find(b"\n") + 1 :]
    return head + rest


def _line_end(file: BinaryIO, size: int) -> int:
    """Return where the last whole line of the first ``size`` bytes ends."""
    end = size
    while end > 0:
        start = max(0, end - _STEP)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _digest(file: BinaryIO, end: int) -> bytes:
    digest = blake2b(digest_size=16)
    file.seek(0)
    while end > 0:
        piece = file.read(min(_STEP, end))
        if not piece:
            break
        digest.update(piece)
        end -= len(piece)
    return digest.digest()


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
