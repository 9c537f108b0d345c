"""Compact every session of a corpus, and measure retention of what was used later."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from foldline.api import budget_for, compact_transcript, counter_for
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.corpus.operation import Row, Totals, Work, add_up, each_conversation
from foldline.engine.policies import configure
from foldline.errors import BudgetError
from foldline.evaluation.methods import clearing, policy_method, trimming
from foldline.evaluation.pricing import Bill
from foldline.evaluation.retention import (
    MEASURES,
    MeasurementPlan,
    Replays,
    RetentionObservation,
    measure_recording,
)
from foldline.formats.recording import Recording
from foldline.formats.registry import dialect
from foldline.frozen import field, frozen
from foldline.models.catalogue import Catalogue
from foldline.repair.repair import repair
from foldline.values.edits import apply
from foldline.values.transcript import Transcript

SIZES = ("tokens_before", "tokens_after", "messages_before", "messages_after")


@frozen
class Compact:
    """
    Compact every conversation to a budget. No model is called.

    Args:
        budget: Maximum size of the messages, in tokens; below 1 a share of their current size.
        window: The window of a model, in tokens, instead of a budget.
        policy: Name of a policy, "" for that of ``config``.
        model: The model to count tokens for.
        to: The wire format of the output.
        config: All other settings.

    Raises:
        BudgetError: Not one of budget and window is given, or there is no such policy.
    """

    budget: float | None = None
    window: int | None = None
    policy: str = ""
    model: str | None = None
    to: str = "openai-chat"
    config: Config = field(default_factory=Config)

    name: ClassVar[str] = "compact"
    order: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, str]] = {
        "format": "text",
        "status": "text",
        "reason": "text",
        **dict.fromkeys(SIZES, "int"),
        "receipt": "text",
        "messages": "text",
    }

    def __post_init__(self) -> None:
        if (self.budget is None) == (self.window is None):
            raise BudgetError("Give a budget or a window, one of the two.")
        if (self.budget or self.window or 0) <= 0:
            raise BudgetError("The budget must be greater than 0.")
        dialect(self.to)
        _policy(self.policy, self.config)

    def start(self) -> Work:
        """Return a function that makes a row per conversation."""
        ladder = _policy(self.policy, self.config)
        return lambda recording: each_conversation(
            recording, lambda one: [self._row(one.transcript, ladder)]
        )

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up sizes, and count by status."""
        listed = list(rows)
        statuses = Counter(row["status"] for row in listed)
        counts = {name: statuses[name] for name in ("compacted", "unchanged", "failed")}
        return add_up(listed, *SIZES) | counts

    def _row(self, transcript: Transcript, ladder: Policy) -> Row:
        counter = counter_for(transcript, self.model)
        size = counter.messages(transcript.messages)
        most = None if self.budget is None else _tokens(self.budget, size)
        overhead = counter.overhead(transcript.system, transcript.tools)
        try:
            budget = budget_for(most, self.window, overhead, self.config)
        except BudgetError as error:
            count = len(transcript.messages)
            sizes = dict(zip(SIZES, (size, size, count, count), strict=True))
            return {"status": "failed", "reason": error.message, **sizes}
        result = compact_transcript(transcript, counter, budget, ladder, config=self.config)
        receipt = result.receipt
        return {
            "status": receipt.status,
            "reason": receipt.reason,
            **{name: getattr(receipt, name) for name in SIZES},
            "receipt": json.dumps(receipt.to_dict(), ensure_ascii=False),
            "messages": None if receipt.status == "failed" else self._write(result.shown),
        }

    def _write(self, result: Transcript) -> str:
        valid = apply(result.messages, repair(result.messages, self.to))
        return json.dumps(dialect(self.to).encode(result.with_messages(valid)), ensure_ascii=False)


def _policy(name: str, config: Config) -> Policy:
    return configure(config, name.replace("-", "_") or None)


_PAID: Final = ("input", "output", "cache_read", "cache_write")
_SUMMED: Final = {
    "retention": (*MEASURES, "size"),
    "price": (*_PAID, "requests", "too_long", "usd"),
}


@frozen
class MeasureRetention:
    """
    Measure retention at cuts of every conversation, and replay every session for its cost.

    Args:
        budgets: Sizes to compact histories to, in tokens; below 1 shares of their current size.
        policies: Names of policies; empty for that of ``config``.
        model: The model to price and count tokens for.
        window: The window to replay sessions in, in tokens; None for that of the model.
        config: All other settings.

    Raises:
        BudgetError: The price of the model, or a policy, is unknown.
    """

    budgets: tuple[float, ...] = (0.05, 0.1, 0.2)
    policies: tuple[str, ...] = ()
    model: str = "claude-sonnet-4-5"
    window: int | None = None
    config: Config = field(default_factory=Config)

    name: ClassVar[str] = "measure"
    order: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, str]] = {
        "format": "text",
        "kind": "text",
        "method": "text",
        "goal": "text",
        "characters": "int",
        **dict.fromkeys((*MEASURES, "size"), "float"),
        "problem": "text",
        "broken": "text",
        **dict.fromkeys((*_PAID, "requests", "too_long"), "int"),
        "usd": "float",
    }

    def __post_init__(self) -> None:
        if not self.budgets or any(budget <= 0 for budget in self.budgets):
            raise BudgetError("Budgets must be greater than 0.")
        self.start()

    def start(self) -> Work:
        """Return a function that measures a session with all methods."""
        ladders = [_policy(name, self.config) for name in self.policies or ("",)]
        info = Catalogue.load().find(self.model)
        if info.prices is None:
            words = f"The price of {self.model[:60]!r} is not known."
            raise BudgetError(words, hint="Name another model.")
        methods = (*(policy_method(one, self.config) for one in ladders), clearing(), trimming())
        plan = MeasurementPlan(
            methods, {goal_name(goal): partial(_tokens, goal) for goal in self.budgets}
        )
        replays = Replays(ladders, self.window or info.readable, self.config, self.model)
        price = info.prices.of
        return lambda recording: _rows(recording, plan, replays, lambda bill: price(bill.usage))

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up the measures of every method and budget, each with its count."""
        totals = Totals()
        for row in rows:
            where = "/".join(filter(None, (row["kind"], row["method"], row.get("goal"))))
            figures = {name: row[name] for name in _SUMMED[row["kind"]]}
            for name, value in (figures | {"count": 1}).items():
                totals[f"{where}/{name}"] = totals.get(f"{where}/{name}", 0) + value
        return totals


def goal_name(goal: float) -> str:
    """Return the name of a budget in tables: ``5%`` or ``8000``."""
    return f"{goal:.6g}" if goal >= 1 else f"{goal * 100:.6g}%"


def _tokens(goal: float, whole: int) -> int:
    return max(1, int(goal if goal >= 1 else goal * whole))


def _rows(
    recording: Recording, plan: MeasurementPlan, replays: Replays, usd: Callable[[Bill], float]
) -> Iterator[Row]:
    measured = measure_recording(recording, Path(), plan, replays)
    for seen in measured.observations:
        yield {"format": recording.format, "kind": "retention", **_to_row(seen)}
    for method, bill in measured.bills.items():
        yield {
            "format": recording.format,
            "kind": "price",
            "method": method,
            **{name: getattr(bill.usage, name) for name in _PAID},
            "requests": bill.requests,
            "too_long": bill.over,
            "usd": usd(bill),
        }


def _to_row(seen: RetentionObservation) -> Row:
    """Return an observation without its processor time, which differs in every run."""
    score = seen.score
    return {
        "method": score.method,
        "goal": score.goal,
        "characters": seen.characters,
        **{name: getattr(score.kept, name) for name in MEASURES},
        "size": score.size,
        "problem": seen.made.problem or None,
        "broken": seen.made.broken or None,
    }
