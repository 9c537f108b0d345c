"""The worker that prepares session memory: beside the turns, and gone with the session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from foldline.ask_runner import (
    ModelLike,
    arun_ask,
    drive_in_threads,
    is_async,
    is_blocking,
    run_ask,
    run_to_end,
)
from foldline.core.asks import Ask, Model, Reply, drive
from foldline.redaction import explain_error
from foldline.session.extracting import Picture, prepare, put_away, take
from foldline.session.fair_lock import FairLock
from foldline.session.memory import PreparedMemory
from foldline.session.state import SessionState


class Background:
    """
    Prepares the next compaction of a session whenever enough was appended.

    It works in a thread that keeps no program from ending; where the summarizer has to be
    awaited, in a task of the loop that appends. Nobody waits for it, and nothing that goes wrong
    in it is raised: the next receipt says it.

    Args:
        state: The session.
        turn: Whose turn it is.
        summarizer: Who is asked.
        is_open: Tells whether the session is still open.
    """

    def __init__(
        self,
        state: SessionState,
        turn: FairLock,
        summarizer: ModelLike | None,
        is_open: Callable[[], bool],
    ) -> None:
        self._state = state
        self._turn = turn
        self._summarizer = summarizer
        self._is_open = is_open
        self._busy = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    # --- from the session ------------------------------------------------------------------

    def nudge(self) -> None:
        """
        Begin, if it is due and nobody is at it; in constant time.

        One that has to be awaited is asked from the next task that uses the session.
        """
        # First what is known at once: this is asked at every append.
        if self._is_due() and is_blocking(self._summarizer) and self._claims():
            worker = threading.Thread(target=self._work, name="foldline-memory", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # no thread is left, or the program is about to end
                self._busy.release()

    def anudge(self) -> None:
        """Begin from a task of an event loop, if it is due and nobody is at it."""
        if not self._is_due():
            return
        if not _is_awaited(self._summarizer):
            self.nudge()
        elif self._claims():
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
        """Give up what is under way, and wait until it is gone."""
        self.end()
        task = self._task
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([task])

    def _is_due(self) -> bool:
        return self._state.is_memory_due()

    def _claims(self) -> bool:
        return self._is_due() and self._busy.acquire(blocking=False)

    # --- the work --------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while True:
                with self._turn:
                    picture = self._take()
                if picture is None:
                    break
                found = drive(prepare(picture), self._answer)
                with self._turn:
                    self._put(picture, found)
        except Exception as error:  # noqa: BLE001  # nobody is there to catch it
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
                async with self._turn:
                    picture = await run_to_end(asyncio.to_thread(self._take))
                if picture is None:
                    break
                found = await drive_in_threads(prepare(picture), answer)
                async with self._turn:
                    await run_to_end(asyncio.to_thread(self._put, picture, found))
        except Exception as error:  # noqa: BLE001  # nobody is there to catch it
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
        self._state.shelf.problem = explain_error(error)[:400]


def _is_awaited(summarizer: ModelLike | None) -> bool:
    if summarizer is None:
        return False
    return isinstance(summarizer, Model) or is_async(summarizer)
