"""
OpenTelemetry: a span for every compaction, and metrics; numbers and names, never content.

A program that uses OpenTelemetry gets them without asking. One that does not pays nothing: the
package is not imported.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    Event,
    ToolOutputBounded,
)
from foldline.errors import MissingExtra
from foldline.redaction import redacted
from foldline.telemetry.names import METRICS, OPERATION, of_end, of_start, provider


class Telemetry:
    """
    Tells OpenTelemetry what happens to contexts; a listener for `foldline.Hooks`.

    Args:
        tracer_provider: Where spans go; None for the program's own.
        meter_provider: Where metrics go; None for the program's own.

    Raises:
        MissingExtra: The package opentelemetry-api is not installed.
    """

    def __init__(self, tracer_provider: Any = None, meter_provider: Any = None) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise MissingExtra("opentelemetry-api", "otel") from error
        self._trace = trace
        self._tracer = trace.get_tracer("foldline", tracer_provider=tracer_provider)
        meter = metrics.get_meter("foldline", meter_provider=meter_provider)
        self._duration, self._freed, self._usage = (
            meter.create_histogram(name, unit, words)
            for name, (unit, words) in list(METRICS.items())[:3]
        )
        self._warnings, self._bounded = (
            meter.create_counter(name, unit, words)
            for name, (unit, words) in list(METRICS.items())[3:]
        )
        self._open: dict[int, Any] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Record an event."""
        match event:
            case CompactionStarted():
                self._start(event)
            case CompactionFinished():
                self._end(event)
            case ContextWarning():
                self._warnings.add(1, {**_who(event), "foldline.level": event.pressure.level})
            case ToolOutputBounded():
                self._bounded.add(len(event.handles), _who(event))

    def _start(self, event: CompactionStarted) -> None:
        name = f"{OPERATION} {event.model}".strip()
        span = self._tracer.start_span(name, attributes=redacted(of_start(event)))
        with self._lock:
            self._open[event.number] = span

    def _end(self, event: CompactionFinished) -> None:
        with self._lock:
            span = self._open.pop(event.number, None)
        if span is not None:
            span.set_attributes(redacted(of_end(event)))
            if event.status in ("failed", "interrupted"):
                span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
            span.end()
        about = {
            **_who(event),
            "gen_ai.operation.name": OPERATION,
            "foldline.trigger": event.trigger,
            "foldline.status": event.status,
        }
        self._duration.record(event.seconds, about)
        receipt = event.receipt
        if receipt is None:
            return
        self._freed.record(max(0, receipt.tokens_before - receipt.tokens_after), about)
        for kind in ("input", "output"):
            tokens = getattr(receipt.spent, f"{kind}_tokens")
            if tokens:
                self._usage.record(tokens, {**about, "gen_ai.token.type": kind})


@cache
def shared() -> Telemetry:
    """Return the listener that reports to the program's own providers."""
    return Telemetry()


def _who(event: Event) -> dict[str, str]:
    said = {
        "gen_ai.provider.name": provider(event.provider),
        "gen_ai.request.model": event.model,
    }
    return {name: redacted(value) for name, value in said.items() if value}
