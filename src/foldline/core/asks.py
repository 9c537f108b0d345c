"""
Ask, don't call: a strategy that needs a model yields an `Ask` and is sent a `Reply`.

The strategy is written once, as a generator without I/O; the two drivers here run it in a
program that calls and in one that awaits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Ask:
    """
    A question for a model.

    ``prompt`` is the whole request as plain text; ``max_tokens`` caps the answer, in tokens.
    """

    prompt: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """
    The answer to an `Ask`.

    ``text`` is empty when there is none; then ``error`` says why in one sentence.
    """

    text: str = ""
    error: str = ""


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
