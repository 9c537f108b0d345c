"""
The working set: which files tools touched and the newest plan, kept up to date as one appends.

The log is not read again: of a file it keeps the touches that still decide whether its newest
content is in sight.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.frozen import frozen
from foldline.reinjection.attachment import plan_section
from foldline.reinjection.file_access import FileAccess, find_accesses, order
from foldline.snapshot.plans import call_plan, fit_plan, is_done, open_items
from foldline.values.groups import Site, Waiting
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message, ToolCall, ToolResult
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

PLAN_SHARE: Final = 0.05
"""Fraction of the target that a plan may take in any case."""

OPEN_SHARE: Final = 0.25
"""Fraction of the target that its open items may take."""

PLAN_TOKENS: Final = 60
"""About what stands around a plan, in tokens."""


@frozen
class TaskLists:
    """The newest plan: its lines, and the message and part that set it."""

    lines: tuple[str, ...]
    message: str
    part: int


@frozen
class PlanStep:
    """What one call made of the plan; ``tasks`` is None where it emptied it."""

    call: str | None
    tasks: TaskLists | None


def plan_step(message: Message, index: int) -> PlanStep | None:
    """Return what the call at a position of a message makes of the plan; None for nothing."""
    part = message.parts[index]
    if not isinstance(part, ToolCall) or (lines := call_plan(part)) is None:
        return None
    return PlanStep(part.id, TaskLists(lines, message.id, index) if lines else None)


def plan_sections(after: View, steps: TaskLists, room: int) -> list[str]:
    """
    Write the plan, where a view does not show it.

    Args:
        after: The view.
        steps: The newest plan.
        room: What it may take, in tokens; see `fit_plan` for what goes first.
    """
    if _shows_plan(after, steps):
        return []
    handle, plan_lines = steps.message[:HANDLE_LENGTH], steps.lines

    def section(lines: Sequence[str]) -> str:
        return plan_section(lines, handle, len(plan_lines), sum(map(is_done, plan_lines)))

    lines = fit_plan(plan_lines, room, lambda kept: after.counter.text(section(kept)))
    return [section(lines)] if lines else []


def plan_room(steps: TaskLists, target: int, counter: TokenCounter) -> int:
    """
    Return what a plan may take, in tokens: enough for its open items, as a rule.

    Args:
        steps: The newest plan.
        target: The target of the compaction, in tokens.
        counter: What counts.
    """
    whole, needed = (
        counter.text("\n".join(lines)) + PLAN_TOKENS
        for lines in (steps.lines, open_items(steps.lines))
    )
    share = round(PLAN_SHARE * target)
    return min(whole, max(share, min(needed, round(OPEN_SHARE * target))))


def _shows_plan(view: View, steps: TaskLists) -> bool:
    """Return True if a view shows the plan: the call that set it, or all that is open of it."""
    position = view.positions.get(steps.message)
    if position is not None:
        visible, log = view.messages[position], view.original(position)
        if steps.part < len(visible.parts) and visible.parts[steps.part] == log.parts[steps.part]:
            return True
    still = [line for line in steps.lines if not is_done(line)] or steps.lines
    return any(
        all(line in message.text for line in still)
        for message in view.messages
        if is_snapshot(message)
    )


UNNAMED: Final = 10_000
"""So many touches of files that are not named are remembered."""

PLANS: Final = 50
"""So many plans are remembered, for when the newest ones turn out to have failed."""

EDITS: Final = 50
"""So many changes of a file are remembered that no tool has read or written whole."""

LONGEST_WAIT: Final = 10_000
"""After so many messages, a call that has got no result is given up."""


class WorkingSet:
    """
    What a conversation works with.

    Args:
        settings: Names of tools and arguments.
    """

    def __init__(self, settings: FileSettings | None = None) -> None:
        self._settings = settings or FileSettings()
        self._waiting = Waiting()
        self._calls: dict[Site, Message] = {}
        self._files: dict[str, list[FileAccess]] = {}
        self._unnamed: deque[FileAccess] = deque(maxlen=UNNAMED)
        self._plans: deque[PlanStep] = deque(maxlen=PLANS)

    @classmethod
    def of(cls, messages: Iterable[Message], settings: FileSettings | None = None) -> WorkingSet:
        """Read a whole conversation."""
        found = cls(settings)
        for position, message in enumerate(messages):
            found.add(position, message)
        return found

    def add(self, position: int, message: Message) -> None:
        """
        Take the next message into account.

        Args:
            position: Where it stands in the log.
            message: The message.
        """
        self._waiting.begin(position, message)
        for index, part in enumerate(message.parts):
            site = Site(position, index)
            if isinstance(part, ToolCall):
                self._waiting.add(part, site)
                self._calls[site] = message
                step = plan_step(message, index)
                if step is not None:
                    self._plans.append(step)
            elif isinstance(part, ToolResult):
                self._answer(part, site, message)
        self._give_up(position)

    def _answer(self, result: ToolResult, site: Site, message: Message) -> None:
        if result.is_error and result.call_id:
            kept = [step for step in self._plans if step.call != result.call_id]
            self._plans = deque(kept, PLANS)
        call = self._waiting.take(result)
        if call in self._calls:
            calling = self._calls.pop(call)
            for touch in find_accesses(calling, message, (call, site), self._settings):
                self._note(touch)

    def _note(self, touch: FileAccess) -> None:
        if not touch.path:
            self._unnamed.append(touch)
            return
        # Results of parallel calls come in any order; what counts is that of the calls.
        of_file = self._files.setdefault(touch.path, [])
        position = bisect_right(of_file, order(touch), key=order)
        of_file.insert(position, touch)
        # A file that was read or written whole stands first, and what changed it since behind it.
        near = (place for place in (0, 1, position) if place < len(of_file))
        whole = (place for place in near if of_file[place].operation != "edited")
        del of_file[: max(whole, default=-EDITS)]

    def _give_up(self, position: int) -> None:
        """Drop calls that were never answered; the oldest comes first."""
        while self._calls:
            oldest = next(iter(self._calls))
            if position - oldest.message <= LONGEST_WAIT:
                return
            del self._calls[oldest]

    @property
    def touches(self) -> tuple[FileAccess, ...]:
        """The touches that still count, in the order in which the calls were made."""
        named = (touch for of_file in self._files.values() for touch in of_file)
        return tuple(sorted((*named, *self._unnamed), key=order))

    @property
    def plan(self) -> TaskLists | None:
        """The newest plan."""
        return self._plans[-1].tasks if self._plans else None
