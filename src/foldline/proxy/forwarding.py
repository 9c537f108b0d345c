"""Forwarding of one request: read it, decide, send, relay the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from time import monotonic, time
from typing import Any, Final, TypeAlias

from foldline.errors import ModelError
from foldline.frozen import frozen
from foldline.models.endpoint import Endpoint
from foldline.models.transport import Passed, Relay
from foldline.proxy import headers
from foldline.proxy.access_control import AccessControl, RequestRefusal
from foldline.proxy.answers import BufferedAnswer, UsageReader, find_rejection
from foldline.proxy.monitoring import ProxyMetrics, RequestLog
from foldline.proxy.request_rewriting import Decision, RequestRewriter
from foldline.proxy.requests import ProxyEndpoint, client_name, find_endpoint
from foldline.values.messages import Usage

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

AHEAD_SECONDS: Final = 0.25
"""Seconds that the head of an answer is delayed to read cache usage from its first bytes."""

AHEAD_BYTES: Final = 1 << 20
"""Size up to which non-streaming answers are read before they are relayed, in bytes."""


@frozen
class RequestLimits:
    """
    Limits of a request.

    ``body`` is the maximum size of a body that is read, in bytes; a larger one is relayed unread.
    ``waiting`` is the timeout for its next piece, ``deciding`` the timeout after which it is sent
    unchanged, ``silence`` the timeout for the provider's next byte, all in seconds. ``requests``
    is the maximum number of concurrent requests.
    """

    body: int = 32 << 20
    waiting: float = 60.0
    deciding: float = 30.0
    silence: float = 600.0
    requests: int = 256


@frozen
class ProxyParts:
    """The parts of the proxy; ``workers`` run blocking work."""

    upstream: Endpoint
    relay: Relay
    rewriter: RequestRewriter
    access: AccessControl
    metrics: ProxyMetrics
    log: RequestLog
    workers: Executor
    limits: RequestLimits


def forwarder(parts: ProxyParts) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """Return the ASGI application that forwards requests."""

    async def forward(scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(parts, scope, receive, send)
        refusal = parts.access.refusal(exchange.headers) or exchange.impossible()
        if refusal is None and parts.metrics.in_flight >= parts.limits.requests:
            refusal = RequestRefusal(503, "busy", "Too many requests are in progress; try again.")
        if refusal is not None:
            parts.metrics.refusals[refusal.reason] += 1
            await exchange.refuse(refusal)
            exchange.write(refused=refusal.reason)
            return
        parts.metrics.in_flight += 1
        try:
            await exchange.run()
        finally:
            parts.metrics.in_flight -= 1
            parts.metrics.count_answer(exchange.status, exchange.usage)
            exchange.write()

    return forward


class _Disconnected(Exception):
    """The client went away, or the answer broke off: nothing more can be sent."""


@dataclass
class Exchange:
    """One request and its answer."""

    parts: ProxyParts
    scope: Scope
    receive: Receive
    send: Send
    began: float = field(default_factory=monotonic)
    status: int = 0
    usage: Usage | None = None
    decision: Decision | None = None
    retried: bool = False
    problem: str = ""
    added: float = 0.0
    first: float = 0.0
    size: int = 0
    _started: bool = False
    _done: bool = False
    _read: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        pairs = self.scope["headers"]
        self.headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in pairs}
        self.path = (self.scope.get("raw_path") or b"").decode("latin-1")
        self.endpoint: ProxyEndpoint | None = find_endpoint(self.scope["method"], self.path)

    def impossible(self) -> RequestRefusal | None:
        """Return why a request can never be forwarded, None if it can."""
        if not self.path.startswith("/") or self.scope["method"] in ("CONNECT", "TRACE"):
            return RequestRefusal(400, "target", "This address cannot be forwarded.")
        return None

    async def run(self) -> None:
        """Serve the request; the upstream request is cancelled when the client disconnects."""
        work = asyncio.ensure_future(self._serve())
        watch = asyncio.ensure_future(self._watch())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if self._done:
                await work
            elif not work.done():
                self.problem = "the client went away"
        finally:
            watch.cancel()
            work.cancel()
            await asyncio.wait({work, watch})
        if not work.cancelled() and (error := work.exception()) is not None:
            await self._report_failure(error)

    async def _watch(self) -> None:
        await self._read.wait()
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _report_failure(self, error: BaseException) -> None:
        """Send an error, if no answer was started yet."""
        if isinstance(error, _Disconnected):
            self.problem = self.problem or str(error)
            return
        self.problem = f"{type(error).__name__}: {error}"[:300]
        if self._started:
            return
        status, message = 502, "The proxy failed."
        if isinstance(error, ModelError):
            status, message = 504 if error.code == "timeout" else 502, str(error)
        await self.refuse(RequestRefusal(status, "upstream", message))

    async def refuse(self, refusal: RequestRefusal) -> None:
        """Send an error of the proxy itself, in a shape that every client reads."""
        kind = "proxy_error" if refusal.status >= 500 else "invalid_request_error"
        error = {"type": kind, "code": f"foldline_{refusal.reason}", "message": refusal.message}
        body = json.dumps({"type": "error", "error": error}).encode()
        self.status = refusal.status
        head = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-foldline-error", refusal.reason.encode()),
        ]
        if self.scope["method"] != "HEAD" and not self._read.is_set():
            head.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": head})
        await self.send({"type": "http.response.body", "body": body})

    # --- the work ------------------------------------------------------------------------------

    async def _serve(self) -> None:
        if self.endpoint is None:
            await self._pass_on(await self._send_upstream(self._remaining_body()))
            return
        body, whole = await self._body()
        plain = self.headers.get("content-encoding", "identity").lower() in ("", "identity")
        if not whole or not plain:
            self.decision = Decision(b"", "unread", "encoded" if whole else "too large")
            await self._pass_on(await self._send_upstream(body if whole else self._rest(body)))
            return
        arrived = monotonic()
        try:
            async with asyncio.timeout(self.parts.limits.deciding):
                self.decision = await self._in_thread(
                    self.parts.rewriter.decide, self.endpoint, body, self.headers, self.path
                )
        except TimeoutError:
            self.decision = Decision(body, "failed", "deciding took too long")
        self.added = monotonic() - arrived
        await self._pass_on(await self._send_with_retry(self.decision))

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.parts.workers, work, *arguments)

    async def _send_with_retry(self, decision: Decision) -> Passed:
        """Send the decided body, and retry once, smaller, if it is rejected as too long."""
        answer = await self._send_upstream(decision.body)
        if decision.conversation is None:
            return answer
        answer, error = await find_rejection(answer, risky=decision.risky)
        if error is None:
            return answer
        smaller = await self._in_thread(self.parts.rewriter.retry, decision, error)
        if smaller is None:
            return answer
        await answer.aclose()
        self.decision, self.retried = smaller, True
        self.parts.metrics.retries += 1
        return await self._send_upstream(smaller.body)

    # --- the request ---------------------------------------------------------------------------

    async def _body(self) -> tuple[bytes, bool]:
        """Read the body; return False and the part read so far if it is too large."""
        pieces: list[bytes] = []
        most, declared = self.parts.limits.body, self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            return b"", False
        async for piece in self._pieces():
            pieces.append(piece)
            if self.size > most:
                return b"".join(pieces), False
        return b"".join(pieces), True

    async def _pieces(self) -> AsyncIterator[bytes]:
        while not self._read.is_set():
            try:
                async with asyncio.timeout(self.parts.limits.waiting):
                    message = await self.receive()
            except TimeoutError:
                raise _Disconnected("the body did not come in time") from None
            if message["type"] == "http.disconnect":
                raise _Disconnected("the client went away")
            self.size += len(message.get("body", b""))
            if not message.get("more_body"):
                self._read.set()
            yield message.get("body", b"")

    async def _rest(self, head: bytes) -> AsyncIterator[bytes]:
        if head:
            yield head
        async for piece in self._pieces():
            yield piece

    def _remaining_body(self) -> bytes | AsyncIterator[bytes]:
        if self.headers.keys() & {"content-length", "transfer-encoding"}:
            return self._pieces()
        self._read.set()
        return b""

    async def _send_upstream(self, body: bytes | AsyncIterator[bytes]) -> Passed:
        decision, parts = self.decision, self.parts
        url = parts.upstream.url(self.path)
        if self.scope["query_string"]:
            url = f"{url}?{self.scope['query_string'].decode('latin-1')}"
        length = not isinstance(body, bytes) and "content-length" in self.headers
        sent = headers.request_headers(
            self.scope["headers"], reads=self.endpoint is not None, length=length
        )
        if not self.retried:
            named = decision or Decision(b"", "unread")
            parts.metrics.count_request(named.outcome, named.before, named.after, self.added)
        return await parts.relay.send(self.scope["method"], url, sent, body)

    # --- the answer ----------------------------------------------------------------------------

    async def _pass_on(self, answer: Passed) -> None:
        """Relay an answer as it arrives; if it breaks off, the client's connection does too."""
        plain = {n.lower().decode("latin-1"): v.decode("latin-1") for n, v in answer.headers}
        reader = UsageReader(plain.get("content-type", ""), plain.get("content-encoding", ""))
        buffered = BufferedAnswer(answer.chunks)
        try:
            if self.decision is not None:
                await _read_ahead(buffered, plain)
            for chunk in buffered.taken:
                reader.feed(chunk)
            self.usage = reader.end() if buffered.ended else reader.usage
            await self._start(answer)
            known = len(buffered.taken)
            async for chunk in buffered.replay():
                if known:
                    known -= 1
                else:
                    reader.feed(chunk)
                await self._chunk(chunk)
            self._done = True
            await self.send({"type": "http.response.body", "body": b""})
        finally:
            buffered.close()
            self.usage = reader.end()
            if self.usage is not None and self.decision is not None and self.status == 200:
                self.parts.rewriter.record_usage(self.decision, self.usage)
            await answer.aclose()

    async def _start(self, answer: Passed) -> None:
        self.status, self._started = answer.status, True
        sent = headers.response_headers(answer.headers)
        if self.decision is not None:
            dry_run = self.parts.metrics.dry_run
            sent += headers.report_headers(self.decision, self.usage, dry_run=dry_run)
        await self.send({"type": "http.response.start", "status": answer.status, "headers": sent})

    async def _chunk(self, chunk: bytes) -> None:
        self.first = self.first or monotonic() - self.began
        await self.send({"type": "http.response.body", "body": chunk, "more_body": True})

    # --- the log -------------------------------------------------------------------------------

    def write(self, **more: Any) -> None:
        """Write the log record of the request."""
        decision = self.decision or Decision(b"", "unread")
        usage = self.usage or Usage()
        record: dict[str, Any] = {
            "time": round(time(), 3),
            "method": self.scope["method"],
            "path": self.path[:200],
            "status": self.status,
            "client": client_name(self.headers),
            "action": decision.outcome,
            "reason": decision.reason,
            "session": decision.session,
            "model": decision.model,
            "receipt": decision.receipt,
            "client_compaction": decision.compaction,
            "tokens_before": decision.before,
            "tokens_after": decision.after,
            **asdict(usage),
            "retried": self.retried,
            "bytes_in": self.size,
            "ms_added": round(1000 * self.added, 2),
            "ms_first": round(1000 * self.first, 2),
            "ms_total": round(1000 * (monotonic() - self.began), 2),
            "problem": self.problem,
        } | more
        if not self.parts.log.add({k: v for k, v in record.items() if v not in ("", False)}):
            self.parts.metrics.lost_lines += 1


async def _read_ahead(buffered: BufferedAnswer, plain: Mapping[str, str]) -> None:
    """Read a short answer to its end, a stream to its first bytes, within a short timeout."""
    length = plain.get("content-length", "")
    if "text/event-stream" in plain.get("content-type", "").lower():
        await buffered.next(AHEAD_SECONDS)
    elif length.isdigit() and int(length) <= AHEAD_BYTES:
        await buffered.whole(AHEAD_BYTES + 1, AHEAD_SECONDS)
