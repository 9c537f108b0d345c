"""Sending once more, strictly smaller, what a provider rejected as too long; and no third time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from foldline.models.overflow import overflow_in

Answer = TypeVar("Answer")


def resent(
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


async def aresent(
    view: Sequence[Any],
    overflowed: Callable[[Exception], Awaitable[Sequence[Any]]],
    send: Callable[[Sequence[Any]], Awaitable[Answer]],
) -> Answer:
    """Send a view in async programs; see `resent`."""
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
    """Tell whether what an SDK or a framework raised says that the request was too long."""
    return overflow_in(error) is not None
