"""
OpenTelemetry: a span for every compaction, and metrics; numbers and names, never content.

A program that uses OpenTelemetry gets them automatically; for one that does not, the package is
never imported. Names with ``gen_ai`` are the semantic conventions for generative AI, those with
``foldline`` our own; no attribute holds content. All are listed in docs/configuration.md.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Final

from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    Event,
    ToolOutputBounded,
)
from foldline.errors import MissingExtra
from foldline.redaction import redact_json

OPERATION: Final = "compact"

METRICS: Final = {
    "foldline.compaction.duration": ("s", "how long a compaction took"),
    "foldline.compaction.freed": ("{token}", "tokens that a compaction freed"),
    "gen_ai.client.token.usage": ("{token}", "tokens that a summary read and wrote"),
    "foldline.context.warnings": ("{warning}", "thresholds that a window passed"),
    "foldline.outputs.bounded": ("{output}", "tool outputs that were cut when recorded"),
}
"""Metrics, with their unit and meaning; the last two are counters, the others histograms."""

_PROVIDERS: Final = {"gemini": "gcp.gemini"}
"""Provider names of the conventions that differ from ours."""


def start_attributes(event: CompactionStarted) -> dict[str, Any]:
    """Return the attributes known at the start of a compaction."""
    attributes = {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.provider.name": provider_name(event.provider),
        "gen_ai.conversation.id": event.session,
        "gen_ai.request.model": event.model,
        "foldline.trigger": event.trigger,
        "foldline.policy": event.policy,
        "foldline.tokens.before": event.tokens,
        "foldline.messages.before": event.messages,
    }
    return {name: value for name, value in attributes.items() if value != ""}


def end_attributes(event: CompactionFinished) -> dict[str, Any]:
    """Return the attributes known at the end of a compaction."""
    attributes: dict[str, Any] = {"foldline.status": event.status, "error.type": event.error}
    receipt = event.receipt
    if receipt is not None:
        spent = receipt.spent
        attributes |= {
            "foldline.tokens.before": receipt.tokens_before,
            "foldline.tokens.after": receipt.tokens_after,
            "foldline.messages.before": receipt.messages_before,
            "foldline.messages.after": receipt.messages_after,
            "foldline.kept_prefix": receipt.kept_prefix,
            "foldline.requests": spent.attempts,
            "foldline.usd": spent.usd,
            "gen_ai.response.model": spent.model,
            "gen_ai.usage.input_tokens": spent.input_tokens,
            "gen_ai.usage.output_tokens": spent.output_tokens,
        }
    return {name: value for name, value in attributes.items() if value != ""}


def provider_name(name: str) -> str:
    """Return a provider's name in the conventions."""
    return _PROVIDERS.get(name, name)


class Telemetry:
    """
    Reports context events to OpenTelemetry; a listener for `foldline.Hooks`.

    Args:
        tracer_provider: The provider for spans; None for the program's own.
        meter_provider: The provider for metrics; None for the program's own.

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
        named = [(name, *about) for name, about in METRICS.items()]
        histograms = [meter.create_histogram(*one) for one in named[:3]]
        self._duration, self._freed, self._usage = histograms
        self._warnings, self._bounded = (meter.create_counter(*one) for one in named[3:])
        self._open: dict[int, Any] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Record an event."""
        match event:
            case CompactionStarted():
                name = f"{OPERATION} {event.model}".strip()
                attributes = redact_json(start_attributes(event))
                span = self._tracer.start_span(name, attributes=attributes)
                with self._lock:
                    self._open[event.number] = span
            case CompactionFinished():
                self._end(event)
            case ContextWarning():
                level = event.pressure.level
                self._warnings.add(1, {**_model_attributes(event), "foldline.level": level})
            case ToolOutputBounded():
                self._bounded.add(len(event.handles), _model_attributes(event))

    def _end(self, event: CompactionFinished) -> None:
        with self._lock:
            span = self._open.pop(event.number, None)
        if span is not None:
            span.set_attributes(redact_json(end_attributes(event)))
            if event.status in ("failed", "interrupted"):
                span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
            span.end()
        about = {
            **_model_attributes(event),
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
def default_telemetry() -> Telemetry:
    """Return the listener that reports to the program's own providers."""
    return Telemetry()


def _model_attributes(event: Event) -> dict[str, str]:
    provider = {"gen_ai.provider.name": provider_name(event.provider)}
    attributes = provider | {"gen_ai.request.model": event.model}
    return {name: redact_json(value) for name, value in attributes.items() if value}
