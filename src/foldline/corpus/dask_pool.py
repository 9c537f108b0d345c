"""A Dask cluster: workers on several machines, one on this one, or a client of one's own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from foldline.corpus.planning import WorkTask
from foldline.corpus.worker import WINDOW, Done, Function, reason
from foldline.errors import FoldlineError, MissingExtra, StoreError

CONNECTING: Final = 10
"""Seconds in which a scheduler answers."""

_SETTINGS: Final = {
    # Memory that Python does not give back must not stop a worker for ever; one that takes nearly
    # all of what it may is started anew, and its task with it.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
}


class DaskPool:
    """
    Tasks on a Dask cluster.

    Args:
        client: A ``distributed.Client``; it stays open.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, function: Function, tasks: Sequence[WorkTask]) -> Generator[Done]:
        """
        Yield tasks as they end; one of which several workers died is lost.

        Raises:
            StoreError: The scheduler is gone, or a part could not be written.
        """
        from distributed import as_completed

        left, running = iter(tasks), dict[Any, WorkTask]()
        window = max(WINDOW, 4 * sum(self._client.ncores().values()))
        ended = as_completed([])  # type: ignore[no-untyped-call]
        try:
            for task in islice(left, window):
                self._submit(function, task, running, ended)
            for future in ended:
                task = running.pop(future)
                yield _done(task, future)
                for more in islice(left, 1):
                    self._submit(function, more, running, ended)
        finally:
            if self._client.status == "running":
                self._client.cancel(list(running))

    def _submit(
        self, function: Function, task: WorkTask, running: dict[Any, WorkTask], to: Any
    ) -> None:
        future = self._client.submit(function, task, key=f"foldline-{task.key}", pure=False)
        running[future] = task
        to.add(future)


def _done(task: WorkTask, future: Any) -> Done:
    from distributed import KilledWorker

    try:
        return Done(task, future.result(timeout=CONNECTING))
    except KilledWorker:
        return Done(task, None, "several workers died of it; it may need more memory")
    except FoldlineError:
        raise
    except Exception as error:
        if future.status in ("cancelled", "lost", "pending"):
            raise StoreError(
                "The scheduler is gone, or has dropped the run.",
                hint="Run the same command again: it goes on where this one ended.",
            ) from error
        raise StoreError(f"A worker failed: {reason(error)}.") from error


@contextmanager
def cluster(workers: int, memory: int) -> Iterator[Any]:
    """
    Start workers on this machine, with a scheduler, and end them.

    Args:
        workers: How many processes.
        memory: What each may take, in bytes, before it is started anew.

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
            dashboard_address=None,
        ) as there,
        distributed.Client(there) as client,
    ):
        yield client


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """
    Connect to a scheduler.

    Args:
        address: Such as ``tcp://10.0.0.5:8786``.

    Yields:
        A client.

    Raises:
        StoreError: Nobody answers there.
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
