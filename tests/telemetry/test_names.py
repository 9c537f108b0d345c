from __future__ import annotations

import dataclasses

from foldline.engine.events import CompactionFinished, CompactionStarted
from foldline.engine.receipt import Receipt
from foldline.telemetry.names import METRICS, SPAN, of_end, of_start, provider

RECEIPT = Receipt("compacted", "purple elephant", 10, 5, 3, 2, "exact", "default", 8)


def test_no_attribute_is_recorded_that_the_table_does_not_name():
    start = of_start(CompactionStarted("s", 0.0, 1, "gpt-5", "openai", policy="default"))
    end = of_end(CompactionFinished("s", 0.0, 1, receipt=RECEIPT))
    broken = of_end(CompactionFinished("s", 0.0, 1, error="KeyboardInterrupt"))
    assert set(start) | set(end) | set(broken) <= set(SPAN)
    assert "purple elephant" not in str(end)
    assert broken == {"foldline.status": "interrupted", "error.type": "KeyboardInterrupt"}


def test_what_is_not_known_is_left_out():
    assert "gen_ai.request.model" not in of_start(CompactionStarted("s", 0.0))
    assert "gen_ai.response.model" not in of_end(CompactionFinished("s", 0.0, receipt=RECEIPT))


def test_names_are_those_of_the_conventions_or_our_own():
    assert all(name.startswith(("gen_ai.", "foldline.", "error.")) for name in (*SPAN, *METRICS))
    assert provider("gemini") == "gcp.gemini"
    assert provider("openai") == "openai"


def test_a_receipt_has_nothing_that_is_content_besides_what_is_left_out():
    known = {field.name for field in dataclasses.fields(Receipt)}
    assert {"reason", "recall", "warnings", "edits"} <= known
