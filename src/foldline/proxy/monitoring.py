"""Monitoring: the request log as JSON lines, and metrics as JSON and for Prometheus."""

from __future__ import annotations

import json
import queue
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TextIO

from foldline import __version__
from foldline.values.messages import Usage

WAITING: Final = 1_000
"""Maximum number of queued lines; further ones are dropped, and counted."""


class RequestLog:
    """
    Writes log lines in a thread, so that a slow reader blocks no request.

    Args:
        stream: The output; None for none.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._write, name="foldline-log", daemon=True)
        if stream is not None:
            self._thread.start()

    def add(self, record: Mapping[str, Any]) -> bool:
        """Queue a line; return False if it is dropped."""
        if self._stream is None:
            return True
        try:
            self._lines.put_nowait(json.dumps(record, ensure_ascii=True))
        except queue.Full:
            return False
        return True

    def close(self, seconds: float = 2.0) -> None:
        """Write the queued lines, unless the reader is stuck."""
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


BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0)
"""Upper bounds of the buckets of added time, in seconds."""


@dataclass
class ProxyMetrics:
    """
    Counters; only the event loop updates them.

    Tokens ``before`` and ``after`` are counted by the proxy; the usage is the provider's.
    ``added`` is the latency that the proxy adds to a request, in seconds.
    """

    upstream: str
    dry_run: bool = False
    outcomes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    before: int = 0
    after: int = 0
    usage: Usage = field(default_factory=Usage)
    in_flight: int = 0
    lost_lines: int = 0
    _added: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    _added_sum: float = 0.0

    def count_request(self, outcome: str, before: int, after: int, added: float) -> None:
        """Count a forwarded request."""
        self.outcomes[outcome] += 1
        self.before += before
        self.after += after
        self._added[sum(added > bound for bound in BOUNDS)] += 1
        self._added_sum += added

    def count_answer(self, status: int, usage: Usage | None) -> None:
        """Count an answer."""
        self.statuses[f"{status // 100}xx"] += 1
        if usage is not None:
            self.usage += usage

    def totals(self, sessions: int) -> dict[str, Any]:
        """Return the totals as JSON values, without any content of requests."""
        return {
            "status": "ok",
            "version": __version__,
            "upstream": self.upstream,
            "dry_run": self.dry_run,
            "sessions": sessions,
            "in_flight": self.in_flight,
            "requests": sum(self.outcomes.values()),
            "compactions": self.outcomes["compacted"],
            "failed_open": self.outcomes["failed"],
            "overflow_retries": self.retries,
            "refused": sum(self.refusals.values()),
            "tokens_before": self.before,
            "tokens_after": self.after,
            "tokens_saved": self.before - self.after,
            "usage": asdict(self.usage),
        }

    def exposition(self, sessions: int) -> str:
        """Return the totals in the text format of Prometheus."""
        return "".join(f"{line}\n" for line in self._lines(sessions))

    def _lines(self, sessions: int) -> Iterator[str]:
        yield from _family("requests_total", "outcome", self.outcomes)
        yield from _family("answers_total", "status", self.statuses)
        yield from _family("refused_total", "reason", self.refusals)
        yield from _family("provider_tokens_total", "kind", asdict(self.usage))
        yield from _family("tokens_total", "moment", {"before": self.before, "after": self.after})
        for name, kind, value in (
            ("overflow_retries_total", "counter", self.retries),
            ("log_lines_lost_total", "counter", self.lost_lines),
            ("sessions", "gauge", sessions),
            ("requests_in_flight", "gauge", self.in_flight),
        ):
            yield f"# TYPE foldline_{name} {kind}"
            yield f"foldline_{name} {value}"
        yield "# TYPE foldline_added_seconds histogram"
        sum_so_far = 0
        for bound, number in zip((*BOUNDS, "+Inf"), self._added, strict=True):
            sum_so_far += number
            yield f'foldline_added_seconds_bucket{{le="{bound}"}} {sum_so_far}'
        yield f"foldline_added_seconds_sum {self._added_sum:.6f}"
        yield f"foldline_added_seconds_count {sum_so_far}"


def _family(name: str, label: str, values: dict[str, int]) -> Iterator[str]:
    yield f"# TYPE foldline_{name} counter"
    for key in sorted(values):
        yield f'foldline_{name}{{{label}="{key}"}} {values[key]}'
