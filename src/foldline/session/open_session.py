"""Opening a session: stored settings, those given now, and defaults for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from foldline.ask_runner import ModelLike, reader_of
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.engine.policies import configure
from foldline.errors import StoreError
from foldline.formats.fields import bounded_nesting
from foldline.formats.registry import dialect
from foldline.frozen import replace
from foldline.models.catalogue import known_name
from foldline.session.codec import Codec
from foldline.session.damage import reading
from foldline.session.hooks import Hooks
from foldline.session.model_choice import owned_client, resolve_window
from foldline.session.state import SessionSettings, SessionState
from foldline.stores.protocol import SessionHead, Store
from foldline.summary.session_memory import remembering
from foldline.values.tokens import TextCounter, TokenCounter

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
    policy: str | Policy | None,
    summarizer: ModelLike | str | None,
    config: Config,
    hooks: Hooks,
    counter: TokenCounter | TextCounter | None,
    output: int | None,
    tools: Iterable[Any] | None,
    system: str | None,
    clock: Callable[[], float],
) -> SessionState:
    """
    Open a session, or start it; see `foldline.session.Session.open`.

    Settings given now count for this run; others come from when the session was started.
    """
    if not name or len(name) > LONGEST_NAME:
        raise StoreError(
            f"A session is named with 1 to {LONGEST_NAME:,} characters.", hint="Name it otherwise."
        )
    requested = "" if format == AUTO else dialect(format).name
    with reading(name):
        stored = store.load(name)
    new = SessionHead(name, requested, model or "", window, clock())
    head = new if stored is None else stored.head
    known = head.dialect
    if requested and known and requested != known:
        raise StoreError(
            f"The session {name!r} is in the format {known}, not {requested}.",
            hint=f'Open it with format="{known}", or start another one.',
        )
    with reading(name):
        called = requested or known
        codec = Codec(dialect(called) if called else None, named=bool(requested))
    model = model or head.model
    known_model = known_name(model) or ""
    counts = _counter(counter, known_model, codec)
    with bounded_nesting():
        overhead = counts.overhead(system or "", tools or ())
    window = window or head.window
    config = resolve_window(config, model, window=window, output=output)
    budget = config.budget(window, output=output, overhead=overhead)
    # What the caller gave is looked up there when the provider says otherwise.
    given = {"window": window, "output": output}
    config = config.replace(room={name: n for name, n in given.items() if n is not None})
    own = owned_client(summarizer, config, model)
    who = own if isinstance(summarizer, str) else summarizer or own
    by_format = counts is not counter and not _provider(known_model)
    settings = SessionSettings(
        store,
        counts,
        budget,
        _ladder(policy, config),
        clock,
        by_format,
        reader_of(who, budget.scale),
        config,
        hooks,
        model,
        who,
        own,
    )
    # At last: what cannot be opened is not started either.
    return SessionState(settings, codec, store.begin(new) if stored is None else stored)


def _ladder(policy: str | Policy | None, config: Config) -> Policy:
    ladder = configure(config, policy)
    return remembering(ladder) if config.memory.enabled else ladder


def _counter(counter: TokenCounter | TextCounter | None, model: str, codec: Codec) -> TokenCounter:
    if isinstance(counter, TokenCounter):
        return counter
    if counter is None:
        from foldline.tokens.choose import choose_counter

        counter = choose_counter(model or None)
    by_format = "openai" if codec.dialect is None else codec.dialect.provider
    return TokenCounter(counter, provider=_provider(model) or by_format)


def _provider(model: str) -> str:
    return next((PROVIDERS[word] for word in PROVIDERS if word in model.lower()), "")


def set_overhead(state: SessionState, system: str | None, tools: Iterable[Any] | None) -> None:
    """
    Count the system prompt and the tools that the next view will be sent with.

    Args:
        state: The session; its budget changes, nothing is recorded.
        system: The system prompt.
        tools: The tool schemas, as JSON values.

    Raises:
        BudgetError: They leave nothing for messages; the budget is as it was.
    """
    settings = state.settings
    with bounded_nesting():
        overhead = settings.counter.overhead(system or "", tools or ())
    if overhead != settings.budget.overhead:
        state.settings = replace(settings, budget=settings.budget.around(overhead))
