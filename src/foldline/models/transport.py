"""HTTP transport: the only file that imports httpx2."""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import cache
from time import monotonic
from typing import Final, TypeAlias, TypeVar

import httpx2

from foldline.concurrency import blocking_loop, run_blocking
from foldline.errors import ModelError
from foldline.frozen import frozen
from foldline.models.completion import ServerSentEvent
from foldline.models.endpoint import split_url
from foldline.models.errors import timeout_error

Result = TypeVar("Result")

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Header names and values as on the wire, in order."""

LARGEST: Final = 32 << 20
"""Maximum size of a response, in bytes."""

CONNECT: Final = 10.0
"""Timeout for opening a connection, in seconds."""

HOPS: Final = 3
"""Maximum number of redirects, within the same host."""

MOVED: Final = frozenset({301, 302, 303, 307, 308})


@frozen
class Outgoing:
    """A POST request; ``headers`` may hold a key and are not part of its repr."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Outgoing({len(self.body):,} bytes)"


@frozen
class Incoming:
    """A response whose body is not read yet; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncGenerator[bytes, None]

    async def whole(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.chunks])


class Transport:
    """Connection pools, one for every event loop, kept open between requests."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._pools: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}

    @asynccontextmanager
    async def open(self, request: Outgoing, deadline: float) -> AsyncIterator[Incoming]:
        """
        Send a request, and close its connection if the body is not read to the end.

        Args:
            request: The request; a redirect is followed only within its host.
            deadline: The deadline, on the clock of `time.monotonic`.

        Raises:
            ModelError: There was no response, or it was too large.
        """
        response = await _in_time(self._send(request), deadline)
        try:
            heads = {name.lower(): value for name, value in response.headers.items()}
            yield Incoming(response.status_code, heads, _chunks(response, deadline))
        finally:
            await response.aclose()

    async def _send(self, request: Outgoing) -> httpx2.Response:
        pool, url = self._pool(), request.url
        for _ in range(HOPS + 1):
            sent = pool.build_request("POST", url, headers=request.headers, content=request.body)
            response = await pool.send(sent, stream=True, follow_redirects=False)
            if response.status_code not in MOVED:
                return response
            await response.aclose()
            target = redirect_within(url, response.headers.get("location", ""))
            status = response.status_code
            if status < 307 or not target:
                why = "The provider redirects to another host, which is not sent the key."
                hint = "Check the base URL."
                raise ModelError(why, status=status, code="redirect", hint=hint)
            url = target
        raise ModelError("The provider redirects in a loop.", code="redirect")

    def _pool(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._guard:
            # The connections of a closed loop are closed too.
            self._pools = {each: p for each, p in self._pools.items() if not each.is_closed()}
            pool = self._pools.get(loop)
            if pool is None or pool.is_closed:
                timeout = httpx2.Timeout(None, connect=CONNECT)
                pool = httpx2.AsyncClient(timeout=timeout, verify=_ssl_context())
                self._pools[loop] = pool
            return pool

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        with self._guard:
            pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()

    def close(self) -> None:
        """Close the connections of blocking programs."""
        with self._guard:
            used = blocking_loop() in self._pools
        if used:
            run_blocking(self.aclose())


def redirect_within(url: str, location: str) -> str:
    """Return the target of a redirect, "" unless it has the same scheme, host and port."""
    try:
        target = httpx2.URL(url).join(location)
        stays = httpx2.Origin(url) == httpx2.Origin(target) and not target.userinfo
    except (httpx2.InvalidURL, ValueError):
        return ""
    return str(target) if stays else ""


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the trusted certificates, cached: loading them takes 50 ms."""
    return httpx2.create_ssl_context()


async def _chunks(response: httpx2.Response, deadline: float) -> AsyncGenerator[bytes, None]:
    coding = response.headers.get("content-encoding", "identity").lower()
    if coding not in ("", "identity"):
        # The size of compressed bytes is not known before they are decompressed.
        raise ModelError(f"The answer is compressed ({coding[:20]}), which was not requested.")
    size = 0
    raw = response.aiter_raw()
    while True:
        try:
            chunk = await _in_time(anext(raw), deadline)
        except StopAsyncIteration:
            return
        size += len(chunk)
        if size > LARGEST:
            raise ModelError(f"The answer is larger than {LARGEST:,} bytes.", code="too_large")
        yield chunk


async def _in_time(work: Awaitable[Result], deadline: float) -> Result:
    """Await network work until the deadline, and convert its errors to `ModelError`."""
    left = deadline - monotonic()
    try:
        async with asyncio.timeout(max(0.0, left)):
            return await work
    except TimeoutError:
        raise timeout_error() from None
    except httpx2.ConnectTimeout:
        why = f"No connection was made in {CONNECT:.0f} seconds."
        raise ModelError(why, code="connection", retry=True) from None
    except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL) as error:
        raise ModelError(f"The request cannot be sent: {type(error).__name__}.") from None
    except httpx2.TransportError as error:
        # Not chained: the error holds the request, and with it the key.
        why = f"The connection failed: {type(error).__name__}"
        if isinstance(error, httpx2.ConnectError) and str(error):
            why += f": {error}"
        raise ModelError(why, code="connection", retry=True) from None


async def read_events(
    chunks: AsyncGenerator[bytes, None],
) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the server-sent events of a body as they arrive, without a truncated last one."""
    # The event reader of httpx2 accepts only its own responses, with a content type and, for its
    # errors, a request; these bytes come from a stream bounded in size and time, or from the
    # proxy. Events are UTF-8 whatever the header says, and a byte order mark before them is
    # ignored: hence the charset.
    response = httpx2.Response(
        200,
        headers={"content-type": "text/event-stream; charset=utf-8-sig"},
        content=chunks,
        request=httpx2.Request("POST", "http://stream"),
    )
    async with aclosing(chunks):
        async for event in httpx2.EventSource(response, max_event_size=None):
            if event.data:
                yield ServerSentEvent("" if event.event == "message" else event.event, event.data)


# --- relaying ------------------------------------------------------------------------------


@frozen
class Passed:
    """
    An answer that is relayed as it arrives.

    ``chunks`` yields the raw bytes of the body, compressed if they were; it raises ModelError if
    the connection breaks or is silent for too long.
    """

    status: int
    headers: Headers
    chunks: AsyncIterator[bytes]
    aclose: Callable[[], Awaitable[None]]


class Relay:
    """
    Relays requests of clients byte for byte, and their answers as they arrive.

    It follows no redirects, keeps no cookies, adds no headers except for framing, and does not
    retry.

    Args:
        connections: Maximum number of open connections.
        silence: Read timeout: seconds without a byte after which an answer is aborted.
    """

    def __init__(self, *, connections: int, silence: float) -> None:
        self._pool = httpx2.AsyncClient(
            timeout=httpx2.Timeout(silence, connect=CONNECT, pool=CONNECT),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=64),
            verify=_ssl_context(),
            follow_redirects=False,
        )

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes | AsyncIterator[bytes]
    ) -> Passed:
        """
        Send a request and return its answer as soon as it begins.

        Args:
            method: The HTTP method, such as "POST".
            url: The URL with its query.
            headers: The headers to send; they hold keys, so no error contains them.
            body: The whole body, or its pieces as they arrive.

        Raises:
            ModelError: There was no answer; ``code`` is "connection" or "timeout".
        """
        with _explain(url):
            request = httpx2.Request(method, url, headers=list(headers), content=body)
            response = await self._pool.send(request, stream=True)
        self._pool.cookies.clear()
        return Passed(
            response.status_code, response.headers.raw, _raw(response, url), response.aclose
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


async def _raw(response: httpx2.Response, url: str) -> AsyncIterator[bytes]:
    with _explain(url):
        async for chunk in response.aiter_raw():
            yield chunk


@contextmanager
def _explain(url: str) -> Iterator[None]:
    """Convert network errors to `ModelError`, without the request that they hold."""
    try:
        yield
    except httpx2.ConnectError as error:
        words = f"The provider at {_host_and_port(url)} cannot be reached: {_reason(error)}."
        hint = "Check its address, and that it runs and this machine may connect to it."
        raise ModelError(words, code="connection", retry=True, hint=hint) from None
    except httpx2.TimeoutException as error:
        where = _host_and_port(url)
        words = f"The provider at {where} did not answer in time: {type(error).__name__}."
        raise ModelError(words, code="timeout", retry=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        where = _host_and_port(url)
        words = f"The connection to the provider at {where} failed: {type(error).__name__}."
        raise ModelError(words, code="connection", retry=True) from None


def _host_and_port(url: str) -> str:
    """Name the server of an address: neither user nor path nor query, which may hold keys."""
    address = split_url(url)
    if address is None:
        return "an address that is none"
    host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname
    return f"{host}:{address.port or (443 if address.scheme == 'https' else 80)}"


def _reason(error: BaseException) -> str:
    """Return why no connection was made, in the words of the operating system where it has any."""
    cause: BaseException | None = error
    while cause is not None:
        error, cause = cause, cause.__cause__ or cause.__context__
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
