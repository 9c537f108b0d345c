"""Processes on this machine: one that dies is replaced, and its task tried again."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from foldline.corpus.planning import WorkTask
from foldline.corpus.worker import Done, Function
from foldline.errors import FoldlineError, StoreError

TRIES: Final = 3
"""How many workers may die of a task before it is given up."""

FULL: Final = 400 * 1024 * 1024
"""Memory, in bytes, from which a worker is replaced by a new one after its task."""

_SPAWN: Final = get_context("spawn")  # a fork would copy the threads and pipes of the caller


@dataclass(eq=False)
class _Worker:
    """A process, the pipe to it, and the task that it has."""

    process: Any
    pipe: Connection
    task: WorkTask | None = None


@dataclass
class LocalPool:
    """
    A pool of processes.

    Args:
        workers: How many; None for one a processor.
    """

    workers: int | None = None
    _running: list[_Worker] = field(default_factory=list, init=False, repr=False)

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[Done]:
        """
        Yield tasks as they end; no process is left afterwards, however it ends.

        Raises:
            StoreError: A worker could not write its part.
        """
        waiting, tries = deque(tasks), dict[str, int]()
        count = min(self.workers or os.cpu_count() or 1, len(waiting))
        try:
            while waiting or any(worker.task for worker in self._running):
                while waiting and len(self._running) < count:
                    self._running.append(_started(function))
                for worker in self._running:
                    if worker.task is None and waiting:
                        _hand_over(worker, waiting.popleft())
                for worker in self._ready():
                    yield from self._received(worker, waiting, tries)
        finally:
            self._end()

    def _ready(self) -> list[_Worker]:
        ready = set(wait([worker.pipe for worker in self._running]))
        return [worker for worker in self._running if worker.pipe in ready]

    def _received(
        self, worker: _Worker, waiting: deque[WorkTask], tries: dict[str, int]
    ) -> Generator[Done]:
        """Take what a worker says; one that says nothing any more has died."""
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
                yield Done(task, None, f"{TRIES} workers died of it; it may need more memory")
            return
        worker.task = None
        if not stays:
            self._remove(worker)
        if error:
            raise StoreError(error)
        assert task is not None  # noqa: S101  # a worker speaks only of its task
        yield Done(task, footer)

    def _remove(self, worker: _Worker) -> None:
        self._running.remove(worker)
        worker.pipe.close()
        worker.process.join()

    def _end(self) -> None:
        for worker in self._running:
            worker.process.kill()
        for worker in list(self._running):
            self._remove(worker)


def _started(function: Function) -> _Worker:
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
        return  # it has died; its pipe says so next


def _work(pipe: Connection, function: Function) -> None:
    """Work until the pipe ends, which it does with the process that holds its other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
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
        stays = _taken() < FULL
        try:
            pipe.send((footer, error, stays))
        except OSError:
            return


def _taken() -> int:
    """Return the memory that this process holds, in bytes; without /proc, the most it has held."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux counts the parent's in
        return most if sys.platform == "darwin" else most * 1024
