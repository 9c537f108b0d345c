"""What if: a compaction with other settings, tried on what the model saw, and kept nowhere."""

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
"""Characters of one text in which names are looked for."""


@frozen
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


@frozen
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
    # The same without a model to ask: a refusal would be reported as a failure.
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
    number = parse_whole(text)
    if not number:
        raise BudgetError(f"The {name} is a whole number of tokens, not {text[:40]!r}.")
    return number


def _fraction(fields: Mapping[str, str], name: str) -> float | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    with suppress(ValueError):
        if 0 < float(text) <= 1:
            return float(text)
    raise BudgetError(f"The {name} is a fraction from 0 to 1, not {text[:40]!r}.")


ROWS = 80

_NOWHERE = Links("")
"""What is only tried has no pages."""


def what_if(trace: SessionTrace, links: Links, given: Mapping[str, str], at: int | None) -> Html:
    """
    Write the form, and what the settings in it would do.

    Args:
        trace: The session.
        links: Where its pages are.
        given: The fields of the form.
        at: On the view at which request; None for now.
    """
    points = trace.timeline.points
    point = points[at] if at is not None else trace.timeline.now
    made: Child = None
    try:
        wish = read_settings(given)
        if given.get("try"):
            trial = attempt(trace, trace.view(point.request), wish)
            made = _render_trial(trace, links, wish, trial)
    except FoldlineError as error:
        made = note(f"These settings do not work: {error}", "note warning")
    return join(
        opening(
            "What if?",
            note("Tried in memory only: nothing is changed and no model is asked."),
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
    trace: SessionTrace, links: Links, wish: SimulationSettings, trial: Simulation
) -> Html:
    receipt, made = trial.receipt, trial.comparison
    ever, before, after = trial.names
    saved = made.before - made.after
    price = trace.model.prices
    read = (price.cache_read if price.cache_read is not None else price.input) if price else None
    cheaper = "" if read is None else f", ${saved * read / 1e6:.4f} a request"
    pays = "never" if trial.requests is None else f"after {trial.requests:.1f} requests"
    names = f"of {before:,} before and {ever:,} ever said: {share(after, ever)}"
    figures = tiles(
        tile("would take", made.after, f"tokens instead of {made.before:,}"),
        tile("saves", share(saved, made.before), f"{saved:,} tokens{cheaper}"),
        tile("names in view", after, names),
        tile("has paid", pays, f"{trial.rewritten:,} tokens are written to the cache again"),
    )
    prompt = note("With these settings no model would be asked.")
    if trial.prompt:
        text = h("pre", trial.prompt[:40_000], dir="auto")
        prompt = details(f"{len(trial.prompt):,} characters", text)
    fields = {name: str(value) for name, value in asdict(wish).items() if value is not None}
    where = links.page("what-if/foldline.toml", **fields)
    plan = rungs(receipt) if receipt.rungs else None
    config = as_toml(wish.config(trace.config))
    return join(
        section("What it would do", note(str(receipt)), figures, plan),
        section("The view", side_by_side(trace, _NOWHERE, "what-if", made, size=ROWS)),
        section("What a summarizer would be asked", prompt),
        section(
            "As a configuration",
            note("Save it as foldline.toml."),
            h("pre", config, class_="config"),
            button("Download foldline.toml", where, download="foldline.toml"),
        ),
    )
