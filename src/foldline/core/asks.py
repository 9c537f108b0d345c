"""
Ask, don't call: a strategy that needs a model yields an `Ask` and is sent a `Reply`.

The strategy is written once, as a generator without I/O; the two drivers here run it in a
program that calls and in one that awaits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from foldline.frozen import frozen
from foldline.values.messages import Usage

Result = TypeVar("Result")

Stop: TypeAlias = Literal["end", "length", "refusal", "overflow", "tools", "unknown"]
"""Why a model stopped: done, at the cap, refused, out of room, or calling a tool."""


@frozen
class Ask:
    """
    A question for a model.

    ``prompt`` is the whole request as plain text, ``system`` the rules that stand apart from it;
    ``max_tokens`` caps the answer, in tokens. The model may take ``seconds`` and try
    ``attempts`` times in all.
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

    ``text`` is empty when there is none; then ``error`` says why in one sentence, and
    ``retry`` whether asking again may help. ``limit`` is the window in tokens that an overflow
    named. ``usd`` is the price in US dollars, None when it is not known; ``seconds`` and
    ``attempts`` are what the answer took.
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
    Who will answer an Ask.

    ``window`` and ``output`` are the most that it reads and writes, in tokens; a window of 0 is
    not known, and taken to be the agent's. Prices are in US dollars for a million tokens, None
    when they are not known. One that is for the ``background`` only prepares compactions, and is
    not called while a request waits for one.
    """

    window: int
    output: int = 16_384
    name: str = ""
    input_usd: float | None = None
    output_usd: float | None = None
    background: bool = False

    def usd(self, read: int, written: int) -> float | None:
        """Return what so many tokens cost, in US dollars; None when the prices are not known."""
        if self.input_usd is None or self.output_usd is None:
            return None
        return (read * self.input_usd + written * self.output_usd) / 1_000_000


@runtime_checkable
class Model(Protocol):
    """Answers Asks, in programs that call and in programs that await."""

    @property
    def reader(self) -> ModelLimits:
        """What it reads and writes at most, and its prices."""
        ...

    def answer(self, ask: Ask) -> Reply:
        """Answer; an error is reported in the Reply."""
        ...

    async def aanswer(self, ask: Ask) -> Reply:
        """Answer without blocking; a cancellation ends the request."""
        ...


Steps: TypeAlias = Generator[Ask, Reply, Result]
Answerer: TypeAlias = Callable[[Ask], Reply]
AsyncAnswerer: TypeAlias = Callable[[Ask], Awaitable[Reply]]


def drive(steps: Steps[Result], answer: Answerer) -> Result:
    """
    Run a strategy to its end, calling ``answer`` for every Ask.

    An exception of ``answer`` closes the strategy and is raised: nothing was changed.
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
