"""Totals are what passed, in a form that people and Prometheus read."""

import re

from foldline.proxy.meter import Meter
from foldline.values.messages import Usage


def test_totals_are_the_sums_of_what_passed():
    meter = Meter("http://upstream")
    meter.passed("unchanged", 100, 100, 0.002)
    meter.passed("compacted", 900, 300, 0.2)
    meter.answered(200, Usage(1, 2, 3, 4))
    meter.answered(529, None)
    meter.answered(200, Usage(1, 2, 3, 4))
    totals = meter.totals(sessions=2)
    assert (totals["requests"], totals["compactions"], totals["sessions"]) == (2, 1, 2)
    assert (totals["tokens_before"], totals["tokens_saved"]) == (1_000, 600)
    assert totals["usage"] == {"input": 2, "output": 4, "cache_read": 6, "cache_write": 8}


def test_the_exposition_is_what_prometheus_reads():
    meter = Meter("http://upstream")
    meter.passed("failed", 1, 1, 99.0)
    meter.answered(503, None)
    meter.refusals["origin"] += 1
    text = meter.exposition(sessions=1)
    line = re.compile(r'(# TYPE \w+ \w+|\w+(\{\w+="[^"]+"\})? [0-9.]+)\n')
    assert line.sub("", text) == ""
    assert 'foldline_requests_total{outcome="failed"} 1\n' in text
    assert 'foldline_answers_total{status="5xx"} 1\n' in text
    assert 'foldline_refused_total{reason="origin"} 1\n' in text
    assert 'foldline_added_seconds_bucket{le="10.0"} 0\n' in text
    assert 'foldline_added_seconds_bucket{le="+Inf"} 1\n' in text
