"""What if: other settings, and what they would make of the view, before anything is applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from foldline.core.config import POLICY_NAMES
from foldline.core.summary_settings import TEMPLATE_NAMES
from foldline.errors import FoldlineError
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
    share,
    tile,
    tiles,
)
from foldline.inspector.simulation import (
    Simulation,
    SimulationSettings,
    as_toml,
    attempt,
    read_settings,
)
from foldline.inspector.trace import SessionTrace

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
