"""Calls of a framework's model: retries with a smaller view after an overflow, and summaries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from foldline.core.config import Config
from foldline.errors import InputError
from foldline.models.overflow import overflow_in
from foldline.values.messages import Usage

Answer = TypeVar("Answer")


def send_with_retry(
    view: Sequence[Any],
    overflowed: Callable[[Exception], Sequence[Any]],
    send: Callable[[Sequence[Any]], Answer],
) -> Answer:
    """
    Send a view, and retry with a smaller one if the provider rejects it as too long.

    Args:
        view: The messages to send.
        overflowed: Returns the smaller view, given the provider's error; it is called again if
            that is rejected as well.
        send: Sends messages and returns the answer.

    Raises:
        ContextOverflow: The retry was rejected too, or nothing strictly smaller can be sent.
    """
    try:
        return send(view)
    except Exception as error:
        if not is_overflow(error):
            raise
        smaller = overflowed(error)
    try:
        return send(smaller)
    except Exception as error:
        if is_overflow(error):
            # The second time in a row it raises, with a breakdown of the tokens.
            overflowed(error)
        raise


async def asend_with_retry(
    view: Sequence[Any],
    overflowed: Callable[[Exception], Awaitable[Sequence[Any]]],
    send: Callable[[Sequence[Any]], Awaitable[Answer]],
) -> Answer:
    """Send a view in async programs; see `send_with_retry`."""
    try:
        return await send(view)
    except Exception as error:
        if not is_overflow(error):
            raise
        smaller = await overflowed(error)
    try:
        return await send(smaller)
    except Exception as error:
        if is_overflow(error):
            # The second time in a row it raises, with a breakdown of the tokens.
            await overflowed(error)
        raise


def is_overflow(error: Exception) -> bool:
    """Return True if an exception of an SDK or a framework means that the request was too long."""
    return overflow_in(error) is not None


SAME: Final = "same"


def is_same_model(summarizer: Any, config: Config | None) -> bool:
    """Return True if the agent's own model object is the summarizer."""
    if summarizer is None and config is not None:
        summarizer = config.summarizer
    return isinstance(summarizer, str) and summarizer == SAME


def no_model(where: str, instead: str) -> InputError:
    """
    Return the error for an integration without a model object.

    Args:
        where: The integration, as the beginning of a sentence.
        instead: The hint, as a sentence.
    """
    return InputError(
        f'{where} has no model object, so summarizer="{SAME}" names no model',
        field="summarizer",
        hint=instead,
    )


def read_usage(usage: Any) -> Usage | None:
    """Read input and output tokens from an object that counts them."""
    counts = [getattr(usage, name, None) for name in ("input_tokens", "output_tokens")]
    read, written = (count if isinstance(count, int) else 0 for count in counts)
    return Usage(read, written) if read or written else None
