"""How the work of a session is run: one piece at a time, called by threads or awaited by tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from foldline.core.asks import Ask, Reply, Steps, drive
from foldline.core.budget import Budget
from foldline.core.errors import StoreError
from foldline.core.messages import Message
from foldline.core.receipt import Receipt
from foldline.recall import Recalled, recall
from foldline.session.answering import (
    Result,
    Summarizer,
    aanswered,
    answered,
    drive_beside,
    finished,
)
from foldline.session.state import State
from foldline.session.turn import Turn


class Working:
    """What a session knows at once, and how it runs what changes it."""

    def __init__(
        self, state: State, *, summarizer: Summarizer | None = None, owns_store: bool = False
    ) -> None:
        self._state = state
        self._summarizer = summarizer
        self._owns_store = owns_store
        self._turn = Turn()
        self._closed = False

    # --- what is known at once -------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the session."""
        return self._state.name

    @property
    def format(self) -> str:
        """The wire format of the messages, "" as long as there are none."""
        return self._state.codec.name

    @property
    def budget(self) -> Budget:
        """What the messages may take."""
        return self._state.setting.budget

    @property
    def tokens(self) -> int:
        """What the messages that the model sees take, in tokens; known without counting again."""
        return self._state.shown.tokens

    @property
    def messages(self) -> tuple[Message, ...]:
        """The log: every message as it was appended, in order."""
        return tuple(self._state.shown.log)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The receipts of everything that was tried, in order, undone compactions included."""
        return tuple(batch.receipt for batch in self._state.history.batches)

    def _recall(self, handle: str, access: dict[str, Any]) -> Recalled:
        state = self._state
        holdings = state.history.holdings(state.shown.originals)
        return recall(holdings, handle, counter=state.setting.counter, **access)

    # --- one at a time ---------------------------------------------------------------------

    def _ready(self) -> None:
        if self._closed:
            raise StoreError(f"The session {self.name!r} is closed.", hint="Open it again.")
        self._state.refresh()

    def _call(self, work: Callable[[], Result]) -> Result:
        with self._turn:
            self._ready()
            return work()

    def _run(self, work: Callable[[], Steps[Result]]) -> Result:
        with self._turn:
            self._ready()
            return drive(work(), lambda ask: answered(self._summarizer, ask))

    async def _acall(self, work: Callable[[], Result]) -> Result:
        def ready_work() -> Result:
            self._ready()
            return work()

        async with self._turn:
            return await finished(asyncio.to_thread(ready_work))

    async def _arun(self, work: Callable[[], Steps[Result]]) -> Result:
        async def answer(ask: Ask) -> Reply:
            return await aanswered(self._summarizer, ask)

        async with self._turn:
            await finished(asyncio.to_thread(self._ready))
            return await drive_beside(work(), answer)
