from __future__ import annotations

import json
import stat
import sys
import threading

import pytest
from tests.telemetry.compacted_sessions import SECRET, WORDS, compacted_session

from foldline.engine.events import CompactionFinished, ContextWarning
from foldline.errors import InputError
from foldline.telemetry.trace import Trace, TraceTotals, read_trace, render_page


@pytest.mark.requirement("H19")
def test_every_event_is_a_line_and_none_holds_content_or_a_secret(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    session = compacted_session(trace, name=f"run with {SECRET}")
    text = trace.path.read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("compaction.started") == kinds.count("compaction.finished") == 1
    assert "context.warning" in kinds
    assert WORDS not in text
    assert SECRET not in text
    assert "run with [redacted]" in text
    end = next(event for event in events if event["event"] == "compaction.finished")
    assert end["receipt"]["tokens_after"] == session.receipts[-1].tokens_after
    assert end["receipt"]["recall"] == sorted(session.receipts[-1].recall)


@pytest.mark.requirement("H19")
def test_an_aborted_compaction_is_recorded_with_its_error(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    trace(CompactionFinished("s", 1.0, 3, error="KeyboardInterrupt", seconds=0.5))
    (event,) = read_trace(trace.path)
    assert (event["status"], event["error"]) == ("interrupted", "KeyboardInterrupt")


@pytest.mark.requirement("H19")
def test_the_totals_equal_those_of_the_receipts(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    receipts = [compacted_session(trace, name=name).receipts[-1] for name in ("a", "b")]
    sums = TraceTotals()
    for event in read_trace(trace.path):
        sums.add(event)
    assert sums.compactions == {"compacted": 2}
    assert sums.triggers == {"automatic": 2}
    assert sums.freed == sum(r.tokens_before - r.tokens_after for r in receipts)
    assert sums.usd == pytest.approx(sum(r.spent.usd for r in receipts))
    assert sums.requests == sum(r.spent.attempts for r in receipts)
    assert sums.to_dict()["warnings"] == sums.warnings > 0


@pytest.mark.requirement("H19")
def test_the_page_is_self_contained_and_has_no_scripts(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    compacted_session(trace, name="<script>alert(1)</script>")
    page = trace.page(tmp_path / "trace.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "compactions compacted" in page
    assert "<meter" in page


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
def test_a_trace_and_its_page_are_readable_only_by_their_owner(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    trace(ContextWarning("s", 1.0))
    for path in (trace.path, trace.page(tmp_path / "trace.html")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_several_threads_write_whole_lines(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    threads = [
        threading.Thread(
            target=lambda: [trace(ContextWarning("s" * 500, 1.0)) for _ in range(50)], daemon=True
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event["session"] for event in read_trace(trace.path)] == ["s" * 500] * 200


def test_damage_is_counted_and_hides_nothing_else(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    trace(ContextWarning("s", 1.0))
    junk = b'{"event": "context.war\n[]\n\xff\xfe\n{"event": 3}\n' + b"[" * 100_000 + b"\n"
    odd = b'{"event": "compaction.finished", "receipt": 3, "seconds": "x", "time": 1e99}\n'
    trace.path.write_bytes(trace.path.read_bytes() + junk + odd)
    trace(ContextWarning("s", 2.0))
    sums = TraceTotals()
    for event in read_trace(trace.path):
        sums.add(event)
    assert (sums.warnings, sums.skipped, sums.events) == (2, 5, 3)
    assert "lines that are not events" in trace.page(tmp_path / "p.html").read_text()


def test_a_missing_trace_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl"):
        Trace(tmp_path / "none.jsonl").page(tmp_path / "p.html")


def test_events_of_any_shape_render_without_an_exception():
    odd = [
        {"event": "x", "time": "yesterday", "session": 3, "receipt": [], "pressure": 1},
        {"event": "compaction.finished", "time": -1e20, "receipt": {"tokens_before": "x"}},
        {"event": "context.warning", "pressure": {"level": "<b>", "tokens": 5_000}},
        {"event": "output.bounded", "tokens_before": 9_000, "tokens_after": -5},
        {},
    ]
    text = render_page(odd, TraceTotals())
    assert text.count("<tr>") == 1 + 4
    assert "&lt;b&gt;" in text
    assert "5,000" in text
    assert 'max="9000" value="0"' in text
