"""Opening a session: what was stored, what is asked for now, and the defaults for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.errors import StoreError
from foldline.core.ports import SessionHead, Store
from foldline.core.strategy import Policy
from foldline.core.tokens import TextCounter, TokenCounter
from foldline.formats.nesting import bounded_nesting
from foldline.session.answering import Summarizer, reader
from foldline.session.codec import Codec
from foldline.session.state import Setting, State
from foldline.strategies.presets import policy as named_policy

AUTO: Final = "auto"

LONGEST_NAME: Final = 1_000

PROVIDERS: Final = {"claude": "anthropic", "gemini": "gemini"}
"""Whose rules count media, by a word in the name of the model; otherwise the wire format tells."""


def open_state(
    store: Store,
    name: str,
    *,
    model: str | None,
    window: int | None,
    format: str,  # noqa: A002  # what it is called everywhere in this library
    policy: str | Policy,
    summarizer: Summarizer | None,
    config: Config,
    counter: TokenCounter | TextCounter | None,
    output: int | None,
    tools: Iterable[Any] | None,
    system: str | None,
    clock: Callable[[], float],
) -> State:
    """
    Open a session, or start it; see `foldline.session.Session.open`.

    What is asked for now counts for now; what is not is taken from when the session was started.
    """
    if not name or len(name) > LONGEST_NAME:
        raise StoreError(
            f"A session is named with 1 to {LONGEST_NAME:,} characters.", hint="Name it otherwise."
        )
    asked = "" if format == AUTO else _dialect_name(format)
    head = SessionHead(name, asked, model or "", window, clock())
    stored = store.begin(head)
    known = stored.head.dialect
    if asked and known and asked != known:
        raise StoreError(
            f"The session {name!r} is in the format {known}, not {asked}.",
            hint=f'Open it with format="{known}", or start another one.',
        )
    codec = _codec(asked or known, settled=bool(asked))
    model = model or stored.head.model
    counts = _counter(counter, model, codec)
    with bounded_nesting():
        overhead = counts.overhead(system or "", tools or ())
    budget = Budget.of_window(window or stored.head.window, output=output, overhead=overhead)
    by_format = counts is not counter and not _provider(model)
    setting = Setting(
        store,
        counts,
        budget,
        named_policy(policy),
        clock,
        by_format,
        reader(summarizer, budget.scale),
        config,
    )
    return State(setting, codec, stored)


def _dialect_name(name: str) -> str:
    from foldline.formats.registry import dialect

    return dialect(name).name


def _codec(name: str, *, settled: bool) -> Codec:
    if not name:
        return Codec(None)
    from foldline.formats.registry import dialect

    return Codec(dialect(name), settled=settled)


def _counter(counter: TokenCounter | TextCounter | None, model: str, codec: Codec) -> TokenCounter:
    if isinstance(counter, TokenCounter):
        return counter
    if counter is None:
        from foldline.counters.choose import choose_counter

        counter = choose_counter(model or None)
    by_format = "openai" if codec.dialect is None else codec.dialect.provider
    return TokenCounter(counter, provider=_provider(model) or by_format)


def _provider(model: str) -> str:
    return next((PROVIDERS[word] for word in PROVIDERS if word in model.lower()), "")
