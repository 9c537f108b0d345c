"""A trace: every event of a context as a line of JSON, and all of them as a page to read."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from foldline.engine.events import Event
from foldline.errors import InputError
from foldline.redaction import redacted

LONGEST_LINE: Final = 1 << 20
"""A line of a trace has no more characters than this; a longer one is not one of ours."""

NEWEST: Final = 2_000
"""So many events are shown on a page; its sums are of all."""


class Trace:
    """
    Writes events to a file; a listener for `foldline.Hooks`.

    The file is for its owner only, is appended to, and holds numbers and names, no content of a
    conversation; secrets that stand in a name or an error are taken out.

        trace = Trace("trace.jsonl")
        with Session.open("agent.db", "session-1", hooks=Hooks(listeners=trace)) as session: ...
        trace.page("trace.html")

    Args:
        path: The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Write an event."""
        line = json.dumps(redacted(event.to_dict()), default=str, ensure_ascii=True) + "\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with self._lock, os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
            file.write(line.encode())

    def page(self, path: str | os.PathLike[str]) -> Path:
        """
        Write the trace as a page that needs nothing else, and return where it is.

        Raises:
            InputError: The trace cannot be read.
        """
        from foldline.telemetry.trace_page import page

        target = Path(path)
        sums = Sums()
        newest: list[dict[str, Any]] = []
        for event in read(self.path):
            sums.add(event)
            newest.append(event)
            if len(newest) > 2 * NEWEST:
                del newest[:NEWEST]
        text = page(newest[-NEWEST:], sums)
        with os.fdopen(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
        return target


@dataclass(slots=True)
class Sums:
    """
    What a trace adds up to.

    ``compactions`` counts the ends by status and ``triggers`` by cause; ``freed`` is in tokens,
    ``usd`` what models cost as far as known; ``skipped`` counts lines that are no events.
    """

    events: int = 0
    compactions: Counter[str] = field(default_factory=Counter)
    triggers: Counter[str] = field(default_factory=Counter)
    freed: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    warnings: int = 0
    bounded: int = 0
    skipped: int = 0

    def add(self, event: dict[str, Any]) -> None:
        """Add an event, as it is read from a trace."""
        self.events += 1
        match event.get("event"):
            case "compaction.finished":
                self._finished(event)
            case "context.warning":
                self.warnings += 1
            case "output.bounded":
                self.bounded += len(event.get("handles") or ())
            case None:
                self.skipped += 1
                self.events -= 1

    def _finished(self, event: dict[str, Any]) -> None:
        self.compactions[str(event.get("status"))] += 1
        self.triggers[str(event.get("trigger"))] += 1
        self.seconds += _number(event.get("seconds"))
        receipt = event.get("receipt")
        if not isinstance(receipt, dict):
            return
        if event.get("trigger") != "undo":
            before, after = receipt.get("tokens_before"), receipt.get("tokens_after")
            self.freed += int(_number(before) - _number(after))
        spent = receipt.get("spent")
        if isinstance(spent, dict):
            self.requests += int(_number(spent.get("attempts")))
            self.input_tokens += int(_number(spent.get("input_tokens")))
            self.output_tokens += int(_number(spent.get("output_tokens")))
            self.usd += _number(spent.get("usd"))

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as JSON values."""
        return asdict(self)


def read(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """
    Yield the events of a trace; a line that is none, as after a crash, is an empty event.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(LONGEST_LINE):
                if line.strip():
                    yield _event(line)
    except OSError as error:
        raise InputError(
            f"The trace {os.fspath(path)} cannot be read: {error.strerror}.",
            hint="Give the file that a Trace wrote.",
        ) from error


def _event(line: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict) and isinstance(value.get("event"), str):
            return value
    return {}


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else 0.0
