"""What if: a compaction with other settings, tried on what the model saw, and kept nowhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from foldline.api import budget_for, compact_transcript
from foldline.core.asks import Ask, Reply
from foldline.core.config import Config
from foldline.core.cost import pays_after
from foldline.engine.policies import configure
from foldline.engine.receipt import Receipt
from foldline.errors import BudgetError
from foldline.evaluation.future_use import identifiers
from foldline.inspector.comparison import ViewComparison, compare
from foldline.inspector.timeline import Revision
from foldline.inspector.trace import SessionTrace
from foldline.session.early_fold import proportions
from foldline.settings.sources import flatten
from foldline.values.messages import Message, visible_texts
from foldline.values.transcript import Transcript

FACTS: Final = 200_000
"""Characters of one text in which names are looked for."""


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """
    What is tried.

    ``budget`` is what the messages may take, in tokens; where it is None, ``window`` is the
    window of the model, and nothing happens before that is full enough. ``target`` and ``tail``
    are fractions, None for what the configuration says. ``template`` is how a model would be
    asked for a summary.
    """

    policy: str = "default"
    budget: int | None = None
    window: int | None = None
    target: float | None = None
    tail: float | None = None
    template: str = "account"

    def config(self, base: Config) -> Config:
        """
        Return the configuration that it stands for.

        Raises:
            BudgetError: The settings contradict each other.
        """
        changes: dict[str, Any] = {"policy": self.policy, "summary": {"template": self.template}}
        if self.window is not None:
            changes["room"] = {"window": self.window}
        if self.target is not None:
            changes["thresholds"] = {"target": self.target}
        if self.tail is not None:
            changes["tail"] = {"fraction": self.tail}
        return base.replace(**changes)


@dataclass(frozen=True, slots=True)
class Simulation:
    """
    What a compaction would do.

    ``names`` are how many distinct names stood in what was said, how many in view before, and how
    many after. ``prompt`` is what a model would be asked, "" where none would. The next request
    would write ``rewritten`` tokens anew; it has paid after ``requests`` more, None for never.
    """

    receipt: Receipt
    comparison: ViewComparison = field(repr=False)
    names: tuple[int, int, int]
    prompt: str = field(repr=False)
    rewritten: int
    requests: float | None


def attempt(trace: SessionTrace, view: Sequence[Message], wish: SimulationSettings) -> Simulation:
    """
    Compact a view as wished, in memory only; no model is asked.

    Args:
        trace: The session.
        view: What the model saw.
        wish: The settings.

    Raises:
        BudgetError: The settings contradict each other, or leave nothing for messages.
    """
    config = wish.config(trace.config)
    asks: list[Ask] = []

    def refuse(ask: Ask) -> Reply:
        asks.append(ask)
        return Reply(error="this is only tried", retry=False)

    window = None if wish.budget else wish.window or trace.model.window
    compacted = partial(
        compact_transcript,
        Transcript(tuple(view), trace.current.dialect),
        trace.counter,
        budget_for(wish.budget, window, sum(trace.overhead), config),
        configure(config),
        config=config,
    )
    made = compacted(refuse)
    # The same without anybody to ask: what refuses would be told as a failure.
    receipt = compacted().receipt if asks else made.receipt
    after = made.shown.messages
    comparison = compare(
        view, after, Revision("compaction", receipt, receipt.edits), trace.counter
    )
    view_rows = [row for row in comparison.rows if row.new is not None]
    rewritten = sum(row.after for row in view_rows[receipt.kept_prefix :])
    prices = trace.model.prices
    return Simulation(
        receipt,
        comparison,
        (len(_names(trace.log)), len(_names(view)), len(_names(after) & _names(trace.log))),
        f"{asks[0].system}\n\n{asks[0].prompt}".strip() if asks else "",
        rewritten,
        pays_after(
            comparison.before - comparison.after,
            behind=rewritten,
            factors=proportions(prices) if prices else None,
        ),
    )


def _names(messages: Sequence[Message]) -> set[str]:
    return {
        name
        for message in messages
        for text in visible_texts(message)
        for name in identifiers(text[:FACTS])
    }


def as_toml(config: Config) -> str:
    """Write what of a configuration is not the default, as a ``foldline.toml``."""
    # Its values are texts, numbers, and lists of them, which are the same in JSON.
    default = flatten(Config().to_dict(), "the defaults")
    tables: dict[str, list[str]] = {"": []}
    for key, value in flatten(config.to_dict(), "the configuration").items():
        if value != default[key] and value is not None:
            section, _, name = key.rpartition(".")
            tables.setdefault(section, []).append(
                f"{name} = {json.dumps(value, ensure_ascii=False)}"
            )
    parts = ["\n".join(tables.pop(""))]
    parts += ["\n".join([f"[{name}]", *lines]) for name, lines in tables.items()]
    return "\n\n".join(filter(None, parts)) + "\n"


def read_settings(fields: Mapping[str, str]) -> SimulationSettings:
    """
    Read a wish from the fields of a form; empty ones have their default.

    Raises:
        BudgetError: A field is no number.
    """
    return SimulationSettings(
        fields.get("policy") or "default",
        _whole(fields, "budget"),
        _whole(fields, "window"),
        _fraction(fields, "target"),
        _fraction(fields, "tail"),
        fields.get("template") or "account",
    )


def _whole(fields: Mapping[str, str], name: str) -> int | None:
    text = fields.get(name, "").strip().replace(",", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise BudgetError(f"The {name} is a whole number of tokens, not {text[:40]!r}.")
    return int(text)


def _fraction(fields: Mapping[str, str], name: str) -> float | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    with suppress(ValueError):
        if 0 < float(text) <= 1:
            return float(text)
    raise BudgetError(f"The {name} is a fraction from 0 to 1, not {text[:40]!r}.")
