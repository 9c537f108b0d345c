"""A session in a large window is folded early if that is cheaper, as its receipt says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foldline import Config, Reply, Session
from foldline.stores.memory import MemoryStore

WIDE = 200_000
KEEP = 4_000


def turn(number: int) -> list[dict[str, Any]]:
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": f'{{"path": "src/part_{number}.py"}}'},
    }
    text = " ".join(f"name_{number}_{i}" for i in range(60))
    return [
        {"role": "assistant", "content": f"I read part {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def opened(place: Path | None = None, **more: Any) -> Session:
    given = {"window": WIDE, "config": Config(economy={"keep": KEEP}), **more}
    if place is not None:
        return Session.open(place, "s", **given)
    return Session.open(None, "s", store=MemoryStore(), **given)


def lived(session: Session, start: int, stop: int) -> Session:
    for number in range(start, stop):
        session.view()
        session.extend(turn(number))
    return session


def begun(place: Path | None = None, **more: Any) -> Session:
    session = opened(place, **more)
    session.append({"role": "user", "content": "Mend the build."})
    return session


@pytest.mark.requirement("C11", "K21")
def test_a_long_session_is_folded_long_before_its_window_is_full():
    session = lived(begun(), 0, 80)
    first = session.receipts[0]
    assert first.status == "compacted"
    assert first.reason.startswith("economy: reading more than 4,000 tokens has cost as much as")
    assert first.tokens_before < 0.1 * WIDE
    assert first.tokens_after <= KEEP
    assert session.recall(next(iter(first.recall))).text


def test_between_two_folds_the_prefix_is_unchanged():
    session, before = begun(), list[Any]()
    rewritten = 0
    for number in range(120):
        view = session.view()
        rewritten += view[: len(before)] != before
        before = view
        session.extend(turn(number))
    folds = [r for r in session.receipts if r.status == "compacted"]
    assert 1 < rewritten == len(folds)


def test_another_process_folds_at_the_same_time(tmp_path: Path):
    whole = lived(begun(tmp_path / "whole.db"), 0, 60)
    with begun(tmp_path / "parts.db") as part:
        lived(part, 0, 17)
    for start, stop in ((17, 18), (18, 43), (43, 60)):
        with opened(tmp_path / "parts.db") as part:
            lived(part, start, stop)
    again = opened(tmp_path / "parts.db")
    told = [
        [(r.reason, r.tokens_before, r.tokens_after) for r in s.receipts] for s in (whole, again)
    ]
    assert told[0] == told[1] != []
    assert again.view() == whole.view()


@pytest.mark.parametrize(
    "more",
    [
        {"config": Config(economy={"keep": KEEP, "enabled": False})},
        {"config": Config(economy={"keep": KEEP}, enabled=False)},
        {"config": Config(economy={"keep": KEEP}, policy="salient")},
        {"policy": "salient"},
        {"config": Config()},
        {"window": 12_000, "config": Config(economy={"keep": 40_000})},
    ],
)
def test_without_an_economy_the_window_fills_up(more: dict[str, Any]):
    session = lived(begun(**more), 0, 60)
    assert not any("economy" in receipt.reason for receipt in session.receipts)


def test_a_summarizer_has_to_be_worth_its_price():
    def tells(_: Any) -> Reply:
        return Reply("The parts were read one after another, and nothing was mended so far.")

    plain, paid = lived(begun(), 0, 80), lived(begun(summarizer=tells), 0, 120)
    assert paid.receipts[0].tokens_before > plain.receipts[0].tokens_before


def test_an_undone_fold_is_not_made_again_at_once():
    session = lived(begun(), 0, 80)
    session.undo()
    made = len(session.receipts)
    session.view()
    session.extend(turn(500))
    session.view()
    assert len(session.receipts) == made
