from __future__ import annotations

from foldline.telemetry.trace import Sums
from foldline.telemetry.trace_page import page


def test_events_of_any_shape_make_a_row_and_no_exception():
    odd = [
        {"event": "x", "time": "yesterday", "session": 3, "receipt": [], "pressure": 1},
        {"event": "compaction.finished", "time": -1e20, "receipt": {"tokens_before": "x"}},
        {"event": "context.warning", "pressure": {"level": "<b>", "tokens": 5_000}},
        {"event": "output.bounded", "tokens_before": 9_000, "tokens_after": -5},
        {},
    ]
    text = page(odd, Sums())
    assert text.count("<tr>") == 1 + 4
    assert "&lt;b&gt;" in text
    assert "5,000" in text
    assert 'max="9000" value="0"' in text
