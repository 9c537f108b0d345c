"""The methods of a memory for programs that await; each runs in a thread of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from foldline.memory.forgetting import Forgotten
    from foldline.memory.items import Added, Found, Item
    from foldline.memory.memory import Memory


class Awaiting:
    """What `Memory` gets its async twins from; arguments and results are those of the others."""

    __slots__ = ()

    async def aadd(self, content: str, **details: Any) -> Added:
        """Remember something; see `Memory.add`."""
        return await asyncio.to_thread(self._blocking.add, content, **details)

    async def asearch(self, query: str, **details: Any) -> list[Found]:
        """Find what has to do with a question; see `Memory.search`."""
        return await asyncio.to_thread(self._blocking.search, query, **details)

    async def aupdate(self, id: str, **changes: Any) -> Item:  # noqa: A002  # as there
        """Change a memory; see `Memory.update`."""
        return await asyncio.to_thread(self._blocking.update, id, **changes)

    async def aremove(self, id: str) -> Forgotten:  # noqa: A002  # as there
        """Forget one memory; see `Memory.remove`."""
        return await asyncio.to_thread(self._blocking.remove, id)

    async def aforget(self, by: Any = "importance", **details: Any) -> Forgotten:
        """Forget what matters little; see `Memory.forget`."""
        return await asyncio.to_thread(self._blocking.forget, by, **details)

    async def aconsolidate(self, *kinds: Any, **details: Any) -> tuple[Item, ...]:
        """Take over what matters; see `Memory.consolidate`."""
        return await asyncio.to_thread(self._blocking.consolidate, *kinds, **details)

    @property
    def _blocking(self) -> Memory:
        return cast("Memory", self)
