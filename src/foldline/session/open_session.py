"""Opening a session with its stored settings, those given now, and defaults for the rest."""

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
from foldline.session.model_choice import create_client, resolve_window
from foldline.session.state import SessionSettings, SessionState
from foldline.stores.protocol import SessionHead, Store
from foldline.summary.session_memory import add_session_memory
from foldline.values.tokens import TextCounter, TokenCounter

AUTO: Final = "auto"

LONGEST_NAME: Final = 1_000

PROVIDERS: Final = {"claude": "anthropic", "gemini": "gemini"}
"""The provider whose rules count media, by a word in the model's name; else by the wire format."""


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
    Open or create a session; see `foldline.session.Session.open`.

    Settings given now apply until the session is closed; others are those of its creation.
    """
    if not name or len(name) > LONGEST_NAME:
        raise StoreError(
            f"A session name has 1 to {LONGEST_NAME:,} characters.", hint="Choose another name."
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
    # Used again when the provider reports another limit.
    given = {"window": window, "output": output}
    config = config.replace(room={name: n for name, n in given.items() if n is not None})
    client = create_client(summarizer, config, model)
    chosen = client if isinstance(summarizer, str) else summarizer or client
    by_format = counts is not counter and not _provider(known_model)
    settings = SessionSettings(
        store,
        counts,
        budget,
        _ladder(policy, config),
        clock,
        by_format,
        reader_of(chosen, budget.scale),
        config,
        hooks,
        model,
        chosen,
        client,
    )
    # Last: a session that cannot be opened is not created either.
    return SessionState(settings, codec, store.begin(new) if stored is None else stored)


def _ladder(policy: str | Policy | None, config: Config) -> Policy:
    ladder = configure(config, policy)
    return add_session_memory(ladder) if config.memory.enabled else ladder


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
    Count the system prompt and the tools of the next request.

    Args:
        state: The session; its budget changes, nothing is recorded.
        system: The system prompt.
        tools: The tool schemas, as JSON values.

    Raises:
        BudgetError: They leave no room for messages; the budget is unchanged.
    """
    settings = state.settings
    with bounded_nesting():
        overhead = settings.counter.overhead(system or "", tools or ())
    if overhead != settings.budget.overhead:
        state.settings = replace(settings, budget=settings.budget.around(overhead))
