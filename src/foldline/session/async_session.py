"""The async twins of a session's methods."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any, Self

from foldline.ask_runner import run_to_end
from foldline.core.budget import Budget
from foldline.core.cost import CostEstimate
from foldline.engine.receipt import Receipt
from foldline.models.info import Prices
from foldline.models.overflow import Detector
from foldline.recall import Recalled
from foldline.session import compaction
from foldline.session.append import BATCH, add_batch, append, batches
from foldline.session.cost_estimate import estimate
from foldline.session.export import Target, export
from foldline.session.overflow import overflowed
from foldline.session.runner import SessionRunner
from foldline.session.user_changes import pin, remember, undo
from foldline.type_checks import typed_methods
from foldline.values.messages import Usage


@typed_methods
class AsyncSession(SessionRunner):
    """A session in async programs: each method is described at the one without the ``a``."""

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

    async def aoverflowed(self, said: Any, *, detectors: Iterable[Detector] = ()) -> list[Any]:
        """Return what to send instead of a rejected view; see `overflowed`."""
        return await self._acall(lambda: overflowed(self._state, said, detectors))

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
        """Return what was really said under a handle; see `recall`."""
        return await self._acall(lambda: self._recall(handle, access))

    async def aexport(self, target: Target) -> int:
        """Write the whole original transcript; see `export`."""
        return await self._acall(lambda: export(self._state.shown.log, target))

    async def aclose(self) -> None:
        """Let go of the session; see `close`."""
        async with self._turn:
            self._closed = True
            await self._background.aend()
            if self._state.setting.hired is not None:
                await self._state.setting.hired.aclose()
            await run_to_end(asyncio.to_thread(self._let_go))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
