"""Calls of a framework's model: sent again, smaller, after an overflow; and to write summaries."""

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
    Send a view, and once more what is left of it if the provider says that it is too long.

    Args:
        view: What to send.
        overflowed: Returns what to send instead, from what the provider said; it is called again
            if that is rejected as well.
        send: Sends messages and returns the answer.

    Raises:
        ContextOverflow: The second try was rejected too, or nothing strictly smaller can be sent.
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
            # The second time in a row it raises, and says what takes the room.
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
            # The second time in a row it raises, and says what takes the room.
            await overflowed(error)
        raise


def is_overflow(error: Exception) -> bool:
    """Return True if what an SDK or a framework raised says that the request was too long."""
    return overflow_in(error) is not None


SAME: Final = "same"


def is_same_model(summarizer: Any, config: Config | None) -> bool:
    """Return True if the agent's own model object is to summarize."""
    if summarizer is None and config is not None:
        summarizer = config.summarizer
    return isinstance(summarizer, str) and summarizer == SAME


def no_model(where: str, instead: str) -> InputError:
    """
    Return the error for an integration that holds no model object.

    Args:
        where: What holds none, as the beginning of a sentence.
        instead: What to do, as a sentence.
    """
    return InputError(
        f'{where} holds no model object, so summarizer="{SAME}" names nobody',
        field="summarizer",
        hint=instead,
    )


def read_usage(usage: Any) -> Usage | None:
    """Read input and output tokens off an object that counts them."""
    counts = [getattr(usage, name, None) for name in ("input_tokens", "output_tokens")]
    read, written = (count if isinstance(count, int) else 0 for count in counts)
    return Usage(read, written) if read or written else None
