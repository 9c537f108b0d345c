"""Statistics of a session's log, kept so that a compaction need not read the log again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.working_set import WorkingSet
from foldline.session.log import Log
from foldline.values.messages import Message
from foldline.values.vocabulary import Vocabulary

HORIZON: Final = 10_000
"""Number of newest messages that count beside the view; up to twice as many are kept."""


class SessionStatistics:
    """
    Statistics of the log and its working set, updated with every message.

    ``known`` is the position after the last message.

    Args:
        files: Names of the tools that access files.
    """

    def __init__(self, files: FileSettings) -> None:
        self.vocabulary = Vocabulary()
        self.working = WorkingSet(files)
        self.known = 0
        self._size, self._enough = 0, 2 * HORIZON

    @property
    def is_stale(self) -> bool:
        """Whether so many messages were added that the statistics should be rebuilt."""
        return self._size > self._enough

    @classmethod
    def of(cls, log: Log, view_ids: Iterable[str], files: FileSettings) -> SessionStatistics:
        """
        Build the statistics of the view and the newest messages of a log.

        Args:
            log: The log.
            view_ids: Ids of the messages in view.
            files: Names of the tools that access files.
        """
        found = cls(files)
        for position, message in log.recent(HORIZON, view_ids):
            found.add(position, message)
        # A larger view counts as a whole.
        found._enough = max(found._enough, 2 * found._size)
        return found

    def add(self, position: int, message: Message) -> None:
        """Add the next message of the log."""
        self.vocabulary.add(message)
        self.working.add(position, message)
        self.known = position + 1
        self._size += 1


class BackgroundStatistics:
    """The statistics of the background worker, which are updated when it starts."""

    def __init__(self) -> None:
        self._log: Log | None = None
        self._statistics = SessionStatistics(FileSettings())

    def vocabulary(self, log: Log, view_ids: Iterable[str]) -> Vocabulary:
        """
        Return the vocabulary of a log as it is now.

        Args:
            log: The log.
            view_ids: Ids of the messages in view.
        """
        is_known = self._log is log and not self._statistics.is_stale
        self._log = None  # after an interruption, start again
        if not is_known:
            self._statistics = SessionStatistics.of(log, view_ids, FileSettings())
        else:
            positions = range(self._statistics.known, len(log))
            for position, message in zip(positions, log.at(positions), strict=True):
                self._statistics.add(position, message)
        self._log = log
        return self._statistics.vocabulary
