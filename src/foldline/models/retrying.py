"""Trying again, with growing pauses; the one file that knows stamina."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final, TypeVar

import stamina

from foldline.errors import ModelError
from foldline.models.failures import TIMEOUT, timed_out

Result = TypeVar("Result")

# stamina logs every pause; where nobody has set up logging, it must not write to the terminal.
logging.getLogger("stamina").addHandler(logging.NullHandler())

FIRST, LONGEST, JITTER = 0.5, 8.0, 0.5
"""Seconds: the first pause, the longest, and what is added to each at random."""

SPREAD: Final = 0.05
"""A wait that the provider demands is kept at least so long, in seconds."""


@dataclass(slots=True)
class Tries:
    """
    What is left to try, and what was.

    ``deadline`` is on the clock of `time.monotonic`; ``made`` counts the requests, ``error`` is
    the last one that was not the deadline.
    """

    attempts: int
    deadline: float
    made: int = 0
    error: ModelError | None = None

    def pause(self, error: Exception) -> bool | float:
        """Tell whether to try again, and after how many seconds where the provider says so."""
        if not isinstance(error, ModelError):
            return False
        if error.code != TIMEOUT:
            self.error = error
        left = self.deadline - monotonic()
        if not error.retry or left <= 0:
            return False
        if error.wait is None:
            return True
        # Waiting until there is no time left to ask would only delay the error.
        return max(error.wait, SPREAD) if error.wait < left else False


async def tried(work: Callable[[], Awaitable[Result]], tries: Tries) -> Result:
    """
    Await work until it succeeds.

    Args:
        work: Sends one request; raises `ModelError`, whose ``retry`` and ``wait`` decide.
        tries: How often, and until when.

    Raises:
        ModelError: The last one, when there is no try or no time left.
    """
    pauses = stamina.retry_context(
        on=tries.pause,
        attempts=max(1, tries.attempts),
        timeout=None,
        wait_initial=FIRST,
        wait_max=LONGEST,
        wait_jitter=JITTER,
    )
    try:
        async with asyncio.timeout(max(0.0, tries.deadline - monotonic()) + SPREAD):
            async for attempt in pauses:
                with attempt:
                    tries.made += 1
                    return await work()
    except (TimeoutError, ModelError) as error:
        if isinstance(error, ModelError) and error.code != TIMEOUT:
            raise
        # The deadline came: what went wrong before it says more.
        late = error if isinstance(error, ModelError) else None
        raise tries.error or late or timed_out() from None
    raise AssertionError("stamina ends with a result or an error")
