"""The work of one process: read a piece of the corpus, run the operation, write the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from foldline.corpus.filesystem import read_lines, read_whole, write_whole
from foldline.corpus.operation import LOCATION_COLUMNS, Operation, Row, Work
from foldline.corpus.output import PARTS, Footer, parquet_bytes
from foldline.corpus.planning import MAX_BYTES, WorkPiece, WorkTask, is_collection
from foldline.errors import FoldlineError, InputError
from foldline.formats.files import check_json, detect_file
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource, too_large
from foldline.frozen import frozen

LONGEST_REASON: Final = 500
"""Maximum length of a reason, in characters."""


@frozen
class SessionRead:
    """
    One session of a corpus.

    ``offset`` is its start in a file with one session per line, in bytes. ``recording`` is
    None if it cannot be read, for the reason in ``error``; ``passing`` if that may be transient.
    """

    path: str
    offset: int
    recording: Recording | None = None
    error: str = ""
    passing: bool = False


def sessions(piece: WorkPiece) -> Iterator[SessionRead]:
    """Read the sessions of a piece; never raises for the content of a file."""
    path = piece.file.path
    try:
        if piece.file.problem:
            raise InputError(f"{path} cannot be read: {piece.file.problem}")
        if piece.end is not None:
            yield from _lines(path, read_lines(path, piece.start, piece.end, MAX_BYTES))
            return
        source = TranscriptSource.of(
            read_whole(path, MAX_BYTES), path.rsplit("/", 1)[-1], MAX_BYTES
        )
    except FoldlineError as error:
        # A file that cannot be opened now may open next time; bad content stays bad.
        yield SessionRead(path, 0, error=reason(error), passing="cannot be read" in error.message)
        return
    if is_collection(source.data):
        yield from _lines(path, _offsets(source))
    else:
        yield _session(path, 0, lambda: source)


def reason(error: BaseException) -> str:
    """Describe an error in one sentence of limited length."""
    text = str(error) if isinstance(error, FoldlineError) else f"{type(error).__name__}: {error}"
    return " ".join(text[: LONGEST_REASON * 2].split())[:LONGEST_REASON]


def _offsets(source: TranscriptSource) -> Iterator[tuple[int, bytes | None]]:
    offset = 0
    for line in source.lines:
        yield offset, line
        offset += len(line)


def _lines(path: str, lines: Iterator[tuple[int, bytes | None]]) -> Iterator[SessionRead]:
    for offset, line in lines:
        if line is None or line.strip():
            yield _session(path, offset, partial(_line, line, offset))


def _line(line: bytes | None, offset: int) -> TranscriptSource:
    name = f"the line at byte {offset}"
    if line is None:
        raise too_large(name, MAX_BYTES)
    return TranscriptSource.of(line, name, MAX_BYTES)


def _session(path: str, offset: int, source: Callable[[], TranscriptSource]) -> SessionRead:
    try:
        opened = source()
        check_json(opened)
        return SessionRead(path, offset, detect_file(opened).decode(opened))
    except Exception as error:  # noqa: BLE001  # one file must not end a run of thousands
        return SessionRead(path, offset, error=reason(error))


MOST_REASONS: Final = 5
"""Maximum failures in the footer of a part; its rows have all of them."""


def process(operation: Operation, out: str, task: WorkTask) -> Footer:
    """
    Process a task and write its part.

    Args:
        operation: The operation on every session.
        out: The output folder.
        task: The files.

    Returns:
        The footer of the part: totals, sessions, failures.

    Raises:
        StoreError: The part cannot be written.
    """
    footer = _empty()
    return _write(operation, out, task, _rows(operation, task, footer), footer)


def give_up(operation: Operation, out: str, task: WorkTask, why: str) -> Footer:
    """Write the part of a task that no worker survives: only the reason, for every file."""
    footer = _empty()
    lost = (SessionRead(p.file.path, p.start, error=why, passing=True) for p in task.pieces)
    rows = (_failure(session, footer) for session in lost)
    return _write(operation, out, task, rows, footer)


def _empty() -> Footer:
    return {"sessions": 0, "failed": 0, "again": False, "totals": {}, "reasons": []}


def _write(
    operation: Operation, out: str, task: WorkTask, rows: Iterable[Row], footer: Footer
) -> Footer:
    if operation.order:
        rows = sorted(
            rows,
            key=lambda row: [
                (row.get(name) is not None, row.get(name)) for name in operation.order
            ],
        )
    columns = {**LOCATION_COLUMNS, **operation.columns}
    write_whole(f"{out}/{PARTS}/{task.name}", parquet_bytes(rows, columns, footer))
    return footer


def _rows(operation: Operation, task: WorkTask, footer: Footer) -> Iterator[Row]:
    work = operation.start()
    for piece in task.pieces:
        for session in sessions(piece):
            footer["sessions"] += 1
            if session.recording is None:
                yield _failure(session, footer)
            else:
                yield from _work_on(operation, work, session, session.recording, footer)


def _work_on(
    operation: Operation, work: Work, session: SessionRead, recording: Recording, footer: Footer
) -> Iterable[Row]:
    try:
        rows = list(work(recording))
        totals = operation.totals(rows)
    except Exception as error:  # noqa: BLE001  # one session must not end a run of thousands
        return [_failure(SessionRead(session.path, session.offset, error=reason(error)), footer)]
    for name, value in totals.items():
        footer["totals"][name] = footer["totals"].get(name, 0) + value
    return [{**row, "path": session.path, "offset": session.offset} for row in rows]


def _failure(session: SessionRead, footer: Footer) -> Row:
    footer["failed"] += 1
    footer["again"] = footer["again"] or session.passing
    if len(footer["reasons"]) < MOST_REASONS:
        footer["reasons"].append([session.path, session.offset, session.error])
    return {"path": session.path, "offset": session.offset, "error": session.error}
