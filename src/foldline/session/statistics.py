"""What a session has learned from its log, so that a compaction need not read that again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.working_set import WorkingSet
from foldline.session.log import Log
from foldline.values.messages import Message
from foldline.values.vocabulary import Vocabulary

HORIZON: Final = 10_000
"""So many of the newest messages count, and at most twice as many, beside what is shown."""


class SessionStatistics:
    """
    Statistics of the log, and what it works with, up to date with every message.

    ``known`` is the position behind the last one.

    Args:
        files: Names of the tools that touch files.
    """

    def __init__(self, files: FileSettings) -> None:
        self.vocabulary = Vocabulary()
        self.working = WorkingSet(files)
        self.known = 0
        self._size, self._enough = 0, 2 * HORIZON

    @property
    def is_stale(self) -> bool:
        """Whether so much was learned that it had better be learned anew from what counts."""
        return self._size > self._enough

    @classmethod
    def of(cls, log: Log, view_ids: Iterable[str], files: FileSettings) -> SessionStatistics:
        """
        Read what is shown of a log, and its newest messages.

        Args:
            log: The log.
            view_ids: Ids of what is shown.
            files: Names of the tools that touch files.
        """
        found = cls(files)
        for position, message in log.recent(HORIZON, view_ids):
            found.add(position, message)
        # Where more than that is shown, all of it counts.
        found._enough = max(found._enough, 2 * found._size)
        return found

    def add(self, position: int, message: Message) -> None:
        """Take the next message of the log into account."""
        self.vocabulary.add(message)
        self.working.add(position, message)
        self.known = position + 1
        self._size += 1


class BackgroundStatistics:
    """What the worker beside the turns has learned; it catches up when it begins."""

    def __init__(self) -> None:
        self._log: Log | None = None
        self._learned = SessionStatistics(FileSettings())

    def vocabulary(self, log: Log, view_ids: Iterable[str]) -> Vocabulary:
        """
        Return the statistics of a log as it is now.

        Args:
            log: The log.
            view_ids: Ids of what is shown.
        """
        is_known = self._log is log and not self._learned.is_stale
        self._log = None  # what breaks off in the middle is begun anew
        if not is_known:
            self._learned = SessionStatistics.of(log, view_ids, FileSettings())
        else:
            positions = range(self._learned.known, len(log))
            for position, message in zip(positions, log.at(positions), strict=True):
                self._learned.add(position, message)
        self._log = log
        return self._learned.vocabulary
