"""
A provider's answer, read while it is relayed: its beginning, a "too long" error, its usage.

No byte is lost, or delayed for longer than the constants here allow.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from time import monotonic
from typing import Any, Final

from foldline.errors import ModelError
from foldline.frozen import replace
from foldline.models.completion import ServerSentEvent, mapping
from foldline.models.errors import provider_error
from foldline.models.overflow import overflow_in
from foldline.models.transport import Passed, read_events
from foldline.values.messages import Usage
from foldline.values.usage import read_usage


class BufferedAnswer:
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
        """Return the next bytes; None at the end, and after a timeout in seconds."""
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

    async def pieces(self, most: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """Yield the bytes that arrive within ``seconds``, up to about ``most``."""
        size, end = sum(map(len, self.taken)), monotonic() + seconds
        while size < most and (chunk := await self.next(end - monotonic())) is not None:
            size += len(chunk)
            yield chunk

    async def whole(self, most: int, seconds: float) -> bytes:
        """Return the bytes that arrive within ``seconds``, up to about ``most``."""
        async for _ in self.pieces(most, seconds):
            pass
        return b"".join(self.taken)

    async def replay(self) -> AsyncIterator[bytes]:
        """
        Yield the bytes read so far, and the rest as it arrives.

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
        """Stop waiting for the body."""
        if self._coming is not None:
            self._coming.cancel()


LARGEST: Final = 1 << 20
"""Maximum size of an error that is read, in bytes."""

PATIENCE: Final = 15.0
"""Seconds that a stream is held back while only its opening events have arrived."""

BEGINNING: Final = frozenset(
    {"response.created", "response.in_progress", "response.queued", "ping"}
)
"""Opening events without content."""

REJECTING: Final = frozenset({400, 413, 422})
"""Statuses with which providers reject a request as too long."""


async def find_rejection(answer: Passed, *, risky: bool) -> tuple[Passed, ModelError | None]:
    """
    Detect whether a request was rejected as too long.

    Args:
        answer: The provider's answer, not yet read.
        risky: Whether the request is so large that a stream is held back until it has content:
            some providers reject within the stream.

    Returns:
        An answer to relay in its place, which replays the bytes already read, and the error.
    """
    plain = {n.lower(): v.decode("latin-1").lower() for n, v in answer.headers}
    streams = risky and "text/event-stream" in plain.get(b"content-type", "")
    rejects = answer.status in REJECTING
    if not (rejects or streams) or plain.get(b"content-encoding", "identity") != "identity":
        return answer, None
    buffered = BufferedAnswer(answer.chunks)
    if rejects:
        body = await buffered.whole(LARGEST, PATIENCE)
        error: ModelError | None = provider_error(body, status=answer.status)
    else:
        error = await _failed_event(buffered)
    too_long = error is not None and overflow_in(error) is not None
    return replace(answer, chunks=buffered.replay()), error if too_long else None


async def _failed_event(buffered: BufferedAnswer) -> ModelError | None:
    """Read a stream up to its first event with content; return the error in that event, if any."""
    async with aclosing(read_events(buffered.pieces(LARGEST, PATIENCE))) as events:
        async for event in events:
            if _kind(event) not in BEGINNING:
                return _error(event)
    return None


def _kind(event: ServerSentEvent) -> str:
    return event.name or str(_value(event).get("type", ""))


def _value(event: ServerSentEvent) -> dict[str, Any]:
    """Return the JSON object of an event, an empty one if it has none."""
    try:
        return event.value()
    except ModelError:
        return {}


def _error(event: ServerSentEvent) -> ModelError | None:
    """Return the error in an event, if it is one."""
    value = _value(event)
    inner = mapping(value.get("response")).get("error")
    error = value.get("error") or inner or (value if value.get("type") == "error" else None)
    return provider_error({"error": error}) if error else None


LONGEST: Final = 1 << 20
"""Maximum size of one line of a stream, or of a whole answer, that is read, in bytes."""

READABLE: Final = frozenset({"", "identity", "gzip", "deflate"})
"""Content codings that can be decoded here."""


class UsageReader:
    """
    Reads the usage from a relayed answer, and ignores what it cannot read.

    Args:
        kind: The content type.
        coding: The content coding.
    """

    def __init__(self, kind: str, coding: str) -> None:
        self.usage: Usage | None = None
        self._stream = "text/event-stream" in kind.lower()
        self._unreadable = coding.lower() not in READABLE
        packed = coding.lower() in ("gzip", "deflate")
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._rest = b""
        self._reported: dict[str, Any] = {}

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes; nothing is raised."""
        if self._unreadable:
            return
        try:
            data = chunk if self._unpack is None else self._unpack.decompress(chunk, LONGEST)
            self._unreadable = self._unpack is not None and bool(self._unpack.unconsumed_tail)
            self._take(data)
        except (zlib.error, ValueError, RecursionError):
            self._unreadable = True

    def end(self) -> Usage | None:
        """Return the usage, None if none was reported."""
        if not self._unreadable and not self._stream and self._rest:
            try:
                self._read_event(json.loads(self._rest))
            except (ValueError, RecursionError):
                self._unreadable = True
        return self.usage

    def _take(self, data: bytes) -> None:
        if not self._stream:
            self._rest += data
        else:
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = self._rest + lines[0]
                self._rest = rest
            else:
                self._rest += rest
            for line in lines:
                if b'"usage"' in line and line.startswith(b"data:"):
                    self._read_event(json.loads(line[5:]))
        if len(self._rest) > LONGEST:
            self._unreadable, self._rest = True, b""

    def _read_event(self, value: Any) -> None:
        """Read an answer, or an event of one; Anthropic reports its usage in two of them."""
        event = mapping(value)
        for holder in (event, mapping(event.get("message")), mapping(event.get("response"))):
            reported = mapping(holder.get("usage"))
            self._reported |= {name: n for name, n in reported.items() if n is not None}
        self.usage = read_usage(self._reported)
