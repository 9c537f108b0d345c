"""
Events of a session, as values for listeners, without any content of its messages.

Every attempt at a compaction sends two: one when it starts, one when it ends, whatever the result.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from foldline.engine.receipt import Receipt
from foldline.frozen import field, frozen, to_dict

Trigger: TypeAlias = Literal["automatic", "manual", "requested", "overflow", "partial", "undo"]
"""
Why a view changed: a threshold was passed, the program called ``compact``, the model requested it,
the provider reported an overflow, a span was selected, or a compaction was undone.
"""

Level: TypeAlias = Literal["calm", "warn", "due", "over"]
"""Level of pressure: below the warning, above it, above the threshold, above the limit."""


@frozen
class Pressure:
    """
    How full the window is.

    ``tokens`` is the size of the messages, by the provider's own count where that is known, and
    ``limit`` their largest size. ``fraction`` is of the effective window, with system
    prompt and tools. ``until`` is how many tokens may be appended before the next compaction.
    """

    tokens: int
    limit: int
    fraction: float
    level: Level
    until: int


@frozen
class Event:
    """
    An event of a session.

    ``time`` is in seconds since 1970. ``number`` is the same for the events of one compaction.
    """

    kind: ClassVar[str] = "event"

    session: str
    time: float
    number: int = 0
    model: str = ""
    provider: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON values: numbers and names, no content."""
        return {"event": self.kind, **to_dict(self)}


@frozen
class CompactionStarted(Event):
    """
    A compaction, or the undo of one, is about to start.

    ``tokens`` is the size of the ``messages`` messages, ``limit`` their largest size.
    """

    kind: ClassVar[str] = "compaction.started"

    trigger: Trigger = "manual"
    tokens: int = 0
    limit: int = 0
    messages: int = 0
    policy: str = ""


@frozen
class CompactionFinished(Event):
    """
    A compaction ended.

    ``receipt`` describes the result; it is None when an exception or a cancellation ended it,
    whose type ``error`` names. ``seconds`` is the duration, model calls included.
    """

    kind: ClassVar[str] = "compaction.finished"

    trigger: Trigger = "manual"
    receipt: Receipt | None = field(default=None, repr=False)
    error: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> str:
        """The status of the receipt; "interrupted" when there is none."""
        return "interrupted" if self.receipt is None else self.receipt.status

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON values; ``recall`` lists handles only."""
        values = {
            "event": self.kind,
            "session": self.session,
            "time": self.time,
            "number": self.number,
            "model": self.model,
            "provider": self.provider,
            "trigger": self.trigger,
            "status": self.status,
            "error": self.error,
            "seconds": self.seconds,
        }
        if self.receipt is not None:
            receipt = self.receipt.to_dict()
            values["receipt"] = {**receipt, "recall": sorted(self.receipt.recall)}
        return values


@frozen
class ContextWarning(Event):
    """The pressure rose above a threshold; sent once per crossing."""

    kind: ClassVar[str] = "context.warning"

    pressure: Pressure = field(default_factory=lambda: Pressure(0, 0, 0.0, "calm", 0))


@frozen
class ToolOutputBounded(Event):
    """
    A tool output was truncated when it was recorded.

    ``handles`` recall the whole outputs; ``tokens_before`` and ``tokens_after`` are the sizes of
    their messages.
    """

    kind: ClassVar[str] = "output.bounded"

    handles: tuple[str, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0


@frozen
class MemoryPrepared(Event):
    """
    A summary was prepared in the background.

    It replaces the first ``messages`` messages of the view; ``tokens`` is the size of its
    snapshots. It took ``requests`` model calls and ``usd`` US dollars, as far as known.
    """

    kind: ClassVar[str] = "memory.prepared"

    messages: int = 0
    tokens: int = 0
    requests: int = 0
    usd: float = 0.0
