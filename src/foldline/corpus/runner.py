"""A run over a corpus: list, plan, skip finished tasks, process, and write the manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

import foldline
from foldline.corpus.filesystem import list_files
from foldline.corpus.operation import Operation
from foldline.corpus.output import Footer, OutputFolder, import_arrow, settings
from foldline.corpus.planning import WorkTask, divide, plan
from foldline.corpus.pools import (
    DaskPool,
    Engine,
    FutureEngine,
    GraphEngine,
    LocalPool,
    cluster,
    connected,
)
from foldline.corpus.worker import give_up, process
from foldline.errors import InputError
from foldline.frozen import field, frozen

Progress: TypeAlias = Callable[[int, int], None]

MOST_FAILURES: Final = 20
"""Maximum failures in a report and a manifest; the tables have all of them."""

WORKER_BYTES: Final = 1024 * 1024 * 1024
"""Memory limit of a Dask worker on this machine, in bytes, above which it is restarted."""


@frozen
class CorpusReport:
    """
    The results of a run.

    Args:
        out: The output folder.
        sessions: Number of sessions, including failed ones.
        failed: Number of sessions that could not be read or processed.
        resumed: Number of parts that an earlier run finished.
        parts: Number of all parts.
        totals: Sums over all sessions, by name.
        failures: The first failures: path, byte offset, reason.
    """

    out: str
    sessions: int
    failed: int
    resumed: int
    parts: int
    totals: Mapping[str, float] = field(repr=False)
    failures: tuple[tuple[str, int, str], ...] = field(repr=False)


def run(
    operation: Operation,
    patterns: Sequence[str],
    out: str,
    *,
    engine: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    client: Any = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CorpusReport:
    """
    Run an operation on every session of a corpus.

    The output is the same for any number of workers. An interrupted run resumes where it ended
    when started again; a session that fails becomes a row with the reason.

    Args:
        operation: `Scan`, `Compact`, `Measure` or `Index`.
        patterns: Files, folders and patterns, on this machine or addresses that fsspec knows.
        out: The folder of the output, or an address.
        engine: "local" for a pool of processes, "dask" for a Dask cluster on this machine.
        scheduler: The address of a Dask scheduler, instead of an engine.
        client: A custom client: a ``distributed.Client``, an executor of futures, or a
            function that computes a Dask graph, such as ``ray.util.dask.ray_dask_get``.
        workers: Processes on this machine; None for one per processor.
        progress: Called with the bytes processed, and those of the whole corpus.

    Raises:
        InputError: A pattern matches nothing, or cannot be listed.
        MissingExtra: The extra ``cluster`` is not installed.
        StoreError: The output cannot be written or holds another run, or the scheduler is lost.
    """
    import_arrow()  # a worker without it would fail only after the work
    place = OutputFolder(out)
    files = list_files(patterns, place.folder)
    if not files:
        raise InputError("The corpus is empty", hint="Name files, folders or patterns.")
    mark = _fingerprint(operation)
    tasks = plan(files, mark)
    with place.lock():
        place.begin(operation, mark)
        footers = place.finished_parts(tasks)
        resumed = len(footers)
        left = [task for task in tasks if task.key not in footers]
        whole = sum(task.size for task in tasks)
        size = whole - sum(task.size for task in left)
        with _engine(engine, scheduler, client, workers, len(left)) as running_engine:
            lost = list[WorkTask]()
            for task, footer in _work(operation, place.folder, left, running_engine):
                if footer is None:
                    lost.append(task)
                    continue
                footers[task.key] = footer
                size += task.size
                if progress is not None:
                    progress(size, whole)
            if lost:
                footers |= _retry_alone(operation, place.folder, lost, mark)
                tasks = [one for task in tasks for one in _parts(task, lost, mark)]
        found = _add_up([footers[task.key] for task in tasks])
        place.finish(operation, mark, tasks, {"files": len(files), **found})
    failures = tuple((path, offset, why) for path, offset, why in found.pop("failures"))
    return CorpusReport(
        place.folder, resumed=resumed, parts=len(tasks), failures=failures, **found
    )


def _work(
    operation: Operation, out: str, tasks: Sequence[WorkTask], engine: Engine
) -> Iterator[tuple[WorkTask, Footer | None]]:
    """Yield the footers of parts; None for a task of several pieces that no worker survived."""
    with closing(engine.run(partial(process, operation, out), tasks)) as ended:
        for done in ended:
            footer = done.footer
            if footer is None and len(done.task.pieces) == 1:
                footer = give_up(operation, out, done.task, done.lost)
            yield done.task, footer


def _retry_alone(
    operation: Operation, out: str, lost: Sequence[WorkTask], mark: str
) -> dict[str, Footer]:
    """Retry every piece of lost tasks alone, so that only the one at fault is lost."""
    pieces = [piece for task in lost for piece in divide(task, mark)]
    ended = _work(operation, out, pieces, LocalPool(1))
    return {task.key: footer for task, footer in ended if footer is not None}


def _parts(task: WorkTask, lost: Sequence[WorkTask], mark: str) -> list[WorkTask]:
    return divide(task, mark) if task in lost and len(task.pieces) > 1 else [task]


@contextmanager
def _engine(
    name: str, scheduler: str | None, client: Any, workers: int | None, tasks: int
) -> Iterator[Engine]:
    """Choose the engine that runs the tasks; one that is started here is stopped here."""
    if client is not None:
        yield _engine_for(client)
    elif scheduler is None and (name == "local" or not tasks):
        yield LocalPool(workers)
    else:
        with (
            connected(scheduler)
            if scheduler
            else cluster(workers or os.cpu_count() or 1, WORKER_BYTES) as dask
        ):
            yield DaskPool(dask)


def _engine_for(client: Any) -> Engine:
    if hasattr(client, "ncores"):
        return DaskPool(client)
    if hasattr(client, "submit"):
        return FutureEngine(client)
    if callable(client):
        return GraphEngine(client)
    raise InputError(f"client is not a Dask client, executor or function: {client!r:.60}")


def _fingerprint(operation: Operation) -> str:
    settled = [foldline.__version__, operation.name, settings(operation)]
    return sha256(json.dumps(settled, sort_keys=True).encode()).hexdigest()


def _add_up(footers: Sequence[Footer]) -> dict[str, Any]:
    """Add up the footers in order, since sums of fractions depend on it."""
    totals, failures = dict[str, float](), list[Any]()
    for footer in footers:
        for name, value in footer["totals"].items():
            totals[name] = totals.get(name, 0) + value
        failures += footer["reasons"][: MOST_FAILURES - len(failures)]
    return {
        "sessions": sum(footer["sessions"] for footer in footers),
        "failed": sum(footer["failed"] for footer in footers),
        "totals": totals,
        "failures": failures,
    }
