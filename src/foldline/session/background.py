"""
Preparing the next compaction in the background: capture the session, summarize, store the result.

Capturing and storing hold the session's lock and are short. The work between them reads only the
capture, so that messages may be appended meanwhile; if anything else has changed by then, the
result is discarded. The worker ends with the session.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from foldline.ask_runner import (
    arun_ask,
    drive_in_threads,
    is_async,
    is_blocking,
    run_ask,
    run_to_end,
)
from foldline.core.asks import Ask, Model, Reply, Steps, drive
from foldline.core.budget import Budget
from foldline.core.prepared import Prepared
from foldline.core.strategy import CompactionContext, Policy
from foldline.engine.compaction import compact_view
from foldline.engine.receipt import recallable
from foldline.frozen import frozen, replace
from foldline.redaction import explain_error
from foldline.session.compaction import context_of, convert_budget
from foldline.session.fair_lock import FairLock
from foldline.session.log import Log
from foldline.session.memory import PreparedMemory, to_store
from foldline.session.notify import note_prepared
from foldline.session.state import SessionState
from foldline.session.statistics import BackgroundStatistics
from foldline.session.summarizer_breaker import summarizer_now
from foldline.stores.protocol import Change
from foldline.summary.session_memory import select_summary_rung
from foldline.values.handles import Handles
from foldline.values.view import View

LEAST_TARGET = 0.5
"""Minimum target of a prepared compaction, as a fraction of the target; the rest is room for the
messages appended meanwhile."""

PAUSED = "the summarizer failed several times in a row and was not called"


@frozen
class Capture:
    """
    The view of a session at one moment, and how to compact it.

    ``at`` is the length of the log in messages, ``revision`` how often the view was changed
    other than by appending, ``generation`` the one in the store. ``paused`` is True if the
    summarizer is not called because its earlier answers were unusable.
    """

    view: View
    log: Log
    statistics: BackgroundStatistics
    budget: Budget
    policy: Policy
    context: CompactionContext
    at: int
    revision: int
    generation: int
    time: float
    paused: bool = False


def capture(state: SessionState) -> Capture:
    """Capture the session; later changes of the session do not affect the capture."""
    settings, current = state.settings, state.current_view
    state.prepared_slot.appended = 0
    view = current.view(state.codec.name)
    budget = convert_budget(settings.budget, state)
    pause = max(settings.config.memory.every, settings.config.pace.growth * budget.scale)
    target = max(round(LEAST_TARGET * budget.target), budget.target - round(pause))
    reader, _ = summarizer_now(state)
    if not state.prepared_slot.breaker.allows(settings.clock()):
        reader = None
    names = Handles(current.log.register, view.messages)
    context = replace(context_of(state, budget, names), target=target, reader=reader)
    return Capture(
        view,
        current.log,
        state.prepared_slot.statistics,
        budget,
        select_summary_rung(settings.policy),
        context,
        len(current.log),
        state.prepared_slot.revision,
        state.generation,
        settings.clock(),
        paused=reader is None and settings.reader is not None and not context.account,
    )


def prepare(captured: Capture) -> Steps[PreparedMemory | str]:
    """
    Prepare the compaction of a captured session.

    Returns:
        The prepared compaction; or a text: the problem, "" if there is nothing to do.
    """
    view_ids = (message.id for message in captured.view.messages)
    # The statistics of the session change with every append: these belong to the worker.
    vocabulary = captured.statistics.vocabulary(captured.log, view_ids)
    view = replace(captured.view, vocabulary=vocabulary)
    context = captured.context
    outcome = yield from compact_view(view, captured.budget, captured.policy, context)
    if outcome.status != "compacted":
        return outcome.reason if outcome.status == "failed" else ""
    reasons = [PAUSED] if captured.paused else []
    reasons += [rung.reason for rung in outcome.rungs if rung.is_in_effect and rung.reason]
    prepared = Prepared(
        view.messages,
        outcome.edits,
        view.dialect,
        captured.at,
        captured.time,
        recallable(outcome.edits, view.originals, context.handles),
        captured.paused or any(rung.outcome == "fallback" for rung in outcome.rungs),
        "; ".join(reasons),
        outcome.spent,
    )
    if not all(fold.snapshot.text.strip() for fold in prepared.folds):
        return "the summary is empty"
    if not prepared.folds:
        return ""
    return PreparedMemory(prepared, to_store(prepared, captured.generation, context.account))


def store_prepared(state: SessionState, captured: Capture, found: PreparedMemory | str) -> None:
    """
    Store a prepared compaction, if it still fits the view.

    Raises:
        StoreError: It was not recorded; another process may have changed the session.
    """
    if isinstance(found, str):
        state.prepared_slot.problem = found
        return
    if found.prepared.spent.attempts:
        usable, now = not found.prepared.fallback, state.settings.clock()
        state.prepared_slot.breaker = state.prepared_slot.breaker.after(usable, now)
    if state.prepared_slot.revision != captured.revision:
        # The session was compacted, pinned or undone meanwhile; that is not a problem.
        return
    view_messages = tuple(state.current_view.messages.values())
    if found.prepared.misfit(view_messages, state.codec.name):
        return
    change = Change(at=len(state.current_view.log), memory=found.stored, time=found.prepared.time)
    with state.record(change):
        state.prepared_slot.put(found, state.prepared_slot.appended)
    note_prepared(state, found.prepared)


# --- the worker ----------------------------------------------------------------------------


class Background:
    """
    The worker that prepares the next compaction of a session whenever enough was appended.

    It runs in a daemon thread, or, for an async summarizer, in a task of the loop that appends.
    Nothing waits for it, and an error in it is not raised: the next receipt reports it.

    Args:
        state: The session.
        lock: Held while the session is used.
        is_open: Returns True while the session is open.
    """

    def __init__(
        self,
        state: SessionState,
        lock: FairLock,
        is_open: Callable[[], bool],
    ) -> None:
        self._state = state
        self._lock = lock
        self._summarizer = state.settings.summarizer
        self._is_open = is_open
        self._busy = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    # --- from the session ------------------------------------------------------------------

    def start_if_due(self) -> None:
        """
        Start, if it is due and not running already; in constant time.

        An async summarizer is called from the next task that uses the session.
        """
        # The cheapest checks first: this runs at every append.
        due = self._state.is_memory_due() and is_blocking(self._summarizer)
        if due and self._busy.acquire(blocking=False):
            worker = threading.Thread(target=self._work, name="foldline-memory", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # no thread is left, or the program is about to end
                self._busy.release()

    def astart_if_due(self) -> None:
        """Start from a task of an event loop, if it is due and not running already."""
        summarizer = self._summarizer
        if not isinstance(summarizer, Model) and (summarizer is None or not is_async(summarizer)):
            self.start_if_due()
        elif self._state.is_memory_due() and self._busy.acquire(blocking=False):
            self._task = asyncio.get_running_loop().create_task(self._awork())
            # Not at the end of the work: a task that is cancelled at once never starts it.
            self._task.add_done_callback(lambda _: self._busy.release())

    def end(self) -> None:
        """Cancel the running preparation when the session is closed; from any thread."""
        task = self._task
        if task is not None and not task.done():
            with suppress(RuntimeError):  # its loop is closed: the task ended with it
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def aend(self) -> None:
        """Cancel the running preparation, and wait until it has ended."""
        self.end()
        task = self._task
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([task])

    # --- the work --------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while True:
                with self._lock:
                    captured = self._capture()
                if captured is None:
                    break
                found = drive(prepare(captured), self._answer)
                with self._lock:
                    self._store(captured, found)
        except Exception as error:  # noqa: BLE001  # nothing above catches it
            self._note_failure(error)
        finally:
            self._busy.release()

    def _answer(self, ask: Ask) -> Reply:
        if not self._is_open():
            return Reply(error="the session is closed", retry=False, attempts=0)
        return run_ask(self._summarizer, ask)

    async def _awork(self) -> None:
        async def answer(ask: Ask) -> Reply:
            return await arun_ask(self._summarizer, ask)

        try:
            while True:
                async with self._lock:
                    captured = await run_to_end(asyncio.to_thread(self._capture))
                if captured is None:
                    break
                found = await drive_in_threads(prepare(captured), answer)
                async with self._lock:
                    await run_to_end(asyncio.to_thread(self._store, captured, found))
        except Exception as error:  # noqa: BLE001  # nothing above catches it
            self._note_failure(error)

    def _capture(self) -> Capture | None:
        if not self._is_open():
            return None
        self._state.refresh()
        return capture(self._state) if self._state.is_memory_due() else None

    def _store(self, captured: Capture, found: PreparedMemory | str) -> None:
        if self._is_open():
            self._state.refresh()
            store_prepared(self._state, captured, found)

    def _note_failure(self, error: Exception) -> None:
        self._state.prepared_slot.problem = explain_error(error)[:400]
