"""
The working set: the files that tools accessed and the newest plan, updated on every append.

The log is not read again: for each file the working set keeps the accesses that still decide
whether its newest content is in view.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.frozen import frozen
from foldline.reinjection.attachment import plan_section
from foldline.reinjection.file_access import FileAccess, find_accesses, order
from foldline.snapshot.invocations import Invocation
from foldline.snapshot.plans import call_plan, fit_plan, is_done, open_items
from foldline.values.groups import Site, Waiting
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message, ToolCall, ToolResult
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

PLAN_SHARE: Final = 0.05
"""Fraction of the target that a plan may always take."""

OPEN_SHARE: Final = 0.25
"""Fraction of the target that its open items may take."""

PLAN_TOKENS: Final = 60
"""Approximate size of the text around a plan, in tokens."""


@frozen
class TaskLists:
    """The newest plan: its lines, and the message and part that set it."""

    lines: tuple[str, ...]
    message: str
    part: int


@frozen
class PlanStep:
    """The change of the plan by one call; ``tasks`` is None where it emptied the plan."""

    call: str | None
    tasks: TaskLists | None


def plan_step(message: Message, index: int) -> PlanStep | None:
    """Return how the call at a position of a message changes the plan; None if it does not."""
    part = message.parts[index]
    if not isinstance(part, ToolCall) or (lines := call_plan(part)) is None:
        return None
    return PlanStep(part.id, TaskLists(lines, message.id, index) if lines else None)


def plan_sections(after: View, steps: TaskLists, room: int) -> list[str]:
    """
    Write the plan, unless a view shows it.

    Args:
        after: The view.
        steps: The newest plan.
        room: Maximum size, in tokens; see `fit_plan` for the order in which lines are dropped.
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
    Return the maximum size of a plan, in tokens: usually enough for its open items.

    Args:
        steps: The newest plan.
        target: The target of the compaction, in tokens.
        counter: The token counter.
    """
    whole, needed = (
        counter.text("\n".join(lines)) + PLAN_TOKENS
        for lines in (steps.lines, open_items(steps.lines))
    )
    share = round(PLAN_SHARE * target)
    return min(whole, max(share, min(needed, round(OPEN_SHARE * target))))


def _shows_plan(view: View, steps: TaskLists) -> bool:
    """Return True if a view shows the plan: the call that set it, or all its open steps."""
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
"""Maximum number of remembered accesses without a path."""

PLANS: Final = 50
"""Maximum number of remembered plans; an older one counts again if the newest calls fail."""

EDITS: Final = 50
"""Maximum number of remembered edits of a file that no tool has read or written whole."""

LONGEST_WAIT: Final = 10_000
"""Number of messages after which a call without a result is forgotten."""


class WorkingSet:
    """
    The files and the plan that a conversation works with.

    Args:
        settings: Names of tools and arguments.
        read: Reads a call.
    """

    def __init__(
        self,
        settings: FileSettings | None = None,
        read: Callable[[ToolCall], Invocation] = Invocation,
    ) -> None:
        self._settings, self._read = settings or FileSettings(), read
        self._waiting = Waiting()
        self._calls: dict[Site, Message] = {}
        self._files: dict[str, list[FileAccess]] = {}
        self._unnamed: deque[FileAccess] = deque(maxlen=UNNAMED)
        self._plans: deque[PlanStep] = deque(maxlen=PLANS)

    @classmethod
    def of(
        cls,
        messages: Iterable[Message],
        settings: FileSettings | None = None,
        read: Callable[[ToolCall], Invocation] = Invocation,
    ) -> WorkingSet:
        """Build the working set of a whole conversation."""
        found = cls(settings, read)
        for position, message in enumerate(messages):
            found.add(position, message)
        return found

    def add(self, position: int, message: Message) -> None:
        """
        Add the next message.

        Args:
            position: Its position in the log.
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
            sites = call, site
            for access in find_accesses(calling, message, sites, self._settings, self._read):
                self._note(access)

    def _note(self, access: FileAccess) -> None:
        if not access.path:
            self._unnamed.append(access)
            return
        # Results of parallel calls arrive in any order; the order of the calls counts.
        of_file = self._files.setdefault(access.path, [])
        position = bisect_right(of_file, order(access), key=order)
        of_file.insert(position, access)
        # The last access that read or wrote the whole file comes first, then its later edits.
        near = (place for place in (0, 1, position) if place < len(of_file))
        whole = (place for place in near if of_file[place].operation != "edited")
        del of_file[: max(whole, default=-EDITS)]

    def _give_up(self, position: int) -> None:
        """Forget old calls without a result; the oldest comes first."""
        while self._calls:
            oldest = next(iter(self._calls))
            if position - oldest.message <= LONGEST_WAIT:
                return
            del self._calls[oldest]

    @property
    def accesses(self) -> tuple[FileAccess, ...]:
        """The accesses that still count, in the order of their calls."""
        named = (access for of_file in self._files.values() for access in of_file)
        return tuple(sorted((*named, *self._unnamed), key=order))

    @property
    def plan(self) -> TaskLists | None:
        """The newest plan."""
        return self._plans[-1].tasks if self._plans else None
