"""A provider's "too long", found before the client has seen a byte of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

from foldline.errors import ModelError
from foldline.models.failures import failure
from foldline.models.overflow import overflow_in
from foldline.models.sse import Event, Events
from foldline.models.transport import Passed
from foldline.proxy.holding import Held

LARGEST: Final = 1 << 20
"""So much of an error is read, in bytes."""

PATIENCE: Final = 15.0
"""Seconds that a stream is held back which has only said that it begins."""

BEGINNING: Final = frozenset(
    {"response.created", "response.in_progress", "response.queued", "ping"}
)
"""Events that say nothing yet."""

REJECTING: Final = frozenset({400, 413, 422})
"""Statuses with which providers say that a request is too long."""


async def rejection(answer: Passed, *, risky: bool) -> tuple[Passed, ModelError | None]:
    """
    Find out whether a request was rejected as too long.

    Args:
        answer: What the provider answers; nothing of it was read.
        risky: Whether the request is so large that a stream is held back until it says more
            than that it begins: some providers reject in there.

    Returns:
        An answer to pass on in its place, which begins with what was read, and the error.
    """
    plain = {n.lower(): v.decode("latin-1").lower() for n, v in answer.headers}
    streams = risky and "text/event-stream" in plain.get(b"content-type", "")
    rejects = answer.status in REJECTING
    if not (rejects or streams) or plain.get(b"content-encoding", "identity") != "identity":
        return answer, None
    held = Held(answer.chunks)
    if rejects:
        error: ModelError | None = failure(
            await held.whole(LARGEST, PATIENCE), status=answer.status
        )
    else:
        error = await _failed_event(held)
    if error is not None and overflow_in(error) is None:
        error = None
    return replace(answer, chunks=held.again()), error


async def _failed_event(held: Held) -> ModelError | None:
    """Read a stream until an event says more than that it begins; return the error in that."""
    events, size, end = Events(), 0, monotonic() + PATIENCE
    while size < LARGEST and (chunk := await held.next(end - monotonic())) is not None:
        size += len(chunk)
        said = [event for event in events.feed(chunk) if _kind(event) not in BEGINNING]
        if said:
            return _error(said)
    return None


def _kind(event: Event) -> str:
    if event.name:
        return event.name
    try:
        return str(event.value().get("type", ""))
    except ModelError:
        return ""


def _error(said: Sequence[Event]) -> ModelError | None:
    """Return the first event as an error, if it is one."""
    try:
        value = said[0].value()
    except ModelError:
        return None
    response = value.get("response")
    inner = response.get("error") if isinstance(response, dict) else None
    error = value.get("error") or inner or (value if value.get("type") == "error" else None)
    return failure({"error": error}) if error else None
