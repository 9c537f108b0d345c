"""Notification: hooks may cancel a compaction, listeners receive every event of a session."""

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
    The state of a compaction that is being watched.

    ``refusal`` is the reason why a hook cancelled it, None if none did; ``warnings`` are sentences
    about hooks that failed. The caller sets ``receipt``; None means that nothing was done.
    """

    refusal: str | None = None
    warnings: tuple[str, ...] = ()
    receipt: Receipt | None = None


@contextmanager
def watch_compaction(state: SessionState, trigger: Trigger) -> Iterator[CompactionWatch]:
    """
    Emit an event when a compaction starts, run the block, and emit one event when it ends.

    Args:
        state: The session.
        trigger: Why it is compacted.

    Returns:
        The watch. After the block, its receipt includes the warnings of the hooks called then.
    """
    settings, began = state.settings, monotonic()
    started = CompactionStarted(
        **_event_fields(state),
        trigger=trigger,
        tokens=state.current_view.tokens,
        limit=settings.budget.limit,
        messages=len(state.current_view.messages),
        policy=settings.policy.name,
    )
    emit(state, started)
    watch = CompactionWatch()

    def finish(receipt: Receipt | None, error: str = "") -> CompactionFinished:
        fields = _event_fields(state) | {"number": started.number}
        took = monotonic() - began
        finished = CompactionFinished(
            **fields, trigger=trigger, receipt=receipt, error=error, seconds=took
        )
        emit(state, finished)
        return finished

    try:
        watch.refusal, watch.warnings = hooks.request_approval(settings.hooks, started)
        yield watch
    except BaseException as error:
        hooks.notify_later(settings.hooks, "after", finish(None, type(error).__name__))
        raise
    warnings = hooks.notify(settings.hooks, "after", finish(watch.receipt))
    if watch.receipt is not None and warnings:
        watch.receipt = replace(watch.receipt, warnings=(*watch.receipt.warnings, *warnings))
    note_pressure(state)


def note_pressure(state: SessionState) -> None:
    """Emit a warning if the pressure rose above a threshold; in constant time."""
    now, before = state.pressure, state.level
    state.level = now.level
    if not rises(before, now.level):
        return
    event = ContextWarning(**_event_fields(state), pressure=now)
    emit(state, event)
    for warning in hooks.notify(state.settings.hooks, "warning", event):
        logs.warn(warning)


def note_bound(state: SessionState, receipt: Receipt) -> None:
    """Emit an event for tool outputs that were cut when they were recorded."""
    emit(
        state,
        ToolOutputBounded(
            **_event_fields(state),
            handles=tuple(receipt.recall),
            tokens_before=receipt.tokens_before,
            tokens_after=receipt.tokens_after,
        ),
    )


def note_prepared(state: SessionState, prepared: Prepared) -> None:
    """Emit an event for a compaction that was prepared in the background."""
    counter, spent = state.settings.counter, prepared.spent
    emit(
        state,
        MemoryPrepared(
            **_event_fields(state),
            messages=len(prepared.covered),
            tokens=sum(counter.message(fold.snapshot) for fold in prepared.folds),
            requests=spent.attempts,
            usd=spent.usd,
        ),
    )


def emit(state: SessionState, event: Event) -> None:
    """Send an event to all listeners; a failure of one is logged."""
    logs.log(event)
    given = state.settings.hooks.at("listeners")
    for listener in (*_automatic(given), *given):
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001  # a listener must not break the session
            logs.warn(f"The listener {listener!r:.80} raised {type(error).__name__}.")


def _automatic(given: tuple[hooks.Listener, ...]) -> tuple[hooks.Listener, ...]:
    """Return the listener for OpenTelemetry if the program uses it and has not given its own."""
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from foldline.telemetry.spans import Telemetry, default_telemetry

    return () if any(isinstance(one, Telemetry) for one in given) else (default_telemetry(),)


def _event_fields(state: SessionState) -> dict[str, Any]:
    return {
        "session": state.name,
        "time": state.settings.clock(),
        "number": next(_numbers),
        "model": state.settings.model,
        "provider": state.settings.counter.provider,
    }
