"""
Preparing the next compaction: a picture is taken, worked on beside the turns, and put away.

Taking and putting away belong into a turn and are short. What lies between reads nothing but the
picture, so that messages may be appended meanwhile; if anything else was changed by then, what
was prepared is given up. The worker ends with the session.
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
from foldline.summary.session_memory import preparing
from foldline.values.handles import Handles
from foldline.values.view import View

LEAST_TARGET = 0.5
"""What is prepared leaves room for what comes meanwhile, up to this fraction of the target."""

PAUSED = "the summarizer failed several times in a row and was not called"


@frozen
class Picture:
    """
    What is shown of a log at one moment, and what is to become of it.

    ``at`` is how many messages the log has, ``revision`` how often what is shown was changed
    other than by appending, ``generation`` the one in the store. ``paused`` says that there is a
    summarizer which is not asked, since it gave nothing usable before.
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


def take(state: SessionState) -> Picture:
    """Take the picture; nothing in it changes when the session goes on."""
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
    return Picture(
        view,
        current.log,
        state.prepared_slot.statistics,
        budget,
        preparing(settings.policy),
        context,
        len(current.log),
        state.prepared_slot.revision,
        state.generation,
        settings.clock(),
        paused=reader is None and settings.reader is not None and not context.account,
    )


def prepare(picture: Picture) -> Steps[PreparedMemory | str]:
    """
    Prepare the compaction of what a picture shows.

    Returns:
        What was prepared; a text when there is nothing: what is wrong, "" when nothing is to do.
    """
    view_ids = (message.id for message in picture.view.messages)
    # The statistics of the session grow with every append: these are the worker's own.
    vocabulary = picture.statistics.vocabulary(picture.log, view_ids)
    view = replace(picture.view, vocabulary=vocabulary)
    context = picture.context
    outcome = yield from compact_view(view, picture.budget, picture.policy, context)
    if outcome.status != "compacted":
        return outcome.reason if outcome.status == "failed" else ""
    reasons = [PAUSED] if picture.paused else []
    reasons += [rung.reason for rung in outcome.rungs if rung.is_in_effect and rung.reason]
    prepared = Prepared(
        view.messages,
        outcome.edits,
        view.dialect,
        picture.at,
        picture.time,
        recallable(outcome.edits, view.originals, context.handles),
        picture.paused or any(rung.outcome == "fallback" for rung in outcome.rungs),
        "; ".join(reasons),
        outcome.spent,
    )
    if not all(fold.snapshot.text.strip() for fold in prepared.folds):
        return "the summary is empty"
    if not prepared.folds:
        return ""
    return PreparedMemory(prepared, to_store(prepared, picture.generation, context.account))


def put_away(state: SessionState, picture: Picture, found: PreparedMemory | str) -> None:
    """
    Keep what was prepared, durably, if it still fits what is shown.

    Raises:
        StoreError: It was not recorded; another process may have changed the session.
    """
    if isinstance(found, str):
        state.prepared_slot.problem = found
        return
    if found.prepared.spent.attempts:
        usable, now = not found.prepared.fallback, state.settings.clock()
        state.prepared_slot.breaker = state.prepared_slot.breaker.after(usable, now)
    if state.prepared_slot.revision != picture.revision:
        # What was compacted, pinned or taken back meanwhile counts; that is no problem.
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
    Prepares the next compaction of a session whenever enough was appended.

    It works in a thread that keeps no program from ending; where the summarizer has to be
    awaited, in a task of the loop that appends. Nothing waits for it, and an error in it is not
    raised: the next receipt reports it.

    Args:
        state: The session.
        lock: Held by whoever works on the session.
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

    def nudge(self) -> None:
        """
        Start, if it is due and not running already; in constant time.

        One that has to be awaited is asked from the next task that uses the session.
        """
        # The cheapest checks first: this runs at every append.
        due = self._state.is_memory_due() and is_blocking(self._summarizer)
        if due and self._busy.acquire(blocking=False):
            worker = threading.Thread(target=self._work, name="foldline-memory", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # no thread is left, or the program is about to end
                self._busy.release()

    def anudge(self) -> None:
        """Start from a task of an event loop, if it is due and not running already."""
        who = self._summarizer
        if not (isinstance(who, Model) or (who is not None and is_async(who))):
            self.nudge()
        elif self._state.is_memory_due() and self._busy.acquire(blocking=False):
            self._task = asyncio.get_running_loop().create_task(self._awork())
            # Not at the end of the work: a task that is cancelled at once never begins it.
            self._task.add_done_callback(lambda _: self._busy.release())

    def end(self) -> None:
        """Give up what is under way, when the session is closed; from any thread."""
        task = self._task
        if task is not None and not task.done():
            with suppress(RuntimeError):  # its loop is closed: it ended with that
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def aend(self) -> None:
        """Cancel what is running, and wait until it has ended."""
        self.end()
        task = self._task
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([task])

    # --- the work --------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while True:
                with self._lock:
                    picture = self._take()
                if picture is None:
                    break
                found = drive(prepare(picture), self._answer)
                with self._lock:
                    self._put(picture, found)
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
                    picture = await run_to_end(asyncio.to_thread(self._take))
                if picture is None:
                    break
                found = await drive_in_threads(prepare(picture), answer)
                async with self._lock:
                    await run_to_end(asyncio.to_thread(self._put, picture, found))
        except Exception as error:  # noqa: BLE001  # nothing above catches it
            self._note_failure(error)

    def _take(self) -> Picture | None:
        if not self._is_open():
            return None
        self._state.refresh()
        return take(self._state) if self._state.is_memory_due() else None

    def _put(self, picture: Picture, found: PreparedMemory | str) -> None:
        if self._is_open():
            self._state.refresh()
            put_away(self._state, picture, found)

    def _note_failure(self, error: Exception) -> None:
        self._state.prepared_slot.problem = explain_error(error)[:400]
