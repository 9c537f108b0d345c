from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.cli.sample import write_conversation
from tests.inspector.sample import claude_code, from_our_archive, from_our_file

from foldline import count
from foldline.evaluation.breakdown import KINDS
from foldline.inspector.timeline import BANDS, timeline


def test_kinds_add_up_to_the_size_of_every_request(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    for point in trace.timeline.points:
        assert point.tokens == trace.counter.messages(trace.view(point.request)) + sum(
            trace.overhead
        )
        assert point.cached + point.written == point.tokens


def test_the_next_request_has_the_size_that_the_library_counts(tmp_path: Path) -> None:
    import json

    file = write_conversation(tmp_path / "s.json")
    assert from_our_file(file).timeline.now.tokens == count(json.loads(file.read_text()))


def test_a_compaction_breaks_the_cache_and_nothing_else_does(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    broken = {p.request.number for p in trace.timeline.points if p.lost}
    assert broken
    assert broken <= set(trace.timeline.marks[1:])


def test_the_prefix_sent_before_is_read_from_the_cache(tmp_path: Path) -> None:
    trace = from_our_file(write_conversation(tmp_path / "s.json"))
    points = trace.timeline.points
    for before, point in pairwise(points):
        assert point.cached == before.tokens


def test_overhead_counts_for_every_request(tmp_path: Path) -> None:
    trace = from_our_file(write_conversation(tmp_path / "s.json"))
    more = timeline(trace.segments, trace.counter, system=100, tools=11)
    for bare, point in zip(trace.timeline.points, more.points, strict=True):
        assert point.tokens == bare.tokens + 111
    assert BANDS[1:] == KINDS


def test_reported_usage_is_next_to_counted_usage(tmp_path: Path) -> None:
    trace = from_our_file(claude_code(tmp_path / "s.jsonl", [("user", "Hi"), ("assistant", "Ho")]))
    assert trace.timeline.points[0].reported is None
    assert trace.timeline.points[0].usage.output > 0
