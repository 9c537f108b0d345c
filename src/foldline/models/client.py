"""The client: answers Asks and completes conversations, blocking and async."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from time import monotonic
from typing import Any, Final, Self, TypedDict, Unpack

from foldline.concurrency import iterate_blocking, run_blocking
from foldline.core.asks import Ask, ModelLimits, Reply, Stop
from foldline.errors import BudgetError, ModelError
from foldline.frozen import frozen, replace
from foldline.models.completion import Completion, CompletionRequest, Delta
from foldline.models.errors import TIMEOUT, TooLong
from foldline.models.info import ModelInfo, price
from foldline.models.sending import RetryBudget, Sender
from foldline.redaction import explain_error
from foldline.tokens.estimate import estimate
from foldline.values.messages import Usage
from foldline.values.tokens import TextCounter

SECONDS: Final = 600.0
"""Default timeout of a completion, retries included, in seconds."""

ATTEMPTS: Final = 3
"""Default maximum number of requests for a completion."""

THINKING: Final = 4_096
"""Tokens for the reasoning of a model that always thinks, in addition to the answer to an Ask."""


class CompletionOptions(TypedDict, total=False):
    """
    Optional arguments of a completion.

    ``tools`` are tool schemas, in the wire format of the messages; ``system`` is a system prompt
    sent with them. ``max_tokens`` caps the answer, and never exceeds the model's own cap: an
    answer whose stop is "length" has reached it, and its last call may be incomplete.
    ``temperature`` is not sent unless given; some models reject it. ``timeout`` is in seconds,
    retries included, and replaces the client's.
    """

    tools: Sequence[Any] | None
    system: str | None
    max_tokens: int | None
    temperature: float | None
    timeout: float | None


class Client:
    """
    A client of one model; create it with `foldline.models.model`.

    It may be shared by threads and tasks. Connections are opened by the first request and kept
    until ``close``, or ``aclose`` in async programs.

    Args:
        name: The provider's name of the model.
        info: Its limits and prices.
        sender: Sends the requests.
        timeout: Seconds for a completion, pauses and retries included.
        attempts: Maximum number of requests for a completion.
        thinking: Tokens for reasoning, besides the answer to an Ask; None for the model's need.
        counter: Counts a prompt; default an estimate.

    Raises:
        BudgetError: A number is out of range.
    """

    def __init__(
        self,
        name: str,
        info: ModelInfo,
        sender: Sender,
        *,
        timeout: float = SECONDS,
        attempts: int = ATTEMPTS,
        thinking: int | None = None,
        counter: TextCounter | None = None,
    ) -> None:
        if not timeout > 0 or attempts < 1 or (thinking or 0) < 0:
            numbers = f"{timeout!r} seconds, {attempts!r} attempts, {thinking!r} tokens"
            hint = "Seconds and attempts must be positive."
            raise BudgetError(f"Impossible client: {numbers} for thinking.", hint=hint)
        self.name = name
        self.info = info
        self._sender = sender
        self._timeout = timeout
        self._attempts = attempts
        self._thinking = (THINKING if info.thinks else 0) if thinking is None else thinking
        self._counter = counter
        self.note = ""
        """Why this model was chosen instead of the requested one; "" if it is that one."""

    def __repr__(self) -> str:
        return f"<Client {self.name} ({self.dialect}) at {self._sender.endpoint.base_url}>"

    @property
    def dialect(self) -> str:
        """The wire format of its messages, by its name in `foldline.formats`."""
        return self._sender.protocol.dialect

    @property
    def reader(self) -> ModelLimits:
        """Its input and output limits, and its prices."""
        return priced_limits(self.name, self.info, self._thinking)

    # --- answering: one prompt in plain text ---------------------------------------------------

    def answer(self, ask: Ask) -> Reply:
        """
        Answer an Ask; errors are part of the Reply.

        Args:
            ask: Its ``seconds`` and ``attempts`` bound the answer, retries included.
        """
        return run_blocking(self.aanswer(ask))

    async def aanswer(self, ask: Ask) -> Reply:
        """Answer an Ask without blocking; see `answer`. A cancellation closes the connection."""
        if ask.attempts < 1:
            return Reply(error="no request is allowed", retry=False, model=self.name, attempts=0)
        began = monotonic()
        budget = RetryBudget(ask.attempts, began + ask.seconds)
        try:
            done = await self._sender.complete(self._ask_request(ask), budget)
        except Exception as error:  # noqa: BLE001  # any error is part of the Reply
            seconds = monotonic() - began
            return error_reply(error, self.name, seconds=seconds, attempts=budget.made)
        return to_reply(done, self.name)

    def _ask_request(self, ask: Ask) -> CompletionRequest:
        """Write an Ask as a request: plain text, and no tools."""
        texts = (ask.prompt, ask.system)
        if self._counter is not None:
            prompt = sum(map(self._counter.count, texts))
        else:
            prompt = sum(estimate(text, self.info.tokens) for text in texts)
        cap = output_cap(ask.max_tokens + self._thinking, self.info, prompt + FRAME)
        # All three protocols accept a user message in this short form.
        messages = [{"role": "user", "content": ask.prompt}]
        system = ask.system or None
        return CompletionRequest(self.name, self.info, messages, system, max_tokens=cap)

    # --- completing: a conversation in the wire format of the provider --------------------------

    def complete(
        self, messages: Sequence[Any], **options: Unpack[CompletionOptions]
    ) -> Completion:
        """
        Return the model's next message.

        Args:
            messages: The conversation, in the wire format that ``dialect`` names.
            options: See `CompletionOptions`.

        Returns:
            The answer; its ``messages`` are ready to append to the conversation.

        Raises:
            ModelError: There is no answer; ``retry`` is True if the request may succeed later.
                It is a `foldline.models.TooLong` if the request is too long.
            InputError: The messages cannot be written as JSON.
        """
        return run_blocking(self.acomplete(messages, **options))

    async def acomplete(
        self, messages: Sequence[Any], **options: Unpack[CompletionOptions]
    ) -> Completion:
        """Return the model's next message; see `complete`. Cancellation closes the connection."""
        request = self._request(messages, options)
        return await self._sender.complete(request, self._budget(options.get("timeout")))

    def stream(
        self, messages: Sequence[Any], **options: Unpack[CompletionOptions]
    ) -> Iterator[Delta | Completion]:
        """
        Yield the pieces of the model's next message as they arrive, and finally the whole.

        Closing the iterator closes the connection. See `complete`.

        Raises:
            ModelError: There is no answer, or it broke off; then no `Completion` was yielded.
        """
        return iterate_blocking(self.astream(messages, **options))

    def astream(
        self, messages: Sequence[Any], **options: Unpack[CompletionOptions]
    ) -> AsyncGenerator[Delta | Completion, None]:
        """Yield the pieces of the model's next message, and finally the whole; see `stream`."""
        request = replace(self._request(messages, options), stream=True)
        return self._sender.stream(request, self._budget(options.get("timeout")))

    def _request(self, messages: Sequence[Any], options: CompletionOptions) -> CompletionRequest:
        fields: dict[str, Any] = {**options}
        fields.pop("timeout", None)
        cap = fields.get("max_tokens")
        if cap is not None:
            if cap < 1:
                raise BudgetError(f"The cap of an answer must be positive, not {cap}.")
            fields["max_tokens"] = min(cap, self.info.output) if self.info.resolved else cap
        return CompletionRequest(self.name, self.info, messages, **fields)

    def _budget(self, timeout: float | None) -> RetryBudget:
        seconds = self._timeout if timeout is None else timeout
        if not seconds > 0:
            raise ModelError("There is no time to answer.", code=TIMEOUT)
        return RetryBudget(self._attempts, monotonic() + seconds)

    # --- closing -------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections of blocking methods; closing twice is allowed."""
        self._sender.transport.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        await self._sender.transport.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


# --- from an Ask to a request, and from the outcome to a Reply --------------------------------

MARGIN_SHARE, MARGIN_MOST = 50, 4_096
"""Margin for counting errors: a fraction of the window, and its maximum in tokens."""

FRAME: Final = 16
"""Tokens of a request beyond its texts."""

REASONS: Final[dict[Stop, str]] = {
    "refusal": "the model declined",
    "overflow": "the model's window was full before the answer was whole",
    "tools": "the model called a tool instead of answering",
}
"""Why an answer with one of these stops is not an answer."""


@frozen
class PricedLimits(ModelLimits):
    """
    The limits of a model with its exact prices, including those of long requests.

    ``thinking`` is its allowance for reasoning before the answer, in tokens.
    """

    info: ModelInfo | None = None
    thinking: int = 0

    def usd(self, read: int, written: int) -> float | None:
        """Return the maximum cost of a request, in US dollars; None if it is unknown."""
        if self.info is None:
            return None
        return price(self.info, Usage(read, written + self.thinking))


def priced_limits(name: str, info: ModelInfo, thinking: int) -> PricedLimits:
    """Return the limits and prices of a model, under the name used in its replies."""
    prices = info.prices
    return PricedLimits(
        window=info.readable,
        output=info.output,
        name=name,
        input_usd=None if prices is None else prices.input,
        output_usd=None if prices is None else prices.output,
        info=info,
        thinking=thinking,
    )


def output_cap(requested: int, info: ModelInfo, prompt: int) -> int:
    """
    Return the cap of an answer, in tokens.

    Args:
        requested: The requested cap, in tokens.
        info: The model, whose output cap and window are not exceeded.
        prompt: The size of the request, in tokens.

    Returns:
        At least 1, even if the request alone seems to fill the window: the count may be wrong.
    """
    margin = min(MARGIN_MOST, info.window // MARGIN_SHARE)
    return max(1, min(requested, info.output, info.window - prompt - margin))


def to_reply(done: Completion, name: str) -> Reply:
    """
    Return the Reply for a completion.

    A refusal, an overflow and a tool call give no text, so that none of them is taken for an
    answer; an answer that was cut off is returned with the stop "length".

    Args:
        done: The completion.
        name: The requested model; providers answer under longer names.
    """
    reason = REASONS.get(done.stop, "")
    if not reason and not done.text.strip():
        cut = done.stop == "length"
        reason = "the answer was cut off before it began" if cut else "the answer is empty"
    answer = "" if reason else done.text
    if done.refusal and done.stop == "refusal":
        reason = f"{reason}: {' '.join(done.refusal.split())[:200]}"
    return Reply(
        answer,
        reason,
        done.stop,
        retry=done.stop not in ("refusal", "overflow"),
        model=name,
        usage=done.usage,
        usd=done.usd,
        seconds=done.seconds,
        attempts=done.attempts,
    )


def error_reply(error: Exception, model: str, *, seconds: float, attempts: int) -> Reply:
    """Return the Reply for an exception: the error, and whether a retry may help."""
    return Reply(
        error=error.message if isinstance(error, ModelError) else explain_error(error),
        stop="overflow" if isinstance(error, TooLong) else "unknown",
        retry=isinstance(error, ModelError) and error.retry,
        limit=error.limit if isinstance(error, TooLong) else None,
        model=model,
        seconds=seconds,
        attempts=attempts,
    )
