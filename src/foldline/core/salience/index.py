"""Statistics of a conversation, kept up to date as messages are appended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from foldline.core.messages import Message, Omitted, Role, Thinking, ToolResult
from foldline.core.salience.items import Kind, occurrences, words
from foldline.core.salience.lines import call_text

MAX_TEXT = 2_000_000
"""Characters of one text that are looked at; what is beyond is still stored and counted."""

MAX_SPOKEN = 50_000
"""Characters of a spoken text whose ordinary words are looked at."""


@dataclass(slots=True)
class Use:
    """
    Where an item has occurred. Positions count steps: one a spoken message or a tool result.

    ``first`` and ``last`` are the steps with its first and latest mention, ``steps`` how many
    mention it, ``times`` how often it occurs and ``burst`` how often in one step at most.
    ``spoken`` counts the steps in which the assistant wrote it, ``spoken_last`` is the latest of
    them, ``shown_last`` the latest in which a tool or a user did; -1 for never. ``crowd`` is how
    many items the least crowded step with it has: one name among ten says more than one among
    thousands.
    """

    kind: Kind
    first: int
    last: int
    crowd: int
    steps: int = 0
    times: int = 0
    burst: int = 0
    spoken: int = 0
    spoken_last: int = -1
    shown_last: int = -1


@dataclass(slots=True)
class SalienceIndex:
    """
    What a conversation has mentioned so far.

    ``uses`` tells where by item; ``words`` is the latest step in which the user or the assistant
    said an ordinary word.
    """

    uses: dict[str, Use] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def of(cls, messages: Iterable[Message]) -> SalienceIndex:
        """Index a whole conversation."""
        index = cls()
        for message in messages:
            index.add(message)
        return index

    def add(self, message: Message) -> None:
        """Take the next message into account."""
        if message.role == "system":
            return
        spoken = [
            call_text(part)
            for part in message.parts
            if not isinstance(part, (ToolResult, Thinking, Omitted))
        ]
        for part in message.parts:
            if isinstance(part, ToolResult):
                self._step(part.text, "tool")
        if spoken:
            self._step("\n".join(spoken), message.role)

    def _step(self, text: str, role: Role) -> None:
        found = occurrences(text[:MAX_TEXT])
        step, crowd, uses = self.steps, len(found), self.uses
        self.steps += 1
        for item, (kind, times) in found.items():
            use = uses.get(item)
            if use is None:
                use = uses[item] = Use(kind, step, step, crowd)
            else:
                use.last = step
                if crowd < use.crowd:
                    use.crowd = crowd
            use.steps += 1
            use.times += times
            if times > use.burst:
                use.burst = times
            if role == "assistant":
                use.spoken += 1
                use.spoken_last = step
            else:
                use.shown_last = step
        if role != "tool":
            self.words.update(dict.fromkeys(words(text[:MAX_SPOKEN]), step))
