"""A session as it is looked at: its log, what was shown of it when, and what all that took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal, TypeAlias, TypeVar

from foldline.core.budget import Levels
from foldline.core.config import Config
from foldline.errors import BudgetError
from foldline.evaluation.breakdown import TokenStats, measure
from foldline.formats.registry import DIALECTS
from foldline.frozen import field, frozen, replace
from foldline.inspector.file_reading import Mark
from foldline.inspector.timeline import ModelRequest, Revision, Timeline, ViewSegment, timeline
from foldline.models.info import ModelInfo
from foldline.values.handles import Handles, Register
from foldline.values.messages import Message, Omitted, Part, ToolResult
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

Result = TypeVar("Result")
Origin: TypeAlias = Literal["file", "archive"]

ROWS: Final = 400
"""Tools, files and messages that are listed by size."""


@frozen
class SessionEntry:
    """
    A session that can be opened.

    ``place`` is its file, or the archive that has it under its ``name``. ``size`` is in bytes,
    ``changed`` in seconds since 1970. ``conversation`` is which of several of a file is meant,
    from 0; None for the last.
    """

    title: str
    agent: str
    origin: Origin
    place: Path
    name: str = ""
    project: str = ""
    size: int = 0
    changed: float = 0.0
    format: str = "auto"
    conversation: int | None = None

    @property
    def key(self) -> str:
        """What it is called in addresses; tells nothing about where it lies."""
        words = f"{self.origin}\0{self.place}\0{self.name}".encode("utf-8", "surrogatepass")
        return blake2b(words, digest_size=8).hexdigest()


@frozen
class SessionTrace:
    """
    A session that was read.

    ``log`` is everything that was ever said, in order; ``segments`` is what was shown of it.
    ``model`` is what is known about the model, ``overhead`` the tokens of system prompt and tool
    schemas that are sent besides, ``mark`` how far a file was read that may grow.
    ``conversations`` are the names of those that a file has beside each other, ``chosen`` the one
    that is looked at.
    """

    source: SessionEntry
    log: tuple[Message, ...] = field(repr=False)
    segments: tuple[ViewSegment, ...] = field(repr=False)
    current: Transcript = field(repr=False)
    counter: TokenCounter = field(repr=False)
    model: ModelInfo
    config: Config = field(repr=False)
    overhead: tuple[int, int] = (0, 0)
    mark: Mark | None = field(default=None, repr=False)
    conversations: tuple[str, ...] = ()
    chosen: int = 0
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _making: RLock = field(default_factory=RLock, repr=False, compare=False)

    @cached_property
    def timeline(self) -> Timeline:
        """Every request, measured."""
        return timeline(self.segments, self.counter, *self.overhead)

    @property
    def stats(self) -> TokenStats:
        """Where the tokens of what the model sees now go: what ``foldline stats`` shows."""
        return self.once("stats", lambda _: measure(self.current, self.counter, ROWS))

    @cached_property
    def handles(self) -> Mapping[str, str]:
        """Handles by id, each computed on demand."""
        return Handles(Register(self.positions))

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where the message with an id stands in the log."""
        return {message.id: index for index, message in enumerate(self.log)}

    @cached_property
    def in_effect(self) -> dict[int, Revision]:
        """The changes of the view that were not taken back, by the segment they begin."""
        found = ((index, segment.revision) for index, segment in enumerate(self.segments))
        return {i: r for i, r in found if r and r.cause != "undo" and not r.undone}

    @property
    def compactions(self) -> int:
        """How many compactions there were, those that were taken back included."""
        return sum(s.revision is not None and s.revision.cause != "undo" for s in self.segments)

    @cached_property
    def levels(self) -> Levels | None:
        """The thresholds in tokens for the model's window; None where they are impossible."""
        try:
            return self.config.levels(self.model.window)
        except BudgetError:
            return None

    @property
    def is_ours(self) -> bool:
        """Whether it lies in an archive, so that compactions have handles and can be undone."""
        return self.source.origin == "archive"

    def can_fold(self, number: str) -> bool:
        """Return True if a message can be the first that is folded."""
        view_ids = {message.id for message in self.segments[-1].messages}
        return self.is_ours and self.source.agent in DIALECTS and number in view_ids

    def view(self, request: ModelRequest) -> Sequence[Message]:
        """Return exactly what the model saw at a request."""
        return self.segments[request.segment].messages[: request.length]

    def log_until(self, request: ModelRequest) -> Sequence[Message]:
        """Return everything that had been said when a request was made."""
        messages = self.segments[request.segment].messages[: request.length]
        last = next((m.id for m in reversed(messages) if m.id in self.positions), None)
        return self.log if last is None else self.log[: self.positions[last] + 1]

    def once(self, name: str, make: Callable[[SessionTrace], Result]) -> Result:
        """Return what was made of it under a name, making it the first time."""
        with self._making:  # who asks while it is being made waits for it
            if name not in self._made:
                self._made[name] = make(self)
            made: Result = self._made[name]
        return made

    def find(self, number: str) -> Message | None:
        """Return a message of the log, or one that a compaction made, by its id."""
        position = self.positions.get(number)
        if position is not None:
            return self.log[position]
        made = (m for s in self.segments for m in s.messages[: s.start] if m.id == number)
        return next(made, None)


def without_wire(message: Message) -> Message:
    """Return a message without its wire original: pages show what was read, and it is smaller."""
    if message.raw is None and all(getattr(part, "raw", None) is None for part in message.parts):
        return message
    return replace(message, raw=None, parts=tuple(map(_bare, message.parts)))


def _bare(part: Part) -> Part:
    if isinstance(part, Omitted):
        return part
    if isinstance(part, ToolResult):
        content: Any = tuple(replace(piece, raw=None) for piece in part.content)
        return replace(part, raw=None, content=content)
    return replace(part, raw=None)
