"""Simulate a compaction with other settings on a view, without storing it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from foldline.api import budget_for, compact_transcript
from foldline.core.asks import Ask, Reply
from foldline.core.config import POLICY_NAMES, Config
from foldline.core.economy import pays_after
from foldline.core.summary_settings import TEMPLATE_NAMES
from foldline.engine.policies import configure
from foldline.engine.receipt import Receipt
from foldline.errors import BudgetError, FoldlineError
from foldline.evaluation.figures import parse_whole, share
from foldline.evaluation.future_use import identifiers
from foldline.frozen import field, frozen
from foldline.inspector.comparison import ViewComparison, compare
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.compaction import rungs, side_by_side
from foldline.inspector.pages.layout import (
    Links,
    button,
    details,
    form,
    hidden_field,
    note,
    number,
    opening,
    section,
    tile,
    tiles,
)
from foldline.inspector.timeline import Revision
from foldline.inspector.trace import SessionTrace
from foldline.session.early_fold import proportions
from foldline.settings.sources import flatten
from foldline.values.messages import Message, visible_texts
from foldline.values.transcript import Transcript

FACTS: Final = 200_000
"""Characters of one text that are searched for names."""


@frozen
class SimulationSettings:
    """
    The settings of a simulation.

    ``budget`` is the limit of the messages, in tokens; if it is None, ``window`` is the
    window of the model, and compaction waits until that fills up. ``target`` and ``tail``
    are fractions, None for the configured ones. ``template`` is the prompt template for a
    summary.
    """

    policy: str = "default"
    budget: int | None = None
    window: int | None = None
    target: float | None = None
    tail: float | None = None
    template: str = "account"

    def config(self, base: Config) -> Config:
        """
        Return the configuration with these settings.

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


@frozen
class Simulation:
    """
    The result of a simulated compaction.

    ``names`` counts the distinct names in the log, in the view before, and in the view after.
    ``prompt`` is the prompt for a model, "" if none would be called. The next request
    would rewrite ``rewritten`` tokens in the cache; it pays back after ``requests`` more, None for
    never.
    """

    receipt: Receipt
    comparison: ViewComparison = field(repr=False)
    names: tuple[int, int, int]
    prompt: str = field(repr=False)
    rewritten: int
    requests: float | None


def attempt(
    trace: SessionTrace, view: Sequence[Message], settings: SimulationSettings
) -> Simulation:
    """
    Compact a view with other settings, in memory only; no model is called.

    Args:
        trace: The session.
        view: The messages that the model saw.
        settings: The settings.

    Raises:
        BudgetError: The settings contradict each other, or leave nothing for messages.
    """
    config = settings.config(trace.config)
    asks: list[Ask] = []

    def refuse(ask: Ask) -> Reply:
        asks.append(ask)
        return Reply(error="this is a simulation", retry=False)

    window = None if settings.budget else settings.window or trace.model.window
    compacted = partial(
        compact_transcript,
        Transcript(tuple(view), trace.current.dialect),
        trace.counter,
        budget_for(settings.budget, window, sum(trace.overhead), config),
        configure(config),
        config=config,
    )
    made = compacted(refuse)
    # The same without a model: a refusal would be reported as a failure.
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
    """Write the non-default settings of a configuration as a ``foldline.toml``."""
    # The values are strings, numbers, and lists of them, which JSON writes alike.
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
    Read settings from the fields of a form; empty fields have their default.

    Raises:
        BudgetError: A field is not a number.
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
    number = parse_whole(text)
    if not number:
        raise BudgetError(f"The {name} must be a whole number of tokens, not {text[:40]!r}.")
    return number


def _fraction(fields: Mapping[str, str], name: str) -> float | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    with suppress(ValueError):
        if 0 < float(text) <= 1:
            return float(text)
    raise BudgetError(f"The {name} must be a fraction from 0 to 1, not {text[:40]!r}.")


ROWS = 80

_NOWHERE = Links("")
"""A simulated view has no pages."""


def what_if(trace: SessionTrace, links: Links, given: Mapping[str, str], at: int | None) -> Html:
    """
    Write the form, and the effect of its settings.

    Args:
        trace: The session.
        links: The addresses of its pages.
        given: The fields of the form.
        at: Number of the request whose view is compacted; None for now.
    """
    points = trace.timeline.points
    point = points[at] if at is not None else trace.timeline.now
    made: Child = None
    try:
        settings = read_settings(given)
        if given.get("try"):
            trial = attempt(trace, trace.view(point.request), settings)
            made = _render_trial(trace, links, settings, trial)
    except FoldlineError as error:
        made = note(f"These settings do not work: {error}", "note warning")
    return join(
        opening(
            "What if?",
            note("Simulated in memory: nothing is changed and no model is called."),
            _form(trace, links, given, at),
        ),
        made,
    )


def _form(trace: SessionTrace, links: Links, given: Mapping[str, str], at: int | None) -> Html:
    now = trace.timeline.now.tokens
    window, target = f"{trace.model.window}", f"{trace.config.thresholds.target}"
    suggested = str(max(500, now // 5)) if not given.get("try") else None
    fields: list[Child] = [
        _choice("policy", "Policy", POLICY_NAMES, given.get("policy", "default")),
        _number("budget", "Budget, tokens", given.get("budget", suggested or ""), "1"),
        _number("window", "or window, tokens", given.get("window", ""), "1", window),
        _number("target", "Target, fraction", given.get("target", ""), "0.01", target),
        _number("tail", "Verbatim tail, fraction", given.get("tail", ""), "0.01", hint="0.1"),
        _choice("template", "Summarizer prompt", TEMPLATE_NAMES, given.get("template", "account")),
        _number("at", "At request", "" if at is None else str(at), "1", hint="now"),
    ]
    ask = h("button", "Try it")
    return form(links, "/what-if", hidden_field("try", "1"), fields, ask, class_="fields")


def _choice(name: str, title: str, values: Sequence[str], chosen: str) -> Html:
    options = [h("option", v.replace("_", " "), value=v, selected=v == chosen) for v in values]
    return h("label", h("span", title), h("select", options, name=name))


def _number(name: str, title: str, value: str, step: str, hint: str = "") -> Html:
    box = number(name, value or None, step=step, placeholder=hint or None)
    return h("label", h("span", title), box)


def _render_trial(
    trace: SessionTrace, links: Links, settings: SimulationSettings, trial: Simulation
) -> Html:
    receipt, made = trial.receipt, trial.comparison
    ever, before, after = trial.names
    saved = made.before - made.after
    price = trace.model.prices
    read = (price.cache_read if price.cache_read is not None else price.input) if price else None
    cheaper = "" if read is None else f", ${saved * read / 1e6:.4f} a request"
    pays = "never" if trial.requests is None else f"after {trial.requests:.1f} requests"
    names = f"of {before:,} before and {ever:,} in the whole log: {share(after, ever)}"
    figures = tiles(
        tile("would take", made.after, f"tokens instead of {made.before:,}"),
        tile("saves", share(saved, made.before), f"{saved:,} tokens{cheaper}"),
        tile("names in view", after, names),
        tile("pays back", pays, f"{trial.rewritten:,} tokens are written to the cache again"),
    )
    prompt = note("With these settings no model would be called.")
    if trial.prompt:
        text = h("pre", trial.prompt[:40_000], dir="auto")
        prompt = details(f"{len(trial.prompt):,} characters", text)
    fields = {name: str(value) for name, value in asdict(settings).items() if value is not None}
    where = links.page("what-if/foldline.toml", **fields)
    plan = rungs(receipt) if receipt.rungs else None
    config = as_toml(settings.config(trace.config))
    return join(
        section("What it would do", note(str(receipt)), figures, plan),
        section("The view", side_by_side(trace, _NOWHERE, "what-if", made, size=ROWS)),
        section("The summarizer's prompt", prompt),
        section(
            "As a configuration",
            note("Save it as foldline.toml."),
            h("pre", config, class_="config"),
            button("Download foldline.toml", where, download="foldline.toml"),
        ),
    )
