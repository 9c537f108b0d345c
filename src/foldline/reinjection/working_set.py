"""
The working set: which files tools touched and the newest plan, kept up to date as one appends.

It knows what `touches` and `newest_plan` find in the whole log, without reading that again: of a
file it keeps the touches that still decide whether its newest content is in sight.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.file_access import FileAccess, answered, order
from foldline.reinjection.task_lists import PlanStep, TaskLists, plan_step
from foldline.values.groups import Site, Waiting
from foldline.values.messages import Message, ToolCall, ToolResult

UNNAMED: Final = 10_000
"""So many touches of files that are not named are remembered."""

PLANS: Final = 50
"""So many plans are remembered, for when the newest ones turn out to have failed."""

EDITS: Final = 50
"""So many changes of a file are remembered that no tool has read or written whole."""

LONGEST_WAIT: Final = 10_000
"""After so many messages, a call that has got no result is given up."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that waits for its result, and the message that it is in."""

    site: Site
    message: Message


class WorkingSet:
    """
    What a conversation works with.

    Args:
        settings: Names of tools and arguments.
    """

    def __init__(self, settings: FileSettings | None = None) -> None:
        self._settings = settings or FileSettings()
        self._waiting = Waiting()
        self._calls: dict[Site, _Call] = {}
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
                self._calls[site] = _Call(site, message)
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
        where = self._waiting.take(result)
        call = None if where is None else self._calls.pop(where, None)
        if call is not None:
            sites = (call.site, site)
            for touch in answered(call.message, message, sites, self._settings):
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
        whole = 0 if touch.operation == "edited" else position
        if len(of_file) > 1 and position == 0 and of_file[1].operation != "edited":
            whole = 1
        edited = of_file[whole].operation == "edited"
        del of_file[: -EDITS if edited else whole]

    def _give_up(self, position: int) -> None:
        """Let go of calls that nobody answers; the oldest stands first."""
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
