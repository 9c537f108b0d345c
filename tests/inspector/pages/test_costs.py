from __future__ import annotations

from pathlib import Path

from tests.cli.sample import write_conversation
from tests.inspector.sample import from_our_archive, from_our_file, quiet

from foldline.core.config import POLICY_NAMES
from foldline.inspector.pages.cost import alternatives, requests_made, sum_counted, sum_usage
from foldline.models.info import price


def test_a_session_costs_the_sum_of_its_requests(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    whole = sum_usage(trace)
    assert whole.requests == len(requests_made(trace)) == len(trace.timeline.points) - 1
    assert whole.usd is not None
    each = [price(trace.model, point.usage) or 0.0 for point in requests_made(trace)]
    assert abs(whole.usd - sum(each)) < 1e-9
    assert whole.usage == sum_counted(trace).usage


def test_without_a_price_none_is_invented(tmp_path: Path) -> None:
    assert sum_usage(from_our_file(write_conversation(tmp_path / "s.json"))).usd is None


def test_every_policy_is_replayed_next_to_sending_everything(tmp_path: Path) -> None:
    found = alternatives(from_our_archive(tmp_path, steps=20), quiet)
    assert len(found) == 2 + len(POLICY_NAMES)
    everything = found[0].bill
    assert everything is not None
    for one in found:
        assert one.bill is not None, one.error
        assert one.bill.requests == everything.requests
        read = one.bill.usage.cache_read + one.bill.usage.cache_write
        assert read <= everything.usage.cache_read + everything.usage.cache_write
