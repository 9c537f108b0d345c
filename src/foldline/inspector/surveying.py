"""Measuring the sessions of a list one after the other, beside the pages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Final

from foldline.core.config import Config
from foldline.errors import FoldlineError
from foldline.inspector.costs import paid
from foldline.inspector.loading import from_archive, from_file
from foldline.inspector.pages.sessions import Surveyed
from foldline.inspector.shelf import Listed
from foldline.inspector.trace import Trace

LARGEST: Final = 24_000_000
"""Bytes up to which a session is measured for the list; a larger one when it is opened."""


class Survey:
    """
    Measures sessions in one thread; what was measured is kept until the session changes.

    Args:
        config: The thresholds, which do not matter for what is measured.
        model: The model to price for; "" for the one that a session names.
    """

    def __init__(self, config: Config, model: str = "") -> None:
        self._config = config
        self._model = model
        self._known: dict[str, tuple[float, Surveyed]] = {}
        self._waiting: deque[Listed] = deque()
        self._running = False
        self._lock = threading.Lock()

    def of(self, found: Iterable[Listed]) -> tuple[dict[str, Surveyed], int]:
        """
        Return what is known of sessions, having begun to measure the others.

        Returns:
            What is known by key, and how many are still to be measured.
        """
        with self._lock:
            known = {
                one.key: self._known[one.key][1]
                for one in found
                if self._known.get(one.key, (None,))[0] == one.changed
            }
            missing = [one for one in found if one.key not in known and one.size <= LARGEST]
            self._waiting = deque(missing)
            if missing and not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()
        return known, len(missing)

    def note(self, listed: Listed, trace: Trace) -> None:
        """Take what is known of a session that was opened."""
        self._known[listed.key] = (listed.changed, surveyed(trace))

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                one = self._waiting.popleft()
                known = self._known.get(one.key, (None,))[0] == one.changed
            if not known:
                self._known[one.key] = (one.changed, self._measured(one))

    def _measured(self, one: Listed) -> Surveyed:
        try:
            if one.origin == "archive":
                trace = from_archive(one.place, one.name, self._config, _quiet, model=self._model)
            else:
                trace = from_file(one.place, self._config, _quiet, model=self._model)
        except (FoldlineError, OSError, ValueError) as error:
            return Surveyed(0, 0, 0, None, str(error) or type(error).__name__)
        return surveyed(trace)


def surveyed(trace: Trace) -> Surveyed:
    """Return what the list says of a session."""
    changes = sum(
        segment.revision is not None and segment.revision.cause != "undo"
        for segment in trace.segments
    )
    return Surveyed(
        len(trace.log), trace.timeline.now.tokens - sum(trace.overhead), changes, paid(trace).usd
    )


def _quiet(_: float, __: str) -> None:
    """Tell nobody."""
