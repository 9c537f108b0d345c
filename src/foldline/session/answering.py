"""Running steps for a session: in a thread that calls, or beside an event loop that awaits."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from foldline.core.asks import Ask, AsyncAnswerer, Reply, Steps

Result = TypeVar("Result")
Summarizer: TypeAlias = Callable[[Ask], Reply | Awaitable[Reply]]
"""Answers an Ask: an ordinary function or an async one."""

NOBODY = "no summarizer is configured"


def answered(summarizer: Summarizer | None, ask: Ask) -> Reply:
    """
    Answer an Ask in a program that does not await.

    A summarizer that raises has given no answer; what that means is up to the strategy, and the
    receipt names the error.
    """
    if summarizer is None:
        return Reply(error=NOBODY)
    if is_async(summarizer):
        return Reply(error="the summarizer is async: use the methods aview and acompact")
    try:
        return _checked(summarizer(ask))
    except Exception as error:  # noqa: BLE001  # whatever it raises: the ladder goes on
        return Reply(error=f"{type(error).__name__}: {error}")


async def aanswered(summarizer: Summarizer | None, ask: Ask) -> Reply:
    """Answer an Ask in a program that awaits; one that does not await runs in a thread."""
    if summarizer is None or not is_async(summarizer):
        return await asyncio.to_thread(answered, summarizer, ask)
    try:
        reply: Any = summarizer(ask)
        return _checked(await reply)
    except Exception as error:  # noqa: BLE001  # as above; a cancellation is no Exception
        return Reply(error=f"{type(error).__name__}: {error}")


def _checked(reply: Any) -> Reply:
    if not isinstance(reply, Reply):
        return Reply(error=f"the summarizer returned {type(reply).__name__} instead of a Reply")
    return reply


def is_async(summarizer: Summarizer) -> bool:
    """Tell whether a summarizer is an async function, or an object that is called like one."""
    call = getattr(summarizer, "__call__", None)  # noqa: B004  # the method itself is wanted
    return inspect.iscoroutinefunction(summarizer) or inspect.iscoroutinefunction(call)


@dataclass(frozen=True, slots=True)
class _Done(Generic[Result]):
    result: Result


async def drive_beside(steps: Steps[Result], answer: AsyncAnswerer) -> Result:
    """
    Run steps to their end, each in a worker thread, and await the answers in between.

    A cancellation while an answer is awaited ends the steps there. One that comes while a step
    runs takes effect when that step is done: a transaction is never left half way.

    Args:
        steps: What to run.
        answer: Awaited for every Ask.
    """
    reply: Reply | None = None
    try:
        while True:
            ask = await finished(asyncio.to_thread(_advance, steps, reply))
            if isinstance(ask, _Done):
                return ask.result
            reply = await answer(ask)
    finally:
        steps.close()


def _advance(steps: Steps[Result], reply: Reply | None) -> Ask | _Done[Result]:
    try:
        return next(steps) if reply is None else steps.send(reply)
    except StopIteration as stop:
        return _Done(stop.value)


async def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work that must not be left half way; a cancellation is raised when it is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.exception()
        raise
