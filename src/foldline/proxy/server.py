"""The proxy server: its own two endpoints, the socket, signals and shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from errno import EADDRNOTAVAIL
from functools import partial
from typing import Any, Final, TextIO

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from foldline.errors import InputError, StoreError
from foldline.frozen import field, frozen
from foldline.models.endpoint import Endpoint, split_url
from foldline.models.transport import Relay
from foldline.proxy.access_control import AccessControl, is_loopback
from foldline.proxy.forwarding import ProxyParts, RequestLimits, forwarder
from foldline.proxy.monitoring import ProxyMetrics, RequestLog
from foldline.proxy.request_rewriting import ProxyOptions, RequestRewriter
from foldline.stores.protocol import Store
from foldline.stores.retention import Retention, prune


def application(parts: ProxyParts) -> ASGIApp:
    """
    Return the ASGI application of the proxy.

    Args:
        parts: The parts of the proxy; the connections to the provider are closed at shutdown.
    """

    def _with_access(request: Request, response: Response) -> Response:
        refusal = parts.access.refusal(dict(request.headers))
        if refusal is None:
            return response
        parts.metrics.refusals[refusal.reason] += 1
        return PlainTextResponse(refusal.message, refusal.status)

    async def health(request: Request) -> Response:
        totals = parts.metrics.totals(parts.rewriter.sessions)
        return _with_access(request, JSONResponse(totals))

    async def metrics(request: Request) -> Response:
        text = parts.metrics.exposition(parts.rewriter.sessions)
        return _with_access(request, PlainTextResponse(text, media_type=PROMETHEUS))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await parts.relay.aclose()

    routes = [
        Route("/healthz", health, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Mount("/", app=forwarder(parts)),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


PROMETHEUS: Final = "text/plain; version=0.0.4"

UPSTREAMS: Final = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}

WORKERS: Final = 32
"""Number of worker threads; they run SQLite, compactions and waits for other requests."""

SHUTDOWN_SECONDS: Final = 10
"""Grace period for answers in progress at shutdown, in seconds."""

IDLE_SECONDS: Final = 75
"""Seconds after which an idle client connection is closed."""

MAX_HEAD_BYTES: Final = 64 << 10
"""Maximum size of the head of a request, in bytes."""

PRUNE_SECONDS: Final = 3_600.0
"""Seconds between two checks of the archive's retention."""

SWITCH_SECONDS: Final = 0.001
"""Thread switch interval in seconds, so that busy threads do not delay the relaying one."""


@frozen
class ProxyServer:
    """
    Configuration of the proxy; see ``foldline serve --help``.

    Raises:
        InputError: The provider's address is invalid, or another machine could reach the proxy
            without a token.
    """

    upstream: str
    options: ProxyOptions
    store: Store | None = None
    host: str = "127.0.0.1"
    port: int = 0
    token: str = field(default="", repr=False)
    limits: RequestLimits = field(default_factory=RequestLimits)
    log: TextIO | None = None
    retention: Retention = field(default_factory=Retention)

    def __post_init__(self) -> None:
        if not self.token and not is_loopback(self.host):
            raise InputError(
                f"other machines can reach {self.host}",
                field="host",
                hint="Give a --token that every request must send.",
            )

    def run(self, ready: Callable[[str], None]) -> None:
        """
        Serve until SIGINT or SIGTERM.

        Args:
            ready: Called with the address of the proxy when it accepts requests.

        Raises:
            InputError: It cannot be bound to the address.
        """
        upstream, limits = resolve_upstream(self.upstream), self.limits
        bound = _bind(self.host, self.port)
        parts = ProxyParts(
            Endpoint(upstream),
            Relay(connections=limits.requests + 8, silence=limits.silence),
            RequestRewriter(self.store, self.options),
            AccessControl(self.host, self.token),
            ProxyMetrics(upstream, self.options.dry_run),
            RequestLog(self.log),
            ThreadPoolExecutor(WORKERS, thread_name_prefix="foldline-proxy"),
            limits,
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            asyncio.run(self._serve(parts, bound, ready))
        finally:
            parts.workers.shutdown(cancel_futures=True)
            parts.rewriter.close()
            if self.options.summarizers is not None:
                self.options.summarizers.close()
            bound.close()
            parts.log.close()

    async def _serve(
        self, parts: ProxyParts, bound: socket.socket, ready: Callable[[str], None]
    ) -> None:
        host, port = bound.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        recall = "ready" if self.store else "off: nothing is stored, nothing can be recalled"
        started = {
            "event": "started",
            "address": address,
            "upstream": parts.metrics.upstream,
            "archive": self.store is not None,
            "recall": recall,
            "dry_run": self.options.dry_run,
        }
        parts.log.add(started)
        pruning = asyncio.ensure_future(self._prune_archive(parts))
        try:
            await _Server(_config(parts), lambda: ready(address)).serve(sockets=[bound])
        finally:
            pruning.cancel()

    async def _prune_archive(self, parts: ProxyParts) -> None:
        """Apply the archive's retention periodically."""
        if self.store is None or self.retention == Retention():
            return
        loop = asyncio.get_running_loop()
        while True:
            look = partial(prune, self.store, self.retention, time.time())
            try:
                pruned = await loop.run_in_executor(parts.workers, look)
                found: dict[str, Any] = {"sessions": len(pruned)}
            except StoreError as error:
                found = {"problem": str(error)[:300]}
            parts.log.add({"event": "pruned", **found})
            await asyncio.sleep(PRUNE_SECONDS)


class _Connection(H11Protocol):
    """A connection that is closed if the head of a request does not arrive in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Continue waiting until the head is complete."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()

    def _wait(self) -> None:
        if self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                IDLE_SECONDS, self.timeout_keep_alive_handler
            )


class _Server(uvicorn.Server):
    """A server that shuts down on a signal, and reports when it accepts requests."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down on SIGINT and SIGTERM with a successful exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and report it."""
        await super().startup(sockets)
        self._ready()


def _config(parts: ProxyParts) -> uvicorn.Config:
    # The server's own log would only contain client addresses.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Config(
        application(parts),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        http=_Connection,
        loop="asyncio",
        lifespan="on",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        limit_concurrency=4 * parts.limits.requests,
    )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio sends small pieces at once; else they wait 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError, UnicodeError) as error:
        bound.close()
        number = error.errno if isinstance(error, OSError) else None
        is_host = isinstance(error, (socket.gaierror, UnicodeError)) or number == EADDRNOTAVAIL
        raise InputError(
            f"The proxy cannot listen at {host}, port {port}: {error}",
            hint="Give --host an address of this machine, such as 127.0.0.1 or 0.0.0.0."
            if is_host
            else "Choose another --port; 0 takes a free one.",
        ) from error
    return bound


def resolve_upstream(upstream: str) -> str:
    """
    Return the URL of a provider given by name or URL.

    Raises:
        InputError: It is not a valid URL.
    """
    address = UPSTREAMS.get(upstream, upstream)
    read = split_url(address)
    if read is None or read.query or read.username is not None:
        raise InputError(
            "the provider's address is not a URL",
            field="upstream",
            hint="Give anthropic, openai, or a URL without user and query.",
        )
    return address.rstrip("/")
