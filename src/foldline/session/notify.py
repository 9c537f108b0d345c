"""Notification: hooks may veto a compaction, listeners receive every event of a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any

from foldline.core.prepared import Prepared
from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    Event,
    MemoryPrepared,
    ToolOutputBounded,
    Trigger,
)
from foldline.engine.receipt import Receipt
from foldline.frozen import replace
from foldline.session import hooks
from foldline.session.state import SessionState
from foldline.session.throttle import rises
from foldline.telemetry import logs

_numbers = count(1)


@dataclass(slots=True)
class CompactionWatch:
    """
    A compaction that is being watched.

    ``refusal`` is why a hook called it off, None when none did; ``warnings`` are sentences about
    hooks that failed. The caller sets ``receipt``; None means that nothing was done.
    """

    refusal: str | None = None
    warnings: tuple[str, ...] = ()
    receipt: Receipt | None = None


@contextmanager
def watch_compaction(state: SessionState, trigger: Trigger) -> Iterator[CompactionWatch]:
    """
    Tell that a compaction starts, let it run, and tell once how it ended.

    Args:
        state: The session.
        trigger: Why it is compacted.

    Returns:
        The watch. After the block, its receipt has the warnings of the hooks that came later.
    """
    settings, began = state.settings, monotonic()
    started = CompactionStarted(
        **_who(state),
        trigger=trigger,
        tokens=state.current_view.tokens,
        limit=settings.budget.limit,
        messages=len(state.current_view.messages),
        policy=settings.policy.name,
    )
    tell(state, started)
    watch = CompactionWatch()

    def finish(receipt: Receipt | None, error: str = "") -> CompactionFinished:
        who = _who(state) | {"number": started.number}
        took = monotonic() - began
        finished = CompactionFinished(
            **who, trigger=trigger, receipt=receipt, error=error, seconds=took
        )
        tell(state, finished)
        return finished

    try:
        watch.refusal, watch.warnings = hooks.ask(settings.hooks, started)
        yield watch
    except BaseException as error:
        hooks.notify_later(settings.hooks, "after", finish(None, type(error).__name__))
        raise
    warnings = hooks.notify(settings.hooks, "after", finish(watch.receipt))
    if watch.receipt is not None and warnings:
        watch.receipt = replace(watch.receipt, warnings=(*watch.receipt.warnings, *warnings))
    note_pressure(state)


def note_pressure(state: SessionState) -> None:
    """Tell, once, that the window has become fuller than a threshold; in constant time."""
    now, before = state.pressure, state.level
    state.level = now.level
    if not rises(before, now.level):
        return
    event = ContextWarning(**_who(state), pressure=now)
    tell(state, event)
    for warning in hooks.notify(state.settings.hooks, "warning", event):
        logs.warn(warning)


def note_bound(state: SessionState, receipt: Receipt) -> None:
    """Tell that tool outputs were cut when they were recorded."""
    tell(
        state,
        ToolOutputBounded(
            **_who(state),
            handles=tuple(receipt.recall),
            tokens_before=receipt.tokens_before,
            tokens_after=receipt.tokens_after,
        ),
    )


def note_prepared(state: SessionState, prepared: Prepared) -> None:
    """Tell that the next compaction was prepared in the background."""
    counter, spent = state.settings.counter, prepared.spent
    tell(
        state,
        MemoryPrepared(
            **_who(state),
            messages=len(prepared.covered),
            tokens=sum(counter.message(fold.snapshot) for fold in prepared.folds),
            requests=spent.attempts,
            usd=spent.usd,
        ),
    )


def tell(state: SessionState, event: Event) -> None:
    """Let everybody who listens hear an event; one who fails is noted in the log."""
    logs.log(event)
    given = state.settings.hooks.at("listeners")
    for listener in (*_automatic(given), *given):
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001  # a listener must not break the session
            logs.warn(f"The listener {listener!r:.80} raised {type(error).__name__}.")


def _automatic(given: tuple[hooks.Listener, ...]) -> tuple[hooks.Listener, ...]:
    """Return the listener for OpenTelemetry where the program uses that and gave none itself."""
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from foldline.telemetry.spans import Telemetry, default_telemetry

    return () if any(isinstance(one, Telemetry) for one in given) else (default_telemetry(),)


def _who(state: SessionState) -> dict[str, Any]:
    return {
        "session": state.name,
        "time": state.settings.clock(),
        "number": next(_numbers),
        "model": state.settings.model,
        "provider": state.settings.counter.provider,
    }
