"""The log blocks no request, and drops lines instead."""

from __future__ import annotations

import io
import json
import re
import threading

from foldline.proxy.monitoring import WAITING, ProxyMetrics, RequestLog
from foldline.values.messages import Usage


def test_lines_are_json_in_order():
    out = io.StringIO()
    log = RequestLog(out)
    assert all(log.add({"n": n, "text": "é\n"}) for n in range(5))
    log.close()
    assert [json.loads(line)["n"] for line in out.getvalue().splitlines()] == list(range(5))


def test_a_stuck_reader_loses_lines_and_blocks_no_request():
    reads = threading.Event()

    class Stuck(io.StringIO):
        def write(self, text):
            reads.wait()
            return super().write(text)

    log = RequestLog(Stuck())
    kept = [log.add({"n": n}) for n in range(WAITING + 200)]
    assert WAITING <= kept.count(True) <= WAITING + 1
    log.close(0.01)
    reads.set()


def test_without_a_stream_nothing_is_written():
    log = RequestLog(None)
    assert log.add({})
    log.close()


def test_totals_are_the_sums_of_all_requests():
    metrics = ProxyMetrics("http://upstream")
    metrics.count_request("unchanged", 100, 100, 0.002)
    metrics.count_request("compacted", 900, 300, 0.2)
    metrics.count_answer(200, Usage(1, 2, 3, 4))
    metrics.count_answer(529, None)
    metrics.count_answer(200, Usage(1, 2, 3, 4))
    totals = metrics.totals(sessions=2)
    assert (totals["requests"], totals["compactions"], totals["sessions"]) == (2, 1, 2)
    assert (totals["tokens_before"], totals["tokens_saved"]) == (1_000, 600)
    assert totals["usage"] == {"input": 2, "output": 4, "cache_read": 6, "cache_write": 8}


def test_the_exposition_is_valid_prometheus_text():
    metrics = ProxyMetrics("http://upstream")
    metrics.count_request("failed", 1, 1, 99.0)
    metrics.count_answer(503, None)
    metrics.refusals["origin"] += 1
    text = metrics.exposition(sessions=1)
    line = re.compile(r'(# TYPE \w+ \w+|\w+(\{\w+="[^"]+"\})? [0-9.]+)\n')
    assert line.sub("", text) == ""
    assert 'foldline_requests_total{outcome="failed"} 1\n' in text
    assert 'foldline_answers_total{status="5xx"} 1\n' in text
    assert 'foldline_refused_total{reason="origin"} 1\n' in text
    assert 'foldline_added_seconds_bucket{le="10.0"} 0\n' in text
    assert 'foldline_added_seconds_bucket{le="+Inf"} 1\n' in text
