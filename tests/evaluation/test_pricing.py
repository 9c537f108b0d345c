"""A replayed session pays for what it writes to the cache, reads from it, and answers."""

from __future__ import annotations

from tests.evaluation.sample import session, transcript

from foldline.core.config import Config
from foldline.engine.policies import policy
from foldline.evaluation import pricing
from foldline.evaluation.pricing import Bill, as_wire, replay
from foldline.formats.anthropic import AnthropicDialect
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.messages import Usage
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())
WIRE = session(30)


def test_without_compaction_every_token_is_written_once_and_then_read():
    bill = replay(WIRE, pricing.nothing(), 200_000, COUNTER)
    sent = as_wire(transcript(30))[:-1]
    whole = COUNTER.messages(transcript(30).messages[: len(sent)])
    assert bill.requests == 31
    assert bill.over == 0
    assert bill.usage.cache_write == whole
    assert bill.usage.cache_read > 10 * whole
    assert bill.usage.input == 0


def test_clearing_at_every_step_reads_less_and_writes_more():
    plain = replay(WIRE, pricing.nothing(), 200_000, COUNTER).usage
    cleared = replay(WIRE, pricing.clear_every_step(), 200_000, COUNTER).usage
    assert cleared.cache_read < plain.cache_read / 2
    assert cleared.cache_write > plain.cache_write
    assert cleared.output == plain.output


def test_a_session_of_ours_stays_within_a_window_that_the_whole_history_leaves():
    window = 8_000
    ours = pricing.in_session(policy("default"), window, COUNTER, Config())
    long = session(60)
    bill = replay(long, ours, window, COUNTER)
    assert bill.over == 0
    assert replay(long, pricing.nothing(), window, COUNTER).over > 0


def test_a_session_of_another_wire_is_replayed_as_messages_of_one():
    there = AnthropicDialect().decode(
        [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}],
            },
        ]
    )
    assert [message["role"] for message in as_wire(there)] == ["user", "assistant", "tool"]


def test_bills_add_up():
    one = Bill(Usage(1, 2, 3, 4), 5, 6)
    assert one + one == Bill(Usage(2, 4, 6, 8), 10, 12)
