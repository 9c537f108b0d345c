from __future__ import annotations

import json

import pytest

from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    MemoryPrepared,
    Pressure,
    ToolOutputBounded,
)
from foldline.engine.receipt import Receipt

RECEIPT = Receipt(
    "compacted", "clear", 10, 5, 3, 2, "exact", "default", 8, recall={"abc": "purple elephant"}
)


@pytest.mark.requirement("K39")
@pytest.mark.parametrize(
    "event",
    [
        CompactionStarted("s", 1.0, 1, trigger="overflow", tokens=5),
        CompactionFinished("s", 1.0, 1, receipt=RECEIPT),
        CompactionFinished("s", 1.0, 1, error="KeyboardInterrupt"),
        ContextWarning("s", 1.0, pressure=Pressure(5, 10, 0.5, "warn", 3)),
        ToolOutputBounded("s", 1.0, handles=("abc",)),
        MemoryPrepared("s", 1.0, messages=3, tokens=5, requests=1),
    ],
    ids=lambda event: event.kind,
)
def test_every_event_is_frozen_and_is_json_without_content(event):
    told = json.dumps(event.to_dict())
    assert json.loads(told)["event"] == event.kind
    assert "purple elephant" not in told
    with pytest.raises(AttributeError):
        event.session = "other"


def test_an_end_without_a_receipt_was_interrupted():
    assert CompactionFinished("s", 1.0, error="x").status == "interrupted"
    assert CompactionFinished("s", 1.0, receipt=RECEIPT).status == "compacted"
