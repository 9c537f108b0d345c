"""Importing: a history that is too long for one transaction, recorded batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from foldline.errors import InputError
from foldline.session.appending import append
from foldline.session.state import State

BATCH: Final = 1_000
"""So many messages are recorded together, unless somebody says otherwise."""

LARGEST: Final = 1_000_000
"""No batch has more messages, whatever somebody says."""


def batches(messages: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """
    Split messages into lists of a size; the last one may be shorter.

    Raises:
        InputError: The size makes no sense.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"a batch has at least 1 message, not {size!r:.40}")
    coming = iter(messages)
    while wires := list(islice(coming, min(size, LARGEST))):
        yield wires


def add_batch(state: State, wires: list[Any], done: int) -> int:
    """
    Append the next batch of an import.

    Args:
        state: The session.
        wires: Wire messages.
        done: How many came before them.

    Returns:
        How many have come now.

    Raises:
        InputError: A message cannot be read; ``index`` is its position in the whole import.
    """
    try:
        append(state, wires)
    except InputError as error:
        if error.index is None or not done:
            raise
        raise _moved(error, error.index + done) from error
    done += len(wires)
    state.shown.imported(done)
    return done


def _moved(error: InputError, index: int) -> InputError:
    """Return the same error for a message at another position."""
    what = error.message.removeprefix(f"message {error.index}").removeprefix(", ")
    what = what.removeprefix(f"field {error.field}").removeprefix(": ")
    return type(error)(what, index=index, field=error.field, hint=error.hint)
