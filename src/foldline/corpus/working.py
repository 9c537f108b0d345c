"""What a worker does: one task, from files to one file of output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from foldline.corpus.filesystem import write_whole
from foldline.corpus.operation import PLACE, Operation, Row, Work
from foldline.corpus.parquet import parquet_bytes
from foldline.corpus.planning import Task
from foldline.corpus.reading import Session, reason, sessions
from foldline.formats.recording import Recording

PARTS: Final = "parts"
MOST_REASONS: Final = 5
"""Failures that a part names in its footer; its rows name all of them."""

Footer: TypeAlias = dict[str, Any]


def process(operation: Operation, out: str, task: Task) -> Footer:
    """
    Work on a task and write its part.

    Args:
        operation: What is done with a session.
        out: The folder of the output.
        task: The files.

    Returns:
        What the footer of the part says: totals, sessions, failures.

    Raises:
        StoreError: The part cannot be written.
    """
    footer = _empty()
    rows = _rows(operation, task, footer)
    return _write(operation, out, task, rows, footer)


def give_up(operation: Operation, out: str, task: Task, why: str) -> Footer:
    """Write the part of a task that no worker survives: nothing but the reason, for every file."""
    footer = _empty()
    lost = (Session(p.file.path, p.start, error=why, passing=True) for p in task.pieces)
    rows = (_failure(session, footer) for session in lost)
    return _write(operation, out, task, rows, footer)


def _empty() -> Footer:
    return {"sessions": 0, "failed": 0, "again": False, "totals": {}, "reasons": []}


def _write(
    operation: Operation, out: str, task: Task, rows: Iterable[Row], footer: Footer
) -> Footer:
    if operation.order:
        rows = sorted(
            rows,
            key=lambda row: [
                (row.get(name) is not None, row.get(name)) for name in operation.order
            ],
        )
    columns = {**PLACE, **operation.columns}
    write_whole(f"{out}/{PARTS}/{task.name}", parquet_bytes(rows, columns, footer))
    return footer


def _rows(operation: Operation, task: Task, footer: Footer) -> Iterator[Row]:
    work = operation.start()
    for piece in task.pieces:
        for session in sessions(piece):
            footer["sessions"] += 1
            if session.recording is None:
                yield _failure(session, footer)
            else:
                yield from _worked(operation, work, session, session.recording, footer)


def _worked(
    operation: Operation, work: Work, session: Session, recording: Recording, footer: Footer
) -> Iterable[Row]:
    try:
        rows = list(work(recording))
        totals = operation.totals(rows)
    except Exception as error:  # noqa: BLE001  # one session never ends a run of thousands
        return [_failure(Session(session.path, session.offset, error=reason(error)), footer)]
    for name, value in totals.items():
        footer["totals"][name] = footer["totals"].get(name, 0) + value
    return [{**row, "path": session.path, "offset": session.offset} for row in rows]


def _failure(session: Session, footer: Footer) -> Row:
    footer["failed"] += 1
    footer["again"] = footer["again"] or session.passing
    if len(footer["reasons"]) < MOST_REASONS:
        footer["reasons"].append([session.path, session.offset, session.error])
    return {"path": session.path, "offset": session.offset, "error": session.error}
