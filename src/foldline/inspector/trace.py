"""A session under inspection: its log, its views over time, and their sizes."""

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
"""Maximum tools, files and messages listed by size."""


@frozen
class SessionEntry:
    """
    A session that can be opened.

    ``place`` is its file, or the archive that holds it as ``name``. ``size`` is in bytes,
    ``changed`` in seconds since 1970. ``conversation`` is the index of the conversation in a file,
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
        """Its key in addresses; does not reveal its location."""
        words = f"{self.origin}\0{self.place}\0{self.name}".encode("utf-8", "surrogatepass")
        return blake2b(words, digest_size=8).hexdigest()


@frozen
class SessionTrace:
    """
    A session in memory.

    ``log`` has all messages in order; ``segments`` are the views of them.
    ``model`` has the limits of the model, ``overhead`` the tokens of system prompt and tool
    schemas outside the messages, ``mark`` how far a growing file was read.
    ``conversations`` are the names of the parallel ones in a file, ``chosen`` the selected
    one.
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
        """The token statistics of the current view, as in ``foldline stats``."""
        return self.once("stats", lambda _: measure(self.current, self.counter, ROWS))

    @cached_property
    def handles(self) -> Mapping[str, str]:
        """Handles by id, each computed on demand."""
        return Handles(Register(self.positions))

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Positions in the log by message id."""
        return {message.id: index for index, message in enumerate(self.log)}

    @cached_property
    def in_effect(self) -> dict[int, Revision]:
        """The changes of the view that were not undone, by the segment they begin."""
        found = ((index, segment.revision) for index, segment in enumerate(self.segments))
        return {i: r for i, r in found if r and r.cause != "undo" and not r.undone}

    @property
    def compactions(self) -> int:
        """The number of compactions, including undone ones."""
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
        """Whether it is in an archive, so that compactions have handles and can be undone."""
        return self.source.origin == "archive"

    def can_fold(self, number: str) -> bool:
        """Return True if a fold can start at this message."""
        view_ids = {message.id for message in self.segments[-1].messages}
        return self.is_ours and self.source.agent in DIALECTS and number in view_ids

    def view(self, request: ModelRequest) -> Sequence[Message]:
        """Return exactly what the model saw at a request."""
        return self.segments[request.segment].messages[: request.length]

    def log_until(self, request: ModelRequest) -> Sequence[Message]:
        """Return the log up to a request."""
        messages = self.segments[request.segment].messages[: request.length]
        last = next((m.id for m in reversed(messages) if m.id in self.positions), None)
        return self.log if last is None else self.log[: self.positions[last] + 1]

    def once(self, name: str, make: Callable[[SessionTrace], Result]) -> Result:
        """Return a cached result by name, computing it on the first call."""
        with self._making:  # concurrent callers wait for the result
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
    """Return a message without its wire original: pages do not show it, and memory is saved."""
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
