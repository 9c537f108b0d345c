"""When the prompt cache is cold, and compactions on request."""

from __future__ import annotations

from typing import Any

import pytest

from foldline import Session, policy
from foldline.core.strategy import CompactionContext, Plan, Policy, Rung
from foldline.stores.memory import MemoryStore
from foldline.values.view import View


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Seeing:
    """Proposes nothing, and remembers whether the cache was cold."""

    name = "seeing"

    def __init__(self) -> None:
        self.cold: list[bool] = []

    def propose(self, _: View, context: CompactionContext) -> Any:
        yield from ()
        self.cold.append(context.cold)
        return Plan(reason="looked")


def opened(clock: Clock, seeing: Seeing, store: MemoryStore | None = None) -> Session:
    made = Policy("seeing", (Rung(seeing, 0.01),))
    kept = store or MemoryStore()
    return Session.open(None, "s", store=kept, window=4_000, policy=made, clock=clock)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text + " word" * 900}


def answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text + " word" * 900}


@pytest.mark.parametrize("idle", [200, 400])
def test_idle_time_counts_although_a_message_was_appended_before_the_view(idle: int) -> None:
    clock, seeing = Clock(), Seeing()
    session = opened(clock, seeing)
    session.extend([user("a"), answer("b")])
    session.view()
    clock.now += idle
    session.append(user("back again"))
    session.compact(force=True)
    assert seeing.cold[-1] == (idle > 300)


def test_an_answer_of_the_model_keeps_the_cache_warm() -> None:
    clock, seeing = Clock(), Seeing()
    session = opened(clock, seeing)
    session.extend([user("a"), answer("b")])
    clock.now += 400
    session.append(answer("c"))
    session.append(user("d"))
    session.compact(force=True)
    assert seeing.cold[-1] is False


def test_idle_time_counts_in_a_resumed_session() -> None:
    clock, seeing, store = Clock(), Seeing(), MemoryStore()
    opened(clock, seeing, store).extend([user("a"), answer("b")])
    clock.now += 400
    opened(clock, seeing, store).append(user("back"))
    opened(clock, seeing, store).compact(force=True)
    assert seeing.cold[-1] is True


def test_a_requested_compaction_runs_below_the_target() -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=100_000)
    for n in range(12):
        session.extend([user(f"question {n}"), answer(f"answer {n}")])
    before = session.tokens
    assert before < session.budget.target
    assert session.compact().status == "unchanged"
    receipt = session.compact(force=True, focus="question 3")
    assert receipt.status == "compacted"
    assert receipt.tokens_after < 0.5 * before
    assert "question 3" in str(session.view())
    assert session.compact(force=True).reason == "nothing was appended since the last compaction"


def test_a_compaction_requested_by_a_tool_runs_below_the_target_and_reports_its_effect() -> None:
    session = Session.open(None, "s", store=MemoryStore(), window=100_000, policy=policy())
    for n in range(12):
        session.extend([user(f"question {n}"), answer(f"answer {n}")])
    session.request_compaction("question 3")
    session.view()
    assert session.receipts[-1].status == "compacted"
    assert session.receipts[-1].tokens_after < session.receipts[-1].tokens_before
