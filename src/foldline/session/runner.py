"""How a session is run: one piece of work at a time, called by threads or awaited by tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

from foldline.ask_runner import Result, arun_ask, drive_in_threads, run_ask, run_to_end
from foldline.core.asks import Ask, Reply, Steps, drive
from foldline.core.budget import Budget
from foldline.core.economy import CostEstimate
from foldline.core.limits import Breaker
from foldline.core.prepared import Prepared
from foldline.engine.events import Pressure
from foldline.engine.receipt import Receipt
from foldline.errors import InputError, StoreError
from foldline.models.info import Prices
from foldline.models.overflow import Detector
from foldline.recall import Recalled, recall
from foldline.reinjection.file_access import FileAccess, newest
from foldline.session import compaction
from foldline.session.append import BATCH, add_batch, append, batches
from foldline.session.background import Background
from foldline.session.cost_estimate import estimate
from foldline.session.export import Target, export
from foldline.session.fair_lock import FairLock
from foldline.session.file_reading import is_in_view
from foldline.session.overflow import overflowed
from foldline.session.state import SessionState
from foldline.session.summarizer_breaker import breaker
from foldline.session.user_changes import pin, remember, undo
from foldline.type_checks import typed_methods
from foldline.values.frames import rounds
from foldline.values.messages import Message, Usage


@typed_methods
class SessionRunner:
    """What a session knows at once, how it runs what changes it, and what async programs await."""

    def __init__(self, state: SessionState, *, owns_store: bool = False) -> None:
        self._state = state
        self._summarizer = state.settings.summarizer
        self._owns_store = owns_store
        self._lock = FairLock()
        self._closed = False
        self._background = Background(state, self._lock, lambda: not self._closed)

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
        return self._state.settings.budget

    @property
    def tokens(self) -> int:
        """What the messages that the model sees take, in tokens; known without counting again."""
        return self._state.current_view.tokens

    @property
    def pressure(self) -> Pressure:
        """How full the window is, and how much may be appended before a compaction."""
        return self._state.pressure

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        The log: every message as it was appended, in order.

        Of a long session most of it is read from the store on first use; then it
        stays in memory. When the session is closed, nothing more can be read.
        """
        return self._state.current_view.log.whole()

    @property
    def rounds(self) -> tuple[tuple[Message, ...], ...]:
        """The log in rounds, the oldest first: words of the user and all that followed them."""
        return rounds(self.messages)

    @property
    def length(self) -> int:
        """How many messages were appended; known without reading them."""
        return len(self._state.current_view.log)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """
        The receipts of everything that was tried, in order, undone compactions included.

        Of attempts in a row that called no model and changed nothing there is the first. Of a long
        session most of them are read from the store; see `receipt`.

        Raises:
            StoreError: The session is closed, and older receipts would have to be read.
        """
        return tuple(batch.receipt for batch in self._state.history.batches)

    @property
    def receipt_count(self) -> int:
        """How many receipts there are; known without reading them."""
        return len(self._state.history.batches)

    def receipt(self, number: int = -1) -> Receipt:
        """
        Return one of the receipts; the newest ones are known without reading the store.

        Args:
            number: Its place in `receipts`; negative from the end.

        Raises:
            InputError: There is none of that number.
            StoreError: The session is closed, and an older receipt would have to be read.
        """
        numbers = range(self.receipt_count)
        if not numbers:
            raise InputError("There is no receipt yet.", hint="Nothing was due so far.")
        if number not in range(-len(numbers), len(numbers)):
            raise InputError(f"There is no receipt {number}; there are {len(numbers)}.")
        return self._state.history.batches.receipt(numbers[number])

    @property
    def memory(self) -> Prepared | None:
        """What is prepared for the next compaction, None when nothing is."""
        memory = self._state.prepared_slot.memory
        return None if memory is None else memory.prepared

    @property
    def memory_text(self) -> str:
        """The text of your own that the next snapshot begins with, "" when there is none."""
        return self._state.prepared_slot.text

    @property
    def breaker(self) -> Breaker:
        """Whether the summarizer is called, as the receipts say."""
        return breaker(self._state)

    @property
    def touched(self) -> tuple[FileAccess, ...]:
        """
        The last touch of every file by a tool, newest first.

        Of a long session, those in the newest 10,000 messages, and in what is shown.
        """
        return newest(self._state.current_view.statistics.working.accesses)

    def is_in_view(self, path: str) -> bool:
        """
        Return True if the model still sees a file as it read or wrote it last.

        Once a compaction has taken it out of sight, "already read" no longer holds.

        Args:
            path: As a tool was given it; relative to the root directory, where one is set.
        """
        return is_in_view(self._state, path)

    def positions(self, view: Iterable[Any]) -> list[int | None]:
        """
        Return where each message of a view stands in the log, None for one that an edit made.

        For programs that send the original bytes of what is shown as it came.

        Args:
            view: What `view` or `overflowed` returned last.
        """
        log, visible = self._state.current_view.log.positions, self._state.current_view.messages
        known = {
            id(m.raw): log[m.id] for m in visible.values() if m.raw is not None and m.id in log
        }
        return [known.get(id(wire)) for wire in view]

    def request_compaction(self, focus: str = "") -> None:
        """
        Compact at the next view, whatever the triggers say.

        For tools that the model calls: the call gets its result first, and keeps it.

        Args:
            focus: What is to be remembered above all.
        """
        self._state.requested = focus

    def _recall(self, handle: str, access: dict[str, Any]) -> Recalled:
        state = self._state
        holdings = state.history.holdings(state.current_view.originals)
        return recall(holdings, handle, counter=state.settings.counter, **access)

    def _release(self) -> None:
        """Close what was opened for this session alone."""
        if self._owns_store:
            self._state.settings.store.close()
        if self._state.settings.owned_client is not None:
            self._state.settings.owned_client.close()

    # --- one at a time ---------------------------------------------------------------------

    def _ready(self) -> None:
        if self._closed:
            raise StoreError(f"The session {self.name!r} is closed.", hint="Open it again.")
        self._state.refresh()

    def _call(self, work: Callable[[], Result]) -> Result:
        with self._lock:
            self._ready()
            result = work()
        self._background.nudge()
        return result

    def _run(self, work: Callable[[], Steps[Result]]) -> Result:
        with self._lock:
            self._ready()
            return drive(work(), lambda ask: run_ask(self._summarizer, ask))

    async def _acall(self, work: Callable[[], Result]) -> Result:
        def ready_work() -> Result:
            self._ready()
            return work()

        async with self._lock:
            result = await run_to_end(asyncio.to_thread(ready_work))
        self._background.anudge()
        return result

    async def _arun(self, work: Callable[[], Steps[Result]]) -> Result:
        async def answer(ask: Ask) -> Reply:
            return await arun_ask(self._summarizer, ask)

        async with self._lock:
            await run_to_end(asyncio.to_thread(self._ready))
            result = await drive_in_threads(work(), answer)
        # What was appended by a thread, as when a history is followed, may be due by now.
        self._background.anudge()
        return result

    # --- in async programs; each is described at the method without the a -------------------

    async def aappend(self, message: Any, *, usage: Usage | None = None) -> str:
        """Append a wire message; see `append`."""
        return await self._acall(lambda: append(self._state, [message], usage)[0])

    async def aextend(self, messages: Iterable[Any], *, usage: Usage | None = None) -> list[str]:
        """Append several wire messages; see `extend`."""
        wires = list(messages)
        return await self._acall(lambda: append(self._state, wires, usage))

    async def aimport_messages(self, messages: Iterable[Any], *, batch: int = BATCH) -> int:
        """Append a long history, a batch at a time; see `import_messages`."""
        done = 0
        for wires in batches(messages, batch):
            done = await self._acall(partial(add_batch, self._state, wires, done))
        return done

    async def aview(self) -> list[Any]:
        """Return what to send to the model; see `view`."""
        return await self._arun(lambda: compaction.view(self._state))

    async def aoverflowed(self, error: Any, *, detectors: Iterable[Detector] = ()) -> list[Any]:
        """Return what to send instead of a rejected view; see `overflowed`."""
        return await self._acall(lambda: overflowed(self._state, error, detectors))

    async def acompact(
        self,
        budget: Budget | int | str | None = None,
        *,
        force: bool = False,
        focus: str = "",
        start: str = "",
        up_to: str = "",
    ) -> Receipt:
        """Compact if that is due, or a stretch of the history; see `compact`."""
        ends = (start, up_to)
        return await self._arun(
            lambda: compaction.compact_or_fold(self._state, budget, ends, force, focus)
        )

    async def aestimate(self, prices: Prices | None = None) -> CostEstimate:
        """Estimate what a compaction would cost; see `estimate`."""
        return await self._acall(lambda: estimate(self._state, prices))

    async def aundo(self) -> Receipt | None:
        """Take the last compaction back; see `undo`."""
        return await self._acall(lambda: undo(self._state))

    async def apin(self, message: str) -> str:
        """Keep a message in sight; see `pin`."""
        return await self._acall(lambda: pin(self._state, message))

    async def aremember(self, text: str) -> None:
        """Give the session memory a text of your own; see `remember`."""
        await self._acall(lambda: remember(self._state, text))

    async def arecall(self, handle: str, **access: Any) -> Recalled:
        """Return the original content behind a handle; see `recall`."""
        return await self._acall(lambda: self._recall(handle, access))

    async def aexport(self, target: Target) -> int:
        """Write the whole original transcript; see `export`."""
        return await self._acall(lambda: export(self._state.current_view.log, target))

    async def aclose(self) -> None:
        """Close the session; see `close`."""
        async with self._lock:
            self._closed = True
            await self._background.aend()
            if self._state.settings.owned_client is not None:
                await self._state.settings.owned_client.aclose()
            await run_to_end(asyncio.to_thread(self._release))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
