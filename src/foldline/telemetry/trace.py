"""Traces: every event of a context as a line of JSON, and a whole trace as an HTML page."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from pkgutil import get_data
from string import Template
from typing import Any, Final

from foldline.engine.events import Event
from foldline.errors import InputError
from foldline.redaction import redact_json

LONGEST_LINE: Final = 1 << 20
"""Maximum length of a trace line, in characters; a longer one is not valid."""

NEWEST: Final = 2_000
"""Maximum number of events on a page; its sums include all events."""


class Trace:
    """
    Writes events to a file; a listener for `foldline.Hooks`.

    The file is readable only by its owner, is appended to, and holds numbers and names, no content
    of a conversation; secrets in names and errors are redacted.

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
        line = json.dumps(redact_json(event.to_dict()), default=str, ensure_ascii=True) + "\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with self._lock, os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
            file.write(line.encode())

    def page(self, path: str | os.PathLike[str]) -> Path:
        """
        Write the trace as a self-contained page, and return its path.

        Raises:
            InputError: The trace cannot be read.
        """
        target, sums = Path(path), TraceTotals()
        newest: deque[dict[str, Any]] = deque(maxlen=NEWEST)
        for event in read_trace(self.path):
            sums.add(event)
            newest.append(event)
        text = render_page(newest, sums)
        number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        return target


@dataclass(slots=True)
class TraceTotals:
    """
    The totals of a trace.

    ``compactions`` counts finished compactions by status, ``triggers`` by cause; ``freed`` is in
    tokens, ``usd`` the known cost of models; ``skipped`` counts lines that are not events.
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
        """Add an event read from a trace."""
        kind = event.get("event")
        if kind is None:
            self.skipped += 1
            return
        self.events += 1
        if kind == "compaction.finished":
            self._add_finished(event)
        elif kind == "context.warning":
            self.warnings += 1
        elif kind == "output.bounded":
            self.bounded += len(event.get("handles") or ())

    def _add_finished(self, event: dict[str, Any]) -> None:
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


def read_trace(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """
    Yield the events of a trace; an invalid line, as after a crash, is an empty event.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            while line := file.readline(LONGEST_LINE):
                if line.strip():
                    yield _event(line)
    except OSError as error:
        why = f"The trace {os.fspath(path)} cannot be read: {error.strerror}."
        raise InputError(why, hint="Give the file that a Trace wrote.") from error


def _event(line: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict) and isinstance(value.get("event"), str):
            return value
    return {}


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else 0.0


def render_page(events: Sequence[Mapping[str, Any]], sums: TraceTotals) -> str:
    """
    Write a trace as HTML.

    Args:
        events: The newest events of a trace, oldest first.
        sums: The totals of all events.
    """
    rows = "\n".join(_row(event) for event in events if event)
    boxes = (f"<dt>{escape(name)}</dt><dd>{escape(sum_)}</dd>" for name, sum_ in _cards(sums))
    cards = "\n".join(f"<div>{box}</div>" for box in boxes)
    page = get_data("foldline.telemetry", "trace.html") or b""
    return Template(page.decode("utf-8")).substitute(cards=cards, rows=rows)


def _cards(sums: TraceTotals) -> Iterable[tuple[str, str]]:
    yield "events", f"{sums.events:,}"
    for status, count in sorted(sums.compactions.items()):
        yield f"compactions {status}", f"{count:,}"
    yield "tokens freed", f"{sums.freed:,}"
    yield "outputs cut", f"{sums.bounded:,}"
    yield "warnings", f"{sums.warnings:,}"
    yield "requests to a model", f"{sums.requests:,}"
    yield "tokens read / written", f"{sums.input_tokens:,} / {sums.output_tokens:,}"
    yield "US dollars", f"{sums.usd:,.4f}"
    yield "seconds", f"{sums.seconds:,.1f}"
    if sums.skipped:
        yield "lines that are not events", f"{sums.skipped:,}"


def _row(event: Mapping[str, Any]) -> str:
    words = (event.get("trigger"), event.get("event"), event.get("status"))
    title = " · ".join(str(word)[:40] for word in words if word)
    about = (_time(event.get("time")), str(event.get("session", ""))[:80], title)
    cells = (*map(escape, about), _tokens(event), escape(_details(event)))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _time(value: Any) -> str:
    try:
        return datetime.fromtimestamp(float(value), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _tokens(event: Mapping[str, Any]) -> str:
    """Render the tokens before and after of a receipt or an event."""
    receipt = event.get("receipt")
    counted = receipt if isinstance(receipt, Mapping) else event
    before, after = counted.get("tokens_before"), counted.get("tokens_after")
    if not isinstance(before, int) or not isinstance(after, int) or before <= 0:
        pressure = event.get("pressure")
        now = pressure.get("tokens") if isinstance(pressure, Mapping) else event.get("tokens")
        return f"{now:,}" if isinstance(now, int) else ""
    meter = f'<meter max="{before}" value="{max(0, min(after, before))}"></meter>'
    return f"{before:,} → {after:,} {meter}"


def _details(event: Mapping[str, Any]) -> str:
    receipt, pressure = event.get("receipt"), event.get("pressure")
    if isinstance(receipt, Mapping):
        warnings = receipt.get("warnings")
        texts = [str(receipt.get("reason", ""))]
        texts += [str(item) for item in warnings] if isinstance(warnings, list) else []
        return "; ".join(texts)[:600]
    if isinstance(pressure, Mapping):
        share = pressure.get("fraction")
        full = f", {share:.0%} full" if isinstance(share, float) and share < 1e6 else ""
        return f"{pressure.get('level')}"[:20] + full
    return str(event.get("error") or "")[:200]
