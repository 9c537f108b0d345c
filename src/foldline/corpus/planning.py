"""Split files into tasks: some small files, a large one, or a range of a very large one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

from foldline.corpus.filesystem import SourceFile, read_start
from foldline.errors import FoldlineError
from foldline.frozen import frozen

TASK_BYTES: Final = 4 * 1024 * 1024
"""Maximum total size of the small files in one task, in bytes."""

TASK_FILES: Final = 64
"""Maximum number of files in one task, which bounds the number of output files."""

RANGE_BYTES: Final = 16 * 1024 * 1024
"""Size of the ranges of a file with a conversation in every line, in bytes."""

MAX_BYTES: Final = 32 * 1024 * 1024
"""Maximum size of a decompressed session, in bytes; bounds the memory of a worker."""

_BREAK: Final = 16
"""
A task ends after about one in this many files, chosen by the names of the file and its folder:
tasks then stay the same when other files are added or removed.
"""


@frozen
class WorkPiece:
    """A file, or its lines that start at offsets from ``start`` to before ``end``, in bytes."""

    file: SourceFile
    start: int = 0
    end: int | None = None


@frozen
class WorkTask:
    """Pieces that are processed together; ``name`` is that of their part in the output."""

    number: int
    key: str
    pieces: tuple[WorkPiece, ...]

    @property
    def name(self) -> str:
        """Name of the output file: digits only, independent of the names of the inputs."""
        return f"part-{self.number:08d}-{self.key}.parquet"

    @property
    def size(self) -> int:
        """The amount to read, in bytes."""
        return sum(max(0, p.file.size) if p.end is None else p.end - p.start for p in self.pieces)


def plan(files: Iterable[SourceFile], fingerprint: str) -> list[WorkTask]:
    """
    Divide files into tasks, in their order.

    Args:
        files: Sorted by path.
        fingerprint: Identifies the operation; equal files and fingerprint give equal keys.
    """
    return [
        WorkTask(number, _key(pieces, fingerprint), pieces)
        for number, pieces in enumerate(_group(files))
    ]


def divide(task: WorkTask, fingerprint: str) -> list[WorkTask]:
    """Divide a task into one per piece, to find the piece that kills its workers."""
    return [WorkTask(task.number, _key((piece,), fingerprint), (piece,)) for piece in task.pieces]


def is_collection(head: bytes) -> bool:
    """Return True if a file is JSON Lines with a whole conversation in every line."""
    line, feed, rest = head.partition(b"\n")
    if not feed or not rest.strip():
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    messages = _messages(value)
    return bool(messages) and all(isinstance(m, dict) and "role" in m for m in messages)


def _messages(value: Any) -> list[Any]:
    found = value.get("messages", value.get("contents")) if isinstance(value, dict) else value
    return found if isinstance(found, list) else []


def _group(files: Iterable[SourceFile]) -> Iterator[tuple[WorkPiece, ...]]:
    waiting, size = list[WorkPiece](), 0
    for file in files:
        ranges = list(_ranges(file))
        full = size + file.size > TASK_BYTES or len(waiting) == TASK_FILES
        if waiting and (ranges or full):
            yield tuple(waiting)
            waiting, size = [], 0
        if ranges:
            yield from ((piece,) for piece in ranges)
            continue
        waiting.append(WorkPiece(file))
        size += max(0, file.size)
        if _digest("/".join(file.path.split("/")[-2:]))[0] % _BREAK == 0:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)


def _ranges(file: SourceFile) -> Iterator[WorkPiece]:
    """Divide a large file, if its lines are conversations; a session is never divided."""
    if file.size <= RANGE_BYTES:
        return
    try:
        divide = is_collection(read_start(file.path, RANGE_BYTES))
    except FoldlineError:
        return  # the reader reports the reason
    for start in range(0, file.size if divide else 0, RANGE_BYTES):
        yield WorkPiece(file, start, min(start + RANGE_BYTES, file.size))


def _key(pieces: tuple[WorkPiece, ...], fingerprint: str) -> str:
    identity = [(p.file.path, p.file.size, p.file.version, p.start, p.end) for p in pieces]
    return _digest(repr((fingerprint, identity))).hex()[:20]


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogateescape")).digest()
