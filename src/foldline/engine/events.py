"""
What happens to a context, as values for listeners, and never a word of its content.

Every attempt at a compaction gives two: it started, and it finished, however it ended.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from foldline.engine.receipt import Receipt
from foldline.frozen import field, frozen, to_dict

Trigger: TypeAlias = Literal["automatic", "manual", "requested", "overflow", "partial", "undo"]
"""
Why something was changed: a threshold was passed, the program asked, the model asked, the provider
said "too long", a part was named, or a compaction was taken back.
"""

Level: TypeAlias = Literal["calm", "warn", "due", "over"]
"""How full the window is: below the warning, past it, past the threshold, past the limit."""


@frozen
class Pressure:
    """
    How full the window is.

    ``tokens`` is what the messages take by the provider's own count, as far as that is known, and
    ``limit`` the most that they may take. ``fraction`` is of the effective window, with system
    prompt and tools. ``until`` is how many tokens may be appended before a compaction is made.
    """

    tokens: int
    limit: int
    fraction: float
    level: Level
    until: int


@frozen
class Event:
    """
    Something that happened in a session.

    ``time`` is in seconds since 1970. ``number`` is the same for events that belong together.
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
    A compaction is about to be tried, or one to be taken back.

    ``tokens`` is what the ``messages`` messages take, ``limit`` what they may take.
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

    ``receipt`` tells how; it is None when an exception or a cancellation ended it, whose kind
    ``error`` names. ``seconds`` is how long it took, answers of a model included.
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
        """Return the event as JSON values; of what is recalled only the handles."""
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
    """The window became fuller than a threshold; sent once each time that one is passed."""

    kind: ClassVar[str] = "context.warning"

    pressure: Pressure = field(default_factory=lambda: Pressure(0, 0, 0.0, "calm", 0))


@frozen
class ToolOutputBounded(Event):
    """
    A tool output was cut when it was recorded.

    ``handles`` names what was cut, ``tokens_before`` and ``tokens_after`` what the messages with
    it took and take.
    """

    kind: ClassVar[str] = "output.bounded"

    handles: tuple[str, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0


@frozen
class MemoryPrepared(Event):
    """
    A summary was prepared in the background.

    It stands for what the first ``messages`` messages show; ``tokens`` is the size of its
    snapshots. A model was called ``requests`` times, for ``usd`` US dollars as far as known.
    """

    kind: ClassVar[str] = "memory.prepared"

    messages: int = 0
    tokens: int = 0
    requests: int = 0
    usd: float = 0.0
