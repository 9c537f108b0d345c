"""The beginning of an answer, held back for a moment and then passed on with the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

from foldline.errors import ModelError


class Held:
    """
    Reads the beginning of a body without losing a byte of it.

    Args:
        chunks: The body.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self.taken: list[bytes] = []
        self.ended = False
        self._chunks = chunks
        self._error: ModelError | None = None
        self._coming: asyncio.Future[bytes | None] | None = None

    async def next(self, seconds: float) -> bytes | None:
        """Take the next bytes; None at the end, and when none come in so many seconds."""
        if self.ended:
            return None
        if self._coming is None:
            self._coming = asyncio.ensure_future(anext(self._chunks, None))
        done, _ = await asyncio.wait({self._coming}, timeout=max(0.0, seconds))
        if not done:
            return None
        coming, self._coming = self._coming, None
        try:
            chunk = coming.result()
        except ModelError as error:
            self._error, chunk = error, None
        if chunk is None:
            self.ended = True
        else:
            self.taken.append(chunk)
        return chunk

    async def whole(self, most: int, seconds: float) -> bytes:
        """Take what comes in so many seconds, up to about ``most`` bytes."""
        size, end = sum(map(len, self.taken)), monotonic() + seconds
        while size < most and (chunk := await self.next(end - monotonic())) is not None:
            size += len(chunk)
        return b"".join(self.taken)

    async def again(self) -> AsyncIterator[bytes]:
        """
        Yield what was taken, and the rest as it arrives.

        Raises:
            ModelError: The body broke off.
        """
        for chunk in self.taken:
            yield chunk
        if self._coming is not None:
            late = await self._coming
            if late is None:
                return
            yield late
        if self._error is not None:
            raise self._error
        if not self.ended:
            async for chunk in self._chunks:
                yield chunk

    def close(self) -> None:
        """Give up waiting."""
        if self._coming is not None:
            self._coming.cancel()
