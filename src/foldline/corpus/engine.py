"""What runs tasks somewhere: any executor of futures, or what computes a Dask graph."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeAlias

from foldline.corpus.planning import Task
from foldline.corpus.working import Footer

Function: TypeAlias = Callable[[Task], Footer]
Graph: TypeAlias = Callable[[dict[str, Any], list[str]], Sequence[Footer]]

WINDOW = 64
"""Tasks that are handed over at a time: a million would only fill the memory of a scheduler."""


@dataclass(frozen=True, slots=True)
class Done:
    """A task with what it returned; None where no worker survived it, for the reason ``lost``."""

    task: Task
    footer: Footer | None
    lost: str = ""


class Engine(Protocol):
    """Runs a function on tasks, in any order and anywhere."""

    def run(self, function: Function, tasks: Sequence[Task]) -> Generator[Done]:
        """Yield tasks as they end; closing the generator ends what still runs."""
        ...


class FutureEngine:
    """Tasks in an executor of one's own, such as a ``ThreadPoolExecutor``."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def run(self, function: Function, tasks: Sequence[Task]) -> Generator[Done]:
        """Yield tasks as they end; an error of the function is raised."""
        left, running = iter(tasks), dict[Future[Footer], Task]()
        try:
            while True:
                for task in islice(left, WINDOW - len(running)):
                    running[self._executor.submit(function, task)] = task
                if not running:
                    return
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield Done(running.pop(future), future.result())
        finally:
            for future in running:
                future.cancel()


class GraphEngine:
    """Tasks as Dask graphs, batch after batch, for a scheduler such as ``ray_dask_get``."""

    def __init__(self, compute: Graph) -> None:
        self._compute = compute

    def run(self, function: Function, tasks: Sequence[Task]) -> Generator[Done]:
        """Yield tasks as their batch ends; an error of the function is raised."""
        left: Iterator[Task] = iter(tasks)
        while batch := list(islice(left, WINDOW)):
            graph = {f"foldline-{task.key}": (function, task) for task in batch}
            for task, footer in zip(batch, self._compute(graph, list(graph)), strict=True):
                yield Done(task, footer)
