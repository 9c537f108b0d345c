from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from typing import Any

import pytest
from tests.architecture.sources import ROOT
from tests.telemetry.compacted_sessions import SECRET, WORDS, compacted_session

from foldline.engine.events import CompactionFinished, CompactionStarted
from foldline.engine.receipt import Receipt
from foldline.errors import MissingExtra
from foldline.telemetry.spans import (
    METRICS,
    Telemetry,
    end_attributes,
    provider_name,
    start_attributes,
)

DOCUMENTED = frozenset(
    re.findall(
        r"^\| `([\w.]+)` \|", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE
    )
)
"""The names that the documentation explains."""

sdk = pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry.sdk.metrics import MeterProvider  # noqa: E402
from opentelemetry.sdk.metrics.export import InMemoryMetricReader  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: E402
    InMemorySpanExporter,
)

RECEIPT = Receipt("compacted", "purple elephant", 10, 5, 3, 2, "exact", "default", 8)


def test_every_attribute_is_in_the_documentation():
    start = start_attributes(CompactionStarted("s", 0.0, 1, "gpt-5", "openai", policy="default"))
    end = end_attributes(CompactionFinished("s", 0.0, 1, receipt=RECEIPT))
    broken = end_attributes(CompactionFinished("s", 0.0, 1, error="KeyboardInterrupt"))
    assert set(start) | set(end) | set(broken) <= DOCUMENTED
    assert "purple elephant" not in str(end)
    assert broken == {"foldline.status": "interrupted", "error.type": "KeyboardInterrupt"}


def test_unknown_attributes_are_omitted():
    assert "gen_ai.request.model" not in start_attributes(CompactionStarted("s", 0.0))
    assert "gen_ai.response.model" not in end_attributes(
        CompactionFinished("s", 0.0, receipt=RECEIPT)
    )


def test_names_are_from_the_conventions_or_our_namespace():
    start = start_attributes(CompactionStarted("s", 0.0, 1, "gpt-5", "openai", policy="default"))
    end = end_attributes(CompactionFinished("s", 0.0, 1, receipt=RECEIPT))
    names = (*start, *end, *METRICS)
    assert all(name.startswith(("gen_ai.", "foldline.", "error.")) for name in names)
    assert METRICS.keys() <= DOCUMENTED
    assert provider_name("gemini") == "gcp.gemini"
    assert provider_name("openai") == "openai"


def test_content_fields_of_a_receipt_are_the_omitted_ones():
    known = {field.name for field in dataclasses.fields(Receipt)}
    assert {"reason", "recall", "warnings", "edits"} <= known


class Kept:
    """Exporters of the real SDK that keep spans and metrics in memory."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.metrics = InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.listener = Telemetry(tracers, MeterProvider([self.metrics]))

    def points(self) -> dict[str, list[Any]]:
        data = self.metrics.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.mark.requirement("K39", "H19")
def test_a_compaction_is_a_span_with_the_names_of_the_conventions():
    kept = Kept()
    session = compacted_session(kept.listener)
    (span,) = kept.spans.get_finished_spans()
    receipt = session.receipts[-1]
    assert span.name == "compact claude-sonnet-4-5"
    attributes = dict(span.attributes)
    assert attributes["gen_ai.operation.name"] == "compact"
    assert attributes["gen_ai.provider.name"] == "anthropic"
    assert attributes["gen_ai.conversation.id"] == "s"
    assert attributes["gen_ai.request.model"] == "claude-sonnet-4-5"
    assert attributes["gen_ai.response.model"] == "small"
    assert attributes["gen_ai.usage.input_tokens"] == receipt.spent.input_tokens > 0
    assert attributes["gen_ai.usage.output_tokens"] == receipt.spent.output_tokens > 0
    assert attributes["foldline.tokens.before"] == receipt.tokens_before
    assert attributes["foldline.tokens.after"] == receipt.tokens_after
    assert attributes["foldline.status"] == "compacted"
    assert set(attributes) <= DOCUMENTED


@pytest.mark.requirement("K39")
def test_metrics_count_events():
    kept = Kept()
    session = compacted_session(kept.listener)
    points = kept.points()
    receipt = session.receipts[-1]
    assert set(points) <= set(METRICS)
    assert points["foldline.compaction.freed"][0].sum == (
        receipt.tokens_before - receipt.tokens_after
    )
    assert points["foldline.compaction.duration"][0].count == 1
    usage = {p.attributes["gen_ai.token.type"]: p.sum for p in points["gen_ai.client.token.usage"]}
    assert usage == {"input": receipt.spent.input_tokens, "output": receipt.spent.output_tokens}
    assert sum(p.value for p in points["foldline.context.warnings"]) >= 2


@pytest.mark.requirement("C20", "H19")
def test_content_is_never_recorded():
    kept = Kept()
    compacted_session(kept.listener)
    written = "".join(span.to_json() for span in kept.spans.get_finished_spans())
    written += str(kept.points())
    assert WORDS not in written
    assert SECRET not in written
    assert "build mended" not in written


def test_an_aborted_compaction_is_an_error_without_a_message():
    kept = Kept()
    compacted_session(kept.listener)
    kept.listener(CompactionFinished("s", 0.0, 99, error="KeyboardInterrupt"))
    assert len(kept.spans.get_finished_spans()) == 1


def test_a_program_with_opentelemetry_gets_spans_automatically():
    code = (
        "from opentelemetry import trace\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor, ConsoleSpanExporter\n"
        "trace.set_tracer_provider(TracerProvider())\n"
        "trace.get_tracer_provider().add_span_processor("
        "SimpleSpanProcessor(ConsoleSpanExporter()))\n"
        "from tests.telemetry.compacted_sessions import compacted_session\n"
        "compacted_session()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert '"name": "compact claude-sonnet-4-5"' in ran.stdout


def test_a_program_without_opentelemetry_never_loads_it():
    code = (
        "import sys\n"
        "from tests.telemetry.compacted_sessions import compacted_session\n"
        "compacted_session()\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra, match=r"foldline\[otel\]"):
        Telemetry()
