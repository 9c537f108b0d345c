"""Running steps for a session: in a thread that calls, or beside an event loop that awaits."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Generic, TypeAlias, TypeVar

from foldline.core.asks import Ask, AsyncAnswerer, Model, ModelLimits, Reply, Steps
from foldline.redaction import explained, redacted
from foldline.tools.timely import Late, started, timely

Result = TypeVar("Result")
Summarizer: TypeAlias = Model | Callable[[Ask], Reply | str | Awaitable[Reply | str]]
"""Answers an Ask: a model, an ordinary function or an async one."""

NOBODY = "no summarizer is configured"


def reader(summarizer: Summarizer | None, window: int) -> ModelLimits | None:
    """
    Return who will answer.

    Args:
        summarizer: The summarizer; one that does not tell its window is taken to have the agent's.
        window: The agent's effective window, in tokens.
    """
    if summarizer is None:
        return None
    told = getattr(summarizer, "reader", None)
    if not isinstance(told, ModelLimits):
        return ModelLimits(window)
    return told if told.window else replace(told, window=window)


def answered(summarizer: Summarizer | None, ask: Ask) -> Reply:
    """
    Answer an Ask in a program that does not await, in the seconds that it allows.

    A summarizer that raises has given no answer; what that means is up to the strategy, and the
    receipt names the error. One that takes too long is left behind in its thread.
    """
    if summarizer is None:
        return Reply(error=NOBODY, retry=False, attempts=0)
    call = _blocking(summarizer)
    if is_async(call):
        words = "the summarizer is async: use the methods aview and acompact"
        return Reply(error=words, retry=False, attempts=0)
    began = monotonic()
    try:
        reply = timely(lambda: _given(call, ask), ask.seconds, "foldline-ask")
    except Late:
        reply = _late(ask)
    return replace(reply, seconds=monotonic() - began)


def _given(call: Callable[[Ask], Any], ask: Ask) -> Reply:
    try:
        return _checked(call(ask))
    except Exception as error:  # noqa: BLE001  # whatever it raises: the ladder goes on
        return _failed(error)


async def aanswered(summarizer: Summarizer | None, ask: Ask) -> Reply:
    """Answer an Ask in a program that awaits; one that does not await runs in a thread."""
    call = summarizer.aanswer if isinstance(summarizer, Model) else summarizer
    if call is None or not is_async(call):
        # In a thread that can be left behind: a worker of the loop would keep it from ending.
        return await asyncio.wrap_future(
            started(lambda: answered(summarizer, ask), "foldline-answer")
        )
    began = monotonic()
    try:
        async with asyncio.timeout(ask.seconds):
            answer: Any = call(ask)
            reply = _checked(await answer)
    except TimeoutError as error:
        reply = _late(ask) if monotonic() - began >= ask.seconds else _failed(error)
    except Exception as error:  # noqa: BLE001  # as above; a cancellation is no Exception
        reply = _failed(error)
    return replace(reply, seconds=monotonic() - began)


def _failed(error: Exception) -> Reply:
    return Reply(error=explained(error))


def _late(ask: Ask) -> Reply:
    return Reply(error=f"the summarizer gave no answer in {ask.seconds:.0f} seconds")


def _checked(reply: Any) -> Reply:
    if isinstance(reply, str):
        return Reply(reply)
    if not isinstance(reply, Reply):
        return Reply(error=f"the summarizer returned {type(reply).__name__} instead of a Reply")
    # A receipt is kept: what goes wrong must not bring a key into it.
    return replace(reply, error=redacted(reply.error)) if reply.error else reply


def blocks(summarizer: Summarizer | None) -> bool:
    """Tell whether a summarizer, if any, can be called by a program that does not await."""
    return not is_async(_blocking(summarizer))


def _blocking(summarizer: Summarizer | None) -> Any:
    return summarizer.answer if isinstance(summarizer, Model) else summarizer


def is_async(summarizer: Any) -> bool:
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
