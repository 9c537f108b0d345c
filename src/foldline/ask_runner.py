"""Asks answered by a model or a function, and steps run beside an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, TypeVar

from foldline.concurrency import DeadlineExceeded, run_with_timeout, start_thread
from foldline.core.asks import Ask, AsyncAnswerer, Model, ModelLimits, Reply, Steps
from foldline.errors import InputError
from foldline.frozen import frozen, replace
from foldline.redaction import explain_error, redact_json

Result = TypeVar("Result")
ModelLike: TypeAlias = Model | Callable[[Ask], Reply | str | Awaitable[Reply | str]]
"""Answers an Ask: a model, an ordinary function or an async one."""


def reader_of(model: ModelLike | None, window: int) -> ModelLimits | None:
    """
    Return the limits and prices of a model, None if there is no model.

    Args:
        model: The model; a function has no limits of its own.
        window: The window of a model that does not define one, in tokens.

    Raises:
        InputError: It is neither a model nor a function.
    """
    if model is None:
        return None
    if not (isinstance(model, Model) or callable(model)):
        raise InputError(
            f"a model or a function is expected here, not {model!r:.40}",
            field="summarizer",
            hint='Give a function that takes an Ask, or a name such as "openai:gpt-5-mini".',
        )
    reader = getattr(model, "reader", None)
    if not isinstance(reader, ModelLimits):
        return ModelLimits(window)
    return reader if reader.window else replace(reader, window=window)


def run_ask(model: ModelLike | None, ask: Ask) -> Reply:
    """
    Answer an Ask in a blocking program, within ``ask.seconds``.

    Every failure becomes the ``error`` of the Reply, with keys redacted. A call that takes longer
    is abandoned in its thread.
    """
    call = model.answer if isinstance(model, Model) else model
    if call is None:
        return _NO_MODEL
    if is_async(call):
        return _AWAIT
    began = monotonic()
    try:
        result = run_with_timeout(lambda: _try_call(call, ask), ask.seconds, "foldline-ask")
    except DeadlineExceeded:
        result = _timeout_reply(ask)
    if inspect.isawaitable(result):
        getattr(result, "close", lambda: None)()
        return _AWAIT
    return replace(_as_reply(result), seconds=monotonic() - began)


async def arun_ask(model: ModelLike | None, ask: Ask) -> Reply:
    """
    Answer an Ask in an async program, within ``ask.seconds``; see `run_ask`.

    A blocking call runs in a thread that can be abandoned: a worker of the loop would keep the
    loop from ending. A cancellation propagates.
    """
    call = model.aanswer if isinstance(model, Model) else model
    if call is None:
        return _NO_MODEL
    began = monotonic()
    try:
        async with asyncio.timeout(ask.seconds) as limit:
            if is_async(call):
                result = call(ask)
            else:
                thread = start_thread(lambda: _try_call(call, ask), "foldline-ask")
                result = await asyncio.wrap_future(thread)
            reply = _as_reply(await result if inspect.isawaitable(result) else result)
    except Exception as error:  # noqa: BLE001  # as in `_try_call`; cancellations pass through
        reply = _timeout_reply(ask) if limit.expired() else Reply(error=explain_error(error))
    return replace(reply, seconds=monotonic() - began)


_NO_MODEL: Final = Reply(error="no summarizer is configured", retry=False, attempts=0)
_AWAIT: Final = Reply(
    error="the summarizer is async: use the methods that are awaited, such as aview and acompact",
    retry=False,
    attempts=0,
)


def _try_call(call: Callable[[Ask], Any], ask: Ask) -> Any:
    try:
        return call(ask)
    except Exception as error:  # noqa: BLE001  # any failure of a model is a Reply without text
        return Reply(error=explain_error(error))


def _timeout_reply(ask: Ask) -> Reply:
    return Reply(error=f"the model gave no answer in {ask.seconds:g} seconds")


def _as_reply(result: Any) -> Reply:
    if isinstance(result, str):
        return Reply(result)
    if not isinstance(result, Reply):
        return Reply(error=f"the model returned {type(result).__name__} instead of a Reply")
    # Receipts keep errors, which must not hold a key.
    return replace(result, error=redact_json(result.error)) if result.error else result


def is_blocking(model: ModelLike | None) -> bool:
    """Return True if a model can be called in a blocking program, or if there is none."""
    return not is_async(model.answer if isinstance(model, Model) else model)


def is_async(call: Any) -> bool:
    """Return True for an async function, or an object with an async ``__call__``."""
    method = getattr(call, "__call__", None)  # noqa: B004  # the method itself is needed
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(method)


@frozen
class _Done(Generic[Result]):
    result: Result


async def drive_in_threads(steps: Steps[Result], answer: AsyncAnswerer) -> Result:
    """
    Run steps to their end, each in a worker thread, and await the answers in between.

    A cancellation while an answer is awaited ends the steps there. One during a step takes effect
    after that step: a transaction is never left incomplete.

    Args:
        steps: The steps.
        answer: Awaited for every Ask.
    """
    reply: Reply | None = None
    try:
        while True:
            ask = await run_to_end(asyncio.to_thread(_advance, steps, reply))
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


async def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work that must not be interrupted; a cancellation propagates after it is done."""
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
