"""What compaction keeps of a session and what it costs: a row for every cut and every price."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from foldline.core.config import Config
from foldline.corpus.compacting import named_policy
from foldline.corpus.operation import Row, Totals, Work
from foldline.errors import BudgetError
from foldline.evaluation.kept import MEASURES
from foldline.evaluation.measuring import Observation, Plan
from foldline.evaluation.methods import clearing, policy_method, trimming
from foldline.evaluation.pricing import Bill
from foldline.evaluation.recordings import Replays, measure_recording
from foldline.formats.recording import Recording
from foldline.models.catalogue import Catalogue
from foldline.models.info import ModelInfo

_PAID: Final = ("input", "output", "cache_read", "cache_write")
_SUMMED: Final = {
    "retention": (*MEASURES, "size"),
    "price": (*_PAID, "requests", "too_long", "usd"),
}


@dataclass(frozen=True)
class Measure:
    """
    Measure retention at cuts of every conversation, and replay every session for its price.

    Args:
        budgets: What histories are cut to, in tokens; below 1 shares of what they take.
        policies: Names of policies; none for that of ``config``.
        model: Whose prices are paid, and how tokens are counted.
        window: In which sessions are replayed, in tokens; None for that of the model.
        config: Everything else that can be set.

    Raises:
        BudgetError: The price of the model is not known, or a policy is not.
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
            raise BudgetError("Give budgets that leave room for something.")
        self.start()

    def start(self) -> Work:
        """Make the methods, and return what measures a session."""
        ladders = [named_policy(name, self.config) for name in self.policies or ("",)]
        info = _priced(self.model)
        methods = (*(policy_method(one, self.config) for one in ladders), clearing(), trimming())
        plan = Plan(methods, {goal_name(goal): partial(_tokens, goal) for goal in self.budgets})
        replays = Replays(ladders, self.window or info.readable, self.config, self.model)
        assert info.prices is not None  # noqa: S101  # _priced has seen to it
        price = info.prices.of
        return lambda recording: _rows(recording, plan, replays, lambda bill: price(bill.usage))

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up the measures of every method and budget, each with how many there are."""
        totals = Totals()
        for row in rows:
            where = "/".join(filter(None, (row["kind"], row["method"], row.get("goal"))))
            for name in _SUMMED[row["kind"]]:
                totals[f"{where}/{name}"] = totals.get(f"{where}/{name}", 0) + row[name]
            totals[f"{where}/count"] = totals.get(f"{where}/count", 0) + 1
        return totals


def goal_name(goal: float) -> str:
    """Name a budget as tables do: ``5%`` or ``8000``."""
    return f"{goal:.6g}" if goal >= 1 else f"{goal * 100:.6g}%"


def _tokens(goal: float, whole: int) -> int:
    return max(1, int(goal if goal >= 1 else goal * whole))


def _priced(model: str) -> ModelInfo:
    info = Catalogue.load().find(model)
    if info.prices is None:
        raise BudgetError(f"The price of {model[:60]!r} is not known.", hint="Name another model.")
    return info


def _rows(
    recording: Recording, plan: Plan, replays: Replays, usd: Callable[[Bill], float]
) -> Iterator[Row]:
    measured = measure_recording(recording, Path(), plan, replays)
    for seen in measured.observations:
        yield {"format": recording.format, "kind": "retention", **_observed(seen)}
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


def _observed(seen: Observation) -> Row:
    """Return an observation without its processor time, which no two runs share."""
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
