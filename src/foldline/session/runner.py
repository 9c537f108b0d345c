"""Execution of session methods: one at a time, called by threads or awaited by tasks."""

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
from foldline.session.summarizer_breaker import restore_breaker
from foldline.session.user_changes import pin, remember, undo
from foldline.type_checks import typed_methods
from foldline.values.messages import Message, Usage
from foldline.values.rounds import rounds


@typed_methods
class SessionRunner:
    """The properties, the locking and the async methods of a session."""

    def __init__(self, state: SessionState, *, owns_store: bool = False) -> None:
        self._state = state
        self._summarizer = state.settings.summarizer
        self._owns_store = owns_store
        self._lock = FairLock()
        self._closed = False
        self._background = Background(state, self._lock, lambda: not self._closed)

    # --- properties ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the session."""
        return self._state.name

    @property
    def format(self) -> str:
        """The wire format of the messages, "" until there are some."""
        return self._state.codec.name

    @property
    def budget(self) -> Budget:
        """The budget of the messages."""
        return self._state.settings.budget

    @property
    def tokens(self) -> int:
        """The size of the view, in tokens; known without counting again."""
        return self._state.current_view.tokens

    @property
    def pressure(self) -> Pressure:
        """How full the window is, and how much may be appended before the next compaction."""
        return self._state.pressure

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        The log: every message as it was appended, in order.

        In a long session, most of it is read from the store on first use; then it
        stays in memory. After the session is closed, nothing more can be read.
        """
        return self._state.current_view.log.whole()

    @property
    def rounds(self) -> tuple[tuple[Message, ...], ...]:
        """The log in rounds, oldest first: each is words of the user and all that followed."""
        return rounds(self.messages)

    @property
    def length(self) -> int:
        """The number of appended messages; known without reading them."""
        return len(self._state.current_view.log)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """
        The receipts of all compactions and attempts, in order, including undone ones.

        Attempts in a row that called no model and changed nothing share the first receipt. In a
        long session most receipts are read from the store; see `receipt`.

        Raises:
            StoreError: The session is closed, and older receipts would have to be read.
        """
        return tuple(batch.receipt for batch in self._state.history.batches)

    @property
    def receipt_count(self) -> int:
        """The number of receipts; known without reading them."""
        return len(self._state.history.batches)

    def receipt(self, number: int = -1) -> Receipt:
        """
        Return one of the receipts; the newest ones do not need the store.

        Args:
            number: Its index in `receipts`; a negative one counts from the end.

        Raises:
            InputError: There is no receipt of that number.
            StoreError: The session is closed, and an older receipt would have to be read.
        """
        numbers = range(self.receipt_count)
        if not numbers:
            raise InputError("There is no receipt yet.", hint="No compaction was due so far.")
        if number not in range(-len(numbers), len(numbers)):
            raise InputError(f"There is no receipt {number}; there are {len(numbers)}.")
        return self._state.history.batches.receipt(numbers[number])

    @property
    def memory(self) -> Prepared | None:
        """The prepared next compaction, None if there is none."""
        memory = self._state.prepared_slot.memory
        return None if memory is None else memory.prepared

    @property
    def memory_text(self) -> str:
        """Your own text for the start of the next snapshot, "" if there is none."""
        return self._state.prepared_slot.text

    @property
    def breaker(self) -> Breaker:
        """The circuit breaker of the summarizer, derived from the receipts."""
        return restore_breaker(self._state)

    @property
    def touched(self) -> tuple[FileAccess, ...]:
        """
        The last access to every file by a tool, newest first.

        In a long session, only accesses in the newest 10,000 messages and in the view.
        """
        return newest(self._state.current_view.statistics.working.accesses)

    def is_in_view(self, path: str) -> bool:
        """
        Return True if the content that the model last read from or wrote to a file is in view.

        After a compaction has removed it, the model must read the file again.

        Args:
            path: As passed to a tool; relative to the root directory, if one is set.
        """
        return is_in_view(self._state, path)

    def positions(self, view: Iterable[Any]) -> list[int | None]:
        """
        Return the position in the log of each message of a view, None for one made by an edit.

        For programs that send the original bytes of unchanged messages.

        Args:
            view: The last result of `view` or `overflowed`.
        """
        log, visible = self._state.current_view.log.positions, self._state.current_view.messages
        known = {
            id(m.raw): log[m.id] for m in visible.values() if m.raw is not None and m.id in log
        }
        return [known.get(id(wire)) for wire in view]

    def request_compaction(self, focus: str = "") -> None:
        """
        Compact at the next view, regardless of the triggers.

        For tools that the model calls: the result of the call is appended first, and stays.

        Args:
            focus: The most important content to remember.
        """
        self._state.requested = focus

    def _recall(self, handle: str, access: dict[str, Any]) -> Recalled:
        state = self._state
        holdings = state.history.holdings(state.current_view.originals)
        return recall(holdings, handle, counter=state.settings.counter, **access)

    def _release(self) -> None:
        """Close the store and the client that were opened for this session alone."""
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
        self._background.start_if_due()
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
        self._background.astart_if_due()
        return result

    async def _arun(self, work: Callable[[], Steps[Result]]) -> Result:
        async def answer(ask: Ask) -> Reply:
            return await arun_ask(self._summarizer, ask)

        async with self._lock:
            await run_to_end(asyncio.to_thread(self._ready))
            result = await drive_in_threads(work(), answer)
        # A thread may have appended meanwhile, as when a history is followed.
        self._background.astart_if_due()
        return result

    # --- for async programs; documented at the methods without the prefix a -----------------

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
        """Return the messages to send to the model; see `view`."""
        return await self._arun(lambda: compaction.view(self._state))

    async def aoverflowed(self, error: Any, *, detectors: Iterable[Detector] = ()) -> list[Any]:
        """Return the messages to send instead of a rejected view; see `overflowed`."""
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
        """Compact if that is due, or fold a span of the history; see `compact`."""
        ends = (start, up_to)
        return await self._arun(
            lambda: compaction.compact_or_fold(self._state, budget, ends, force, focus)
        )

    async def aestimate(self, prices: Prices | None = None) -> CostEstimate:
        """Estimate what a compaction would cost; see `estimate`."""
        return await self._acall(lambda: estimate(self._state, prices))

    async def aundo(self) -> Receipt | None:
        """Undo the last compaction; see `undo`."""
        return await self._acall(lambda: undo(self._state))

    async def apin(self, message: str) -> str:
        """Keep a message in view; see `pin`."""
        return await self._acall(lambda: pin(self._state, message))

    async def aremember(self, text: str) -> None:
        """Set your own text for the session memory; see `remember`."""
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
