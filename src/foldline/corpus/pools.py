"""Engines that run tasks: processes on this machine, a Dask cluster, or a custom client."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future
from concurrent.futures import wait as wait_for_futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from foldline.corpus.output import Footer
from foldline.corpus.planning import WorkTask
from foldline.corpus.worker import reason
from foldline.errors import FoldlineError, MissingExtra, StoreError
from foldline.frozen import frozen

Function: TypeAlias = Callable[[WorkTask], Footer]
Graph: TypeAlias = Callable[[dict[str, Any], list[str]], Sequence[Footer]]

WINDOW = 64
"""Maximum tasks submitted at a time: a million would fill the memory of a scheduler."""


@frozen
class FinishedTask:
    """A task with its result; None if no worker survived it, for the reason ``lost``."""

    task: WorkTask
    footer: Footer | None
    lost: str = ""


class Engine(Protocol):
    """Runs a function on tasks, in any order and any place."""

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[FinishedTask]:
        """Yield tasks as they finish; closing the generator ends those still running."""
        ...


class FutureEngine:
    """Runs tasks in a given executor, such as a ``ThreadPoolExecutor``."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[FinishedTask]:
        """Yield tasks as they finish; an error of the function is raised."""
        left, running = iter(tasks), dict[Future[Footer], WorkTask]()
        try:
            while True:
                for task in islice(left, WINDOW - len(running)):
                    running[self._executor.submit(function, task)] = task
                if not running:
                    return
                ended, _ = wait_for_futures(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield FinishedTask(running.pop(future), future.result())
        finally:
            for future in running:
                future.cancel()


class GraphEngine:
    """Runs batches of tasks as Dask graphs, on a scheduler such as ``ray_dask_get``."""

    def __init__(self, compute: Graph) -> None:
        self._compute = compute

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[FinishedTask]:
        """Yield tasks as their batch finishes; an error of the function is raised."""
        left: Iterator[WorkTask] = iter(tasks)
        while batch := list(islice(left, WINDOW)):
            graph = {f"foldline-{task.key}": (function, task) for task in batch}
            for task, footer in zip(batch, self._compute(graph, list(graph)), strict=True):
                yield FinishedTask(task, footer)


# --- processes on this machine: one that dies is replaced, and its task retried ---------------

TRIES: Final = 3
"""Number of workers that may die of a task before it is given up."""

FULL: Final = 400 * 1024 * 1024
"""Memory, in bytes, above which a worker is replaced after its task."""

_SPAWN: Final = get_context("spawn")  # a fork would copy the threads and pipes of the caller


@dataclass(eq=False)
class _Worker:
    """A process, the pipe to it, and its current task."""

    process: Any
    pipe: Connection
    task: WorkTask | None = None


@dataclass
class LocalPool:
    """
    A pool of processes.

    Args:
        workers: Number of processes; None for one per processor.
    """

    workers: int | None = None
    _running: list[_Worker] = field(default_factory=list, init=False, repr=False)

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[FinishedTask]:
        """
        Yield tasks as they finish; no process is left running afterwards.

        Raises:
            StoreError: A worker could not write its part.
        """
        waiting, tries = deque(tasks), dict[str, int]()
        count = min(self.workers or os.cpu_count() or 1, len(waiting))
        try:
            while waiting or any(worker.task for worker in self._running):
                while waiting and len(self._running) < count:
                    self._running.append(_start_worker(function))
                for worker in self._running:
                    if worker.task is None and waiting:
                        _hand_over(worker, waiting.popleft())
                for worker in self._ready():
                    yield from self._receive(worker, waiting, tries)
        finally:
            self._end()

    def _ready(self) -> list[_Worker]:
        ready = set(wait([worker.pipe for worker in self._running]))
        return [worker for worker in self._running if worker.pipe in ready]

    def _receive(
        self, worker: _Worker, waiting: deque[WorkTask], tries: dict[str, int]
    ) -> Generator[FinishedTask]:
        """Receive the result of a worker; a closed pipe means that it has died."""
        task = worker.task
        try:
            footer, error, stays = worker.pipe.recv()
        except (EOFError, OSError):
            self._remove(worker)
            if task is None:
                return
            tries[task.key] = tries.get(task.key, 0) + 1
            if tries[task.key] < TRIES:
                waiting.append(task)
            else:
                yield FinishedTask(
                    task, None, f"{TRIES} workers died of it; it may need more memory"
                )
            return
        worker.task = None
        if not stays:
            self._remove(worker)
        if error:
            raise StoreError(error)
        assert task is not None  # noqa: S101  # a worker reports only on its task
        yield FinishedTask(task, footer)

    def _remove(self, worker: _Worker) -> None:
        self._running.remove(worker)
        worker.pipe.close()
        worker.process.join()

    def _end(self) -> None:
        for worker in self._running:
            worker.process.kill()
        for worker in list(self._running):
            self._remove(worker)


def _start_worker(function: Function) -> _Worker:
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=_work, args=(theirs, function), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _hand_over(worker: _Worker, task: WorkTask) -> None:
    worker.task = task
    try:
        worker.pipe.send(task)
    except OSError:
        return  # it has died; its closed pipe is handled next


def _work(pipe: Connection, function: Function) -> None:
    """Run tasks until the pipe closes, as it does when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    stays = True
    while stays:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        footer, error = None, ""
        try:
            footer = function(task)
        except FoldlineError as problem:
            error = problem.message
        stays = _measure_memory() < FULL
        try:
            pipe.send((footer, error, stays))
        except OSError:
            return


def _measure_memory() -> int:
    """Return the memory of this process, in bytes; without /proc, its peak."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux includes the parent's
        return most if sys.platform == "darwin" else most * 1024


# --- a Dask cluster -----------------------------------------------------------------------------

CONNECTING: Final = 10
"""Timeout of a scheduler, in seconds."""

_SETTINGS: Final = {
    # Memory that Python does not release must not block a worker forever; one that uses nearly
    # all of its limit is restarted, together with its task.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
}


class DaskPool:
    """
    Runs tasks on a Dask cluster.

    Args:
        client: A ``distributed.Client``; it stays open.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[FinishedTask]:
        """
        Yield tasks as they finish; one that killed several workers is lost.

        Raises:
            StoreError: The scheduler is lost, or a part could not be written.
        """
        from distributed import as_completed

        left, running = iter(tasks), dict[Any, WorkTask]()
        window = max(WINDOW, 4 * sum(self._client.ncores().values()))
        ended: Any = as_completed([])  # type: ignore[no-untyped-call]

        def submit(count: int) -> None:
            for task in islice(left, count):
                key = f"foldline-{task.key}"
                future = self._client.submit(function, task, key=key, pure=False)
                running[future] = task
                ended.add(future)

        try:
            submit(window)
            for future in ended:
                yield _finish(running.pop(future), future)
                submit(1)
        finally:
            if self._client.status == "running":
                self._client.cancel(list(running))


def _finish(task: WorkTask, future: Any) -> FinishedTask:
    from distributed import KilledWorker

    try:
        return FinishedTask(task, future.result(timeout=CONNECTING))
    except KilledWorker:
        return FinishedTask(task, None, "several workers died of it; it may need more memory")
    except FoldlineError:
        raise
    except Exception as error:
        if future.status in ("cancelled", "lost", "pending"):
            raise StoreError(
                "The scheduler is lost, or has dropped the run.",
                hint="Run the same command again: it resumes where this one ended.",
            ) from error
        raise StoreError(f"A worker failed: {reason(error)}.") from error


@contextmanager
def cluster(workers: int, memory: int) -> Iterator[Any]:
    """
    Start workers on this machine, with a scheduler, and end them.

    Args:
        workers: Number of processes.
        memory: Memory limit of each, in bytes, above which it is restarted.

    Yields:
        A client.
    """
    dask, distributed = _dask()
    with (
        dask.config.set(_SETTINGS),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory,
            # Without an address the dashboard server, which is started even if it shows
            # none, takes port 8787 and warns if another cluster has it.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as running_cluster,
        distributed.Client(running_cluster) as client,
    ):
        yield client


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """
    Connect to a scheduler.

    Args:
        address: An address such as ``tcp://10.0.0.5:8786``.

    Yields:
        A client.

    Raises:
        StoreError: No scheduler answers there.
    """
    _, distributed = _dask()
    try:
        client = distributed.Client(address, timeout=CONNECTING)
    except (OSError, ValueError) as error:
        raise StoreError(f"No scheduler answers at {address}: {error}.") from error
    with client:
        yield client


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise MissingExtra("distributed", "cluster") from error
    return dask, distributed
