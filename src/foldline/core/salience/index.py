"""Statistics of a conversation, kept up to date as messages are appended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from foldline.core.messages import Message, Omitted, Role, Thinking, ToolResult
from foldline.core.names import Kind, blanked, known_kinds, mentions, words
from foldline.core.part_text import call_text

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

    def note(self, step: int, times: int, crowd: int, *, spoken: bool) -> None:
        """Take one more step with the item into account."""
        self.last = step
        self.steps += 1
        self.times += times
        if times > self.burst:
            self.burst = times
        if crowd < self.crowd:
            self.crowd = crowd
        if spoken:
            self.spoken += 1
            self.spoken_last = step
        else:
            self.shown_last = step


@dataclass(slots=True)
class SalienceIndex:
    """
    What a conversation has mentioned so far.

    ``single`` is the step of every item that was mentioned once in all, which are most;
    ``repeated`` tells where the others were. ``words`` is the latest step in which the user or
    the assistant said an ordinary word. ``crowds`` says by step how many items it has, and
    ``speakers`` who speaks.
    """

    single: dict[str, int] = field(default_factory=dict)
    repeated: dict[str, Use] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    crowds: list[int] = field(default_factory=list)
    speakers: list[Role] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """How many steps there were."""
        return len(self.crowds)

    def use(self, item: str) -> Use | None:
        """Tell where an item has occurred; None if it has not."""
        if item in self.single:
            return self.once(item, self.single[item])
        return self.repeated.get(item)

    def once(self, item: str, step: int) -> Use:
        """Describe an item that was mentioned once, in a step."""
        use = Use(_kind(item), step, step, self.crowds[step])
        use.note(step, 1, self.crowds[step], spoken=self.speakers[step] == "assistant")
        return use

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
        found = Counter(mentions(blanked(text[:MAX_TEXT])))
        step, crowd, spoken = self.steps, len(found), role == "assistant"
        single, repeated = self.single, self.repeated
        self.crowds.append(crowd)
        self.speakers.append(role)
        for item, times in found.items():
            use = repeated.get(item)
            if use is None:
                if item in single:
                    use = repeated[item] = self.once(item, single.pop(item))
                elif times == 1:
                    single[item] = step
                    continue
                else:
                    use = repeated[item] = Use(_kind(item), step, step, crowd)
            use.note(step, times, crowd, spoken=spoken)
        if role != "tool":
            self.words.update(dict.fromkeys(words(text[:MAX_SPOKEN]), step))


def _kind(item: str) -> Kind:
    return cast("Kind", known_kinds[item])  # without one it is not mentioned
