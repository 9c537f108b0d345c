"""Sending a question and reading the answer, whole or as it arrives."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Final, TypeVar

from foldline.errors import InputError, ModelError
from foldline.models.completion import Completion, Delta
from foldline.models.failures import failure
from foldline.models.info import price
from foldline.models.place import Place
from foldline.models.protocol import Question, Wire, unreadable
from foldline.models.retrying import Tries, tried
from foldline.models.secret import revealed
from foldline.models.sse import Events
from foldline.models.transport import Incoming, Outgoing, Transport
from foldline.models.veil import Veil
from foldline.redaction import redacted, without

Result = TypeVar("Result")

AGENT: Final = "foldline"


@dataclass(frozen=True, slots=True)
class Sender:
    """A way to one provider: its protocol, its place, and the connections to it."""

    wire: Wire
    place: Place
    transport: Transport = field(default_factory=Transport, repr=False)

    async def ask(self, question: Question, tries: Tries) -> Completion:
        """
        Send a question and return the whole answer.

        Raises:
            ModelError: There is none.
            InputError: The question cannot be written as JSON.
        """
        began = monotonic()
        request = self._request(question)

        async def once() -> Completion:
            async with self.transport.open(request, tries.deadline) as response:
                body = await response.whole()
                self._check(response, body)
            return self._read(_object(body))

        done = await self._tried(once, tries)
        return self._priced(done, question, tries, began)

    async def stream(
        self, question: Question, tries: Tries
    ) -> AsyncGenerator[Delta | Completion, None]:
        """
        Send a question and yield the pieces of the answer, and at last the whole.

        Only what goes wrong before the response begins is tried again.

        Raises:
            ModelError: There is no answer, or it broke off.
            InputError: The question cannot be written as JSON.
        """
        began = monotonic()
        request = self._request(question)
        async with AsyncExitStack() as stack:

            async def once() -> Incoming:
                opened = self.transport.open(request, tries.deadline)
                response = await stack.enter_async_context(opened)
                if response.status != 200:
                    self._check(response, await response.whole())
                return response

            response = await self._tried(once, tries)
            try:
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    # Servers that cannot stream answer whole.
                    done = self._read(_object(await response.whole()))
                else:
                    assembler, events = self.wire.assembler(), Events()
                    veil = Veil(self.place.echoes())
                    async with aclosing(response.chunks) as chunks:
                        async for chunk in chunks:
                            for event in events.feed(chunk):
                                for delta in veil.over(assembler.take(event)):
                                    yield delta
                    for delta in veil.rest():
                        yield delta
                    done = self._read(assembler.whole())
            except ModelError as error:
                raise self._clean(error) from None
            yield self._priced(done, question, tries, began)

    async def _tried(self, once: Callable[[], Awaitable[Result]], tries: Tries) -> Result:
        try:
            return await tried(once, tries)
        except ModelError as error:
            raise self._clean(error) from None

    def _read(self, body: dict[str, Any]) -> Completion:
        """Read an answer; a server that echoes the key must not bring it into a conversation."""
        return self.wire.read(without(body, self.place.echoes()))

    def _request(self, question: Question) -> Outgoing:
        try:
            text = json.dumps(self.wire.body(question), ensure_ascii=False, allow_nan=False)
            # Half a surrogate pair is no character; no server would take it.
            body = text.encode("utf-8", "replace")
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"the request cannot be written as JSON: {error}",
                hint="Give wire messages: plain dicts, lists, texts and numbers.",
            ) from error
        kind = "text/event-stream" if question.stream else "application/json"
        headers = {
            "accept": kind,
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": AGENT,
            **self.wire.headers(self.place.key.reveal()),
            **{name.lower(): value.reveal() for name, value in self.place.headers.items()},
        }
        return Outgoing(self.place.url(self.wire.path), headers, body)

    def _check(self, response: Incoming, body: bytes) -> None:
        if response.status != 200:
            raise failure(
                body,
                status=response.status,
                headers=response.headers,
                secrets=self.place.secrets,
            )

    def _clean(self, error: ModelError) -> ModelError:
        error.message = redacted(error.message, revealed(self.place.secrets))
        error.args = (error.message,)
        return error

    def _priced(
        self, done: Completion, question: Question, tries: Tries, began: float
    ) -> Completion:
        usd = None if done.usage is None else price(question.info, done.usage)
        return replace(
            done,
            usd=usd,
            model=done.model or question.model,
            seconds=monotonic() - began,
            attempts=tries.made,
        )


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise unreadable("is no JSON") from None
    if not isinstance(value, dict):
        raise unreadable("is no JSON object")
    return value
