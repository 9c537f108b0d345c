"""From a piece of a corpus to its sessions, one after the other; what cannot be read says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from foldline.corpus.filesystem import read_lines, read_whole
from foldline.corpus.planning import MAX_BYTES, Piece, is_collection
from foldline.errors import FoldlineError, InputError
from foldline.formats.files import check_json, detect_file
from foldline.formats.recording import Recording
from foldline.formats.source import Source, too_large

LONGEST_REASON: Final = 500
"""Characters of a reason that are kept."""


@dataclass(frozen=True, slots=True)
class Session:
    """
    One session of a corpus.

    ``offset`` is where it begins in a file that has one in every line, in bytes. ``recording`` is
    None where it cannot be read, for the reason in ``error``; ``passing`` if that may go away.
    """

    path: str
    offset: int
    recording: Recording | None = None
    error: str = ""
    passing: bool = False


def sessions(piece: Piece) -> Iterator[Session]:
    """Read the sessions of a piece; never raises for what is in a file."""
    path = piece.file.path
    try:
        if piece.file.problem:
            raise InputError(f"{path} cannot be read: {piece.file.problem}")
        if piece.end is not None:
            yield from _lines(path, read_lines(path, piece.start, piece.end, MAX_BYTES))
            return
        source = Source.of(read_whole(path, MAX_BYTES), path.rsplit("/", 1)[-1], MAX_BYTES)
    except FoldlineError as error:
        # A file that cannot be opened now may be there the next time; its content stays bad.
        yield Session(path, 0, error=reason(error), passing="cannot be read" in error.message)
        return
    if is_collection(source.data):
        yield from _lines(path, _offsets(source))
    else:
        yield _session(path, 0, lambda: source)


def reason(error: BaseException) -> str:
    """Say in one bounded sentence what went wrong."""
    text = str(error) if isinstance(error, FoldlineError) else f"{type(error).__name__}: {error}"
    return " ".join(text[: LONGEST_REASON * 2].split())[:LONGEST_REASON]


def _offsets(source: Source) -> Iterator[tuple[int, bytes | None]]:
    offset = 0
    for line in source.lines:
        yield offset, line
        offset += len(line)


def _lines(path: str, lines: Iterator[tuple[int, bytes | None]]) -> Iterator[Session]:
    for offset, line in lines:
        if line is None or line.strip():
            yield _session(path, offset, partial(_line, line, offset))


def _line(line: bytes | None, offset: int) -> Source:
    name = f"the line at byte {offset}"
    if line is None:
        raise too_large(name, MAX_BYTES)
    return Source.of(line, name, MAX_BYTES)


def _session(path: str, offset: int, source: Callable[[], Source]) -> Session:
    try:
        there = source()
        check_json(there)
        return Session(path, offset, detect_file(there).decode(there))
    except Exception as error:  # noqa: BLE001  # one file never ends a run of thousands
        return Session(path, offset, error=reason(error))
