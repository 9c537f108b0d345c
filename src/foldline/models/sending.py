"""Sending a request and reading the answer, whole or as a stream, with retries by stamina."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

import stamina

from foldline.errors import InputError, ModelError
from foldline.frozen import field, frozen, replace
from foldline.models.completion import (
    Completion,
    CompletionRequest,
    Delta,
    ProviderProtocol,
    malformed_answer,
)
from foldline.models.endpoint import Endpoint, reveal_all
from foldline.models.errors import TIMEOUT, provider_error, timeout_error
from foldline.models.info import price
from foldline.models.transport import Incoming, Outgoing, Transport, read_events
from foldline.redaction import SHORTEST, redact_json, without

Result = TypeVar("Result")

# stamina logs every pause; without configured logging, it must not write to the terminal.
logging.getLogger("stamina").addHandler(logging.NullHandler())

FIRST, LONGEST, JITTER = 0.5, 8.0, 0.5
"""Seconds: the first pause, the longest, and the random jitter added to each."""

SPREAD: Final = 0.05
"""Minimum wait when the provider requests one, in seconds."""


@dataclass(slots=True)
class RetryBudget:
    """
    The remaining requests of a completion and its deadline.

    ``deadline`` is on the clock of `time.monotonic`; ``made`` counts the requests, ``error`` is
    the last error other than a timeout.
    """

    attempts: int
    deadline: float
    made: int = 0
    error: ModelError | None = None

    def delay(self, error: Exception) -> bool | float:
        """Return whether to retry, or the seconds to wait if the provider requests a wait."""
        if not isinstance(error, ModelError):
            return False
        if error.code != TIMEOUT:
            self.error = error
        left = self.deadline - monotonic()
        if not error.retry or left <= 0:
            return False
        if error.wait is None:
            return True
        # Waiting until no time is left for a request would only delay the error.
        return max(error.wait, SPREAD) if error.wait < left else False


async def retry(work: Callable[[], Awaitable[Result]], budget: RetryBudget) -> Result:
    """
    Retry work until it succeeds.

    Args:
        work: Sends one request; raises `ModelError`, whose ``retry`` and ``wait`` decide.
        budget: The number of requests and the deadline.

    Raises:
        ModelError: The last error, if no attempt or no time is left.
    """
    pauses = stamina.retry_context(
        on=budget.delay,
        attempts=max(1, budget.attempts),
        timeout=None,
        wait_initial=FIRST,
        wait_max=LONGEST,
        wait_jitter=JITTER,
    )
    try:
        async with asyncio.timeout(max(0.0, budget.deadline - monotonic()) + SPREAD):
            async for attempt in pauses:
                with attempt:
                    budget.made += 1
                    return await work()
    except (TimeoutError, ModelError) as error:
        if isinstance(error, ModelError) and error.code != TIMEOUT:
            raise
        # The deadline passed: the error before it is more informative.
        late = error if isinstance(error, ModelError) else None
        raise budget.error or late or timeout_error() from None
    raise AssertionError("stamina ends with a result or an error")


class SecretFilter:
    """
    Redacts keys from a stream, holding back the end of a piece that may be the start of a key.

    Args:
        keys: The keys to redact.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(key for key in keys if len(key) >= SHORTEST)
        self._held: Delta | None = None

    def filter(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
        """Yield pieces without keys; a possible start of one is yielded with a later piece."""
        for piece in deltas:
            if not self._keys:
                yield piece
                continue
            delta = replace(piece, name=without(piece.name, self._keys))
            held, self._held = self._held, None
            if held is not None and (held.kind, held.index) != (delta.kind, delta.index):
                yield held
                held = None
            text = without((held.text if held else "") + delta.text, self._keys)
            end = len(text) - self._count_begun(text)
            if text[end:]:
                self._held = replace(delta, text=text[end:], name="")
            if text[:end] or delta.name or not text:
                yield replace(delta, text=text[:end])

    def flush(self) -> Iterator[Delta]:
        """Yield the text held back at the end."""
        if self._held is not None:
            yield self._held
            self._held = None

    def _count_begun(self, text: str) -> int:
        """Return the number of characters at the end of a text that may start a key."""
        longest = 0
        for key in self._keys:
            for size in range(min(len(key) - 1, len(text)), longest, -1):
                if text.endswith(key[:size]):
                    longest = size
                    break
        return longest


@frozen
class Sender:
    """Sends requests to one provider: its protocol, its endpoint, and its connections."""

    protocol: ProviderProtocol
    endpoint: Endpoint
    transport: Transport = field(default_factory=Transport, repr=False)

    async def complete(self, request: CompletionRequest, budget: RetryBudget) -> Completion:
        """
        Send a request and return the whole answer.

        Raises:
            ModelError: There is none.
            InputError: The request cannot be written as JSON.
        """
        began = monotonic()
        outgoing = self._outgoing(request)

        async def once() -> Completion:
            async with self.transport.open(outgoing, budget.deadline) as response:
                await self._check(response)
                return self._read(_object(await response.whole()))

        done = await self._retry(once, budget)
        return self._add_price(done, request, budget, began)

    async def stream(
        self, request: CompletionRequest, budget: RetryBudget
    ) -> AsyncGenerator[Delta | Completion, None]:
        """
        Send a request and yield the pieces of the answer, and finally the whole.

        Only failures before the start of the response are retried.

        Raises:
            ModelError: There is no answer, or it broke off.
            InputError: The request cannot be written as JSON.
        """
        began = monotonic()
        outgoing = self._outgoing(request)
        async with AsyncExitStack() as stack:

            async def once() -> Incoming:
                opened = self.transport.open(outgoing, budget.deadline)
                response = await stack.enter_async_context(opened)
                await self._check(response)
                return response

            response = await self._retry(once, budget)
            try:
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    # Servers that cannot stream return the whole answer.
                    done = self._read(_object(await response.whole()))
                else:
                    assembler = self.protocol.assembler()
                    secret_filter = SecretFilter(self.endpoint.keys_to_redact())
                    async with aclosing(read_events(response.chunks)) as events:
                        async for event in events:
                            for delta in secret_filter.filter(assembler.take(event)):
                                yield delta
                    for delta in secret_filter.flush():
                        yield delta
                    done = self._read(assembler.whole())
            except ModelError as error:
                raise self._clean(error) from None
            yield self._add_price(done, request, budget, began)

    async def _retry(self, once: Callable[[], Awaitable[Result]], budget: RetryBudget) -> Result:
        try:
            return await retry(once, budget)
        except ModelError as error:
            raise self._clean(error) from None

    def _read(self, body: dict[str, Any]) -> Completion:
        """Read an answer; a key echoed by the server must not enter the conversation."""
        return self.protocol.read(without(body, self.endpoint.keys_to_redact()))

    def _outgoing(self, request: CompletionRequest) -> Outgoing:
        try:
            text = json.dumps(self.protocol.body(request), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            hint = "Give wire messages: plain dicts, lists, texts and numbers."
            why = f"The request cannot be written as JSON: {error}"
            raise InputError(why, hint=hint) from error
        kind = "text/event-stream" if request.stream else "application/json"
        headers = {
            "accept": kind,
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "foldline",
            **self.protocol.headers(self.endpoint.key.reveal()),
            **{name.lower(): value.reveal() for name, value in self.endpoint.headers.items()},
        }
        # A lone surrogate is not a character: no server would accept it.
        body = text.encode("utf-8", "replace")
        return Outgoing(self.endpoint.url(self.protocol.path), headers, body)

    async def _check(self, response: Incoming) -> None:
        if response.status != 200:
            body, secrets = await response.whole(), self.endpoint.secrets
            status, headers = response.status, response.headers
            raise provider_error(body, status=status, headers=headers, secrets=secrets)

    def _clean(self, error: ModelError) -> ModelError:
        error.message = redact_json(error.message, reveal_all(self.endpoint.secrets))
        error.args = (error.message,)
        return error

    def _add_price(
        self, done: Completion, request: CompletionRequest, budget: RetryBudget, began: float
    ) -> Completion:
        usd = None if done.usage is None else price(request.info, done.usage)
        name, seconds = done.model or request.model, monotonic() - began
        return replace(done, usd=usd, model=name, seconds=seconds, attempts=budget.made)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise malformed_answer("is not JSON") from None
    if not isinstance(value, dict):
        raise malformed_answer("is not a JSON object")
    return value
