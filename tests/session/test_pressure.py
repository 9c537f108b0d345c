from __future__ import annotations

import pytest

from foldline import Config, Session, count, policy
from foldline.core.budget import Budget
from foldline.core.strategy import Policy
from foldline.engine.policies import POLICIES, configure
from foldline.session.throttle import acts_at, measure_pressure, rises
from foldline.stores.memory import MemoryStore
from foldline.values.messages import Usage

BUDGET = Budget.of_window(100_000, output=0, margin=0, overhead=10_000)


@pytest.mark.requirement("C4", "K13")
@pytest.mark.parametrize(
    ("fill", "level", "until"),
    [
        (0, "calm", 70_000),
        (60_000, "calm", 10_000),
        (60_001, "warn", 9_999),
        (70_000, "warn", 0),
        (70_001, "due", 0),
        (90_000, "due", 0),
        (90_001, "over", 0),
    ],
)
def test_system_prompt_and_tools_count_and_each_level_begins_past_its_threshold(
    fill: int, level: str, until: int
) -> None:
    now = measure_pressure(fill, BUDGET, configure(Config()), Config())
    assert (now.level, now.until, now.limit) == (level, until, 90_000)
    assert now.fraction == pytest.approx((fill + 10_000) / 100_000)


@pytest.mark.requirement("C4")
@pytest.mark.parametrize("name", POLICIES)
def test_the_warning_comes_before_the_action_of_every_policy(name: str) -> None:
    levels = []
    for fill in range(0, 100_000, 500):
        level = measure_pressure(fill, BUDGET, policy(name), Config()).level
        if level not in levels:
            levels.append(level)
    # The last resort acts at the limit: there is no level in between.
    last = [] if name == "window" else ["due"]
    assert levels == ["calm", "warn", *last, "over"]


def test_a_policy_acts_where_its_last_rung_before_the_limit_does() -> None:
    assert acts_at(policy("default")) == 0.80
    assert acts_at(policy("clear")) == 0.55
    assert acts_at(Policy("none", ())) == 1.0


def test_only_a_fuller_window_passes_a_threshold() -> None:
    assert rises("calm", "warn")
    assert rises("warn", "over")
    assert not rises("due", "warn")
    assert not rises("over", "over")


@pytest.mark.requirement("F59")
def test_model_output_counts_once_and_rereading_it_is_not_growth() -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=100_000, output=0)
    session.append({"role": "user", "content": "Count."})
    answer = {"role": "assistant", "content": "one " * 30}
    session.append(answer, usage=Usage(input=70_000, output=30))
    first = session.pressure.tokens
    assert first == pytest.approx(70_030, abs=5)
    session.append({"role": "user", "content": "Again."})
    session.append(answer, usage=Usage(input=40, output=30, cache_read=70_000))
    assert session.pressure.tokens == pytest.approx(70_070, abs=5)


@pytest.mark.requirement("F61", "K11")
def test_a_window_that_is_always_nearly_full_is_compacted_rarely() -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=20_000, output=0)
    session.surround(system="word " * 13_500)
    budget = session.budget
    assert budget.overhead > 0.6 * budget.scale
    for number in range(400):
        session.append({"role": "user", "content": f"message {number} " * 5})
        session.append({"role": "assistant", "content": f"answer {number} " * 5})
        session.view()
    appended = count([message.raw for message in session.messages])
    assert 1 <= len(session.receipts) <= appended / (0.05 * budget.scale) + 1


@pytest.mark.requirement("F69")
def test_many_tiny_messages_alone_trigger_nothing() -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=128_000)
    session.extend({"role": ("user", "assistant")[n % 2], "content": "ok"} for n in range(300))
    session.view()
    assert session.receipts == ()
    assert session.pressure.level == "calm"


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("window", [1_024, 4_096, 16_385])
def test_a_single_message_is_never_compacted_in_a_small_window(window: int) -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=window)
    session.append({"role": "user", "content": "Hello, please mend the build."})
    assert session.view() == [{"role": "user", "content": "Hello, please mend the build."}]
    assert session.receipts == ()
