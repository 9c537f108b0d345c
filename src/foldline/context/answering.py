"""Asking whoever answers: a model, a function or an async one, never longer than allowed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from foldline.core.asks import Ask, Model, ModelLimits, Reply, Steps
from foldline.redaction import explained, redacted
from foldline.tools.timely import started

Result = TypeVar("Result")
Answering: TypeAlias = Model | Callable[[Ask], Reply | str | Awaitable[Reply | str]]

WINDOW = 32_000
"""Tokens that somebody can read who does not say how much that is."""


def reader(model: Answering | None) -> ModelLimits | None:
    """Return who will answer, None where nobody does."""
    if model is None:
        return None
    told = getattr(model, "reader", None)
    return told if isinstance(told, ModelLimits) else ModelLimits(WINDOW)


async def answer(model: Answering | None, ask: Ask) -> Reply:
    """Answer an Ask; whatever goes wrong is told in the Reply, a cancellation is raised."""
    if model is None:
        return Reply(error="no model was given", retry=False, attempts=0)
    call = model.aanswer if isinstance(model, Model) else model
    try:
        async with asyncio.timeout(ask.seconds):
            result: Any
            if inspect.iscoroutinefunction(call):
                result = await call(ask)
            else:
                result = await asyncio.wrap_future(started(lambda: call(ask), "foldline-ask"))
                result = await result if inspect.isawaitable(result) else result
    except Exception as error:  # noqa: BLE001  # whatever it raises: it has not answered
        return Reply(error=explained(error)[:300])
    if isinstance(result, str):
        return Reply(result)
    if not isinstance(result, Reply):
        return Reply(error=f"the model returned {type(result).__name__} instead of a Reply")
    return replace(result, error=redacted(result.error)) if result.error else result


@dataclass(frozen=True, slots=True)
class _Done(Generic[Result]):
    result: Result


async def drive_beside(steps: Steps[Result], model: Answering | None) -> Result:
    """Run steps to their end, each in a worker thread, so that others can go on meanwhile."""
    reply: Reply | None = None
    try:
        while True:
            step = await asyncio.to_thread(_advance, steps, reply)
            if isinstance(step, _Done):
                return step.result
            reply = await answer(model, step)
    finally:
        steps.close()


def _advance(steps: Steps[Result], reply: Reply | None) -> Ask | _Done[Result]:
    try:
        return next(steps) if reply is None else steps.send(reply)
    except StopIteration as stop:
        return _Done(stop.value)
