"""
Ask, don't call: a strategy that needs a model yields an `Ask` and receives a `Reply`.

The strategy is written once, as a generator without I/O; the two drivers here run it in blocking
and in async programs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from foldline.frozen import frozen
from foldline.values.messages import Usage

Result = TypeVar("Result")

Stop: TypeAlias = Literal["end", "length", "refusal", "overflow", "tools", "unknown"]
"""Stop reasons: done, at the cap, refused, out of room, or calling a tool."""


@frozen
class Ask:
    """
    A request to a model.

    ``prompt`` is the whole request as plain text, ``system`` the separate system prompt;
    ``max_tokens`` caps the answer, in tokens. ``seconds`` and ``attempts`` are the total limits of
    time and requests.
    """

    prompt: str
    max_tokens: int
    system: str = ""
    seconds: float = 120.0
    attempts: int = 1


@frozen
class Reply:
    """
    The answer to an `Ask`.

    ``text`` is empty if there is none; then ``error`` is the reason in one sentence, and ``retry``
    whether a retry may help. ``limit`` is the window in tokens reported by an overflow. ``usd`` is
    the price in US dollars, None if it is unknown; ``seconds`` and ``attempts`` are the time and
    the requests used.
    """

    text: str = ""
    error: str = ""
    stop: Stop = "end"
    retry: bool = True
    limit: int | None = None
    model: str = ""
    usage: Usage | None = None
    usd: float | None = None
    seconds: float = 0.0
    attempts: int = 1


@frozen
class ModelLimits:
    """
    The limits and prices of the model that answers Asks.

    ``window`` and ``output`` are its input and output limits, in tokens; a window of 0 is unknown,
    and assumed to be the agent's. Prices are in US dollars per million tokens, None if unknown. A
    ``background`` model only prepares compactions, and is not called while a request waits for
    one.
    """

    window: int
    output: int = 16_384
    name: str = ""
    input_usd: float | None = None
    output_usd: float | None = None
    background: bool = False

    def usd(self, read: int, written: int) -> float | None:
        """Return the cost of a number of tokens, in US dollars; None if the prices are unknown."""
        if self.input_usd is None or self.output_usd is None:
            return None
        return (read * self.input_usd + written * self.output_usd) / 1_000_000


@runtime_checkable
class Model(Protocol):
    """Answers Asks, in blocking and async programs."""

    @property
    def reader(self) -> ModelLimits:
        """Its input and output limits, and its prices."""
        ...

    def answer(self, ask: Ask) -> Reply:
        """Answer an Ask; errors are reported in the Reply."""
        ...

    async def aanswer(self, ask: Ask) -> Reply:
        """Answer an Ask without blocking; a cancellation ends the request."""
        ...


Steps: TypeAlias = Generator[Ask, Reply, Result]
Answerer: TypeAlias = Callable[[Ask], Reply]
AsyncAnswerer: TypeAlias = Callable[[Ask], Awaitable[Reply]]


def drive(steps: Steps[Result], answer: Answerer) -> Result:
    """
    Run a strategy to its end, calling ``answer`` for every Ask.

    An exception of ``answer`` closes the strategy and propagates: nothing was changed.
    """
    try:
        ask = next(steps)
        while True:
            ask = steps.send(answer(ask))
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()


async def adrive(steps: Steps[Result], answer: AsyncAnswerer) -> Result:
    """Run a strategy to its end, awaiting ``answer`` for every Ask; see `drive`."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(await answer(ask))
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()
