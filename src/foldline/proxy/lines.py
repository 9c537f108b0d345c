"""The log: one line of JSON for every request, and never a header or a word that was asked."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Mapping
from typing import Any, Final, TextIO

WAITING: Final = 1_000
"""Lines that wait for a slow reader; further ones are lost, and counted."""


class LineLog:
    """
    Writes lines from a thread, so that a reader who does not read holds nobody up.

    Args:
        stream: Where to write; None for nowhere.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._write, name="foldline-log", daemon=True)
        if stream is not None:
            self._thread.start()

    def add(self, record: Mapping[str, Any]) -> bool:
        """Add a line; False if it is lost."""
        if self._stream is None:
            return True
        try:
            self._lines.put_nowait(json.dumps(record, ensure_ascii=True))
        except queue.Full:
            return False
        return True

    def close(self, seconds: float = 2.0) -> None:
        """Write what waits, as long as somebody reads it."""
        if self._stream is None:
            return
        try:
            self._lines.put(None, timeout=seconds)
        except queue.Full:
            return
        self._thread.join(seconds)

    def _write(self) -> None:
        assert self._stream is not None  # noqa: S101  # the thread is started only then
        while (line := self._lines.get()) is not None:
            try:
                self._stream.write(f"{line}\n")
                self._stream.flush()
            except (OSError, ValueError):
                return
