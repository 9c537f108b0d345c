"""Sessions that can be inspected; those in memory are re-read as they grow."""

from __future__ import annotations

import ctypes
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from foldline.archive import Archive
from foldline.core.config import Config
from foldline.errors import FoldlineError
from foldline.inspector.loading import Progress, archive_entry, read_entry, read_growth
from foldline.inspector.trace import SessionEntry, SessionTrace

Result = TypeVar("Result")

KEPT: Final = 3
"""Number of sessions kept in memory; others are read again when opened."""

EXTRAS: Final = 8
"""Number of background results per session kept in memory."""

PATIENCE: Final = 1.2
"""Seconds that a page waits for a session before it shows progress."""

PAUSE: Final = 4.0
"""A growing session is read again after this multiple of the time that reading it took."""

MOST_PAUSE: Final = 4.0
"""Maximum seconds until it is read again, if only the appended part must be read."""


class Job(Generic[Result]):
    """
    Background work on a session.

    Args:
        work: The function to run; it gets a callback for its progress and next step.
    """

    def __init__(self, work: Callable[[Progress], Result]) -> None:
        self.fraction, self.words = 0.0, "Starting"
        self.result: Result | None = None
        self.error: Exception | None = None
        self.seconds = 0.0
        self._work = work
        self._done = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        start = time.monotonic()
        try:
            self.result = self._work(self._progress)
        except Exception as error:  # noqa: BLE001  # raised to the waiting caller
            self.error = error
        self.seconds = time.monotonic() - start
        _release_memory()
        self._done.set()

    def _progress(self, fraction: float, words: str) -> None:
        self.fraction, self.words = fraction, words

    def wait(self, seconds: float) -> bool:
        """Return True if it finishes within ``seconds``."""
        return self._done.wait(seconds)


@dataclass(slots=True)
class _Held:
    """A session in memory, the file state it was read from, and a running read."""

    version: str
    job: Job[SessionTrace]
    trace: SessionTrace | None = None
    read: float = field(default_factory=time.monotonic)
    extras: dict[str, Job[Any]] = field(default_factory=dict)


class SessionCache:
    """
    Opens sessions, keeps a few in memory, and re-reads those that have grown.

    Args:
        find: Lists the sessions; called again whenever the list is shown.
        config: The thresholds to draw.
        model: The model to count and price for; "" for the session's own.
    """

    def __init__(
        self, find: Callable[[], Iterable[SessionEntry]], config: Config, model: str = ""
    ) -> None:
        self._find = find
        self._config = config
        self._model = model
        self._known: dict[str, SessionEntry] = {}
        self._held: OrderedDict[tuple[str, int | None], _Held] = OrderedDict()
        self._lock = threading.RLock()

    def sessions(self) -> tuple[SessionEntry, ...]:
        """List the current sessions, the most recently changed first."""
        found = sorted(self._find(), key=lambda one: -one.changed)
        with self._lock:
            self._known.update((one.key, one) for one in found)
        return tuple(found)

    def find_entry(self, key: str) -> SessionEntry | None:
        """Return the session with a key, if it has been listed."""
        if key not in self._known:
            self.sessions()
        return self._known.get(key)

    def open(self, listed: SessionEntry) -> Job[SessionTrace] | SessionTrace:
        """
        Return a session, or the job that reads it if that takes long.

        Raises:
            FoldlineError: It cannot be read.
        """
        held = self._find_held(listed)
        if held.trace is None and not held.job.wait(PATIENCE):
            return held.job
        self._take_result(held)
        if held.trace is None:
            with self._lock:
                self._held.pop((listed.key, listed.conversation), None)
            raise _as_error(held.job.error)
        return held.trace

    def version(self, listed: SessionEntry) -> str:
        """Return the state of the cached session, and start reading a newer one."""
        held = self._find_held(listed)
        self._take_result(held)
        if held.trace is None:
            return ""
        now, pause = state_of(listed), PAUSE * held.job.seconds
        if held.trace.mark is not None:
            pause = min(pause, MOST_PAUSE)
        rested = held.job.wait(0) and time.monotonic() - held.read > pause
        if rested and now != held.version:
            held.version, held.read = now, time.monotonic()
            held.job = Job(self._work(listed, held.trace))
        return str(id(held.trace))

    def forget(self, listed: SessionEntry) -> None:
        """Discard a session, so that it is read again when opened."""
        with self._lock:
            for key in [key for key in self._held if key[0] == listed.key]:
                del self._held[key]

    def start_job(
        self, listed: SessionEntry, name: str, work: Callable[[Progress], Any]
    ) -> Job[Any]:
        """Return a background job on a session, started on the first call with its name."""
        held = self._find_held(listed)
        with self._lock:
            if name not in held.extras:
                while len(held.extras) >= EXTRAS:
                    del held.extras[next(iter(held.extras))]
                held.extras[name] = Job(work)
            return held.extras[name]

    def _find_held(self, listed: SessionEntry) -> _Held:
        key = (listed.key, listed.conversation)
        with self._lock:
            if key not in self._held:
                while len(self._held) >= KEPT:
                    self._held.popitem(last=False)
                job = Job(self._work(listed))
                self._held[key] = _Held(state_of(listed), job)
            self._held.move_to_end(key)
            return self._held[key]

    def _take_result(self, held: _Held) -> None:
        """Take the result of the running read, if it has finished."""
        found = held.job.result if held.job.wait(0) else None
        if found is not None and found != held.trace:
            held.trace, held.extras = found, {}

    def _work(
        self, listed: SessionEntry, before: SessionTrace | None = None
    ) -> Callable[[Progress], SessionTrace]:
        """Return a function that reads a session, or only its new part if it was read before."""

        def read(progress: Progress) -> SessionTrace:
            grown = before and read_growth(before, progress)
            return grown or read_entry(listed, self._config, progress, self._model)

        return read


def state_of(listed: SessionEntry) -> str:
    """Return a text that changes when the session does."""
    try:
        if listed.origin == "archive":
            with Archive.open(listed.place) as archive:
                return str(archive.generation(listed.name))
        status = listed.place.stat()
    except (OSError, FoldlineError):
        return "gone"
    return f"{status.st_mtime_ns}-{status.st_size}"


def archive_entries(path: Path) -> list[SessionEntry]:
    """
    List the sessions of an archive.

    Raises:
        StoreError: It cannot be read.
    """
    with Archive.open(path) as archive:
        return [archive_entry(path, info) for info in archive.sessions()]


def _as_error(error: Exception | None) -> FoldlineError:
    if isinstance(error, FoldlineError):
        return error
    return FoldlineError(f"The session cannot be read: {type(error).__name__}: {error}")


def _release_memory() -> None:
    """Return free memory to the system, if the C library (glibc) can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
