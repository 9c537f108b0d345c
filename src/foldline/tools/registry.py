"""
The registry: the tools of a program, added and taken out at any time, from any thread.

    registry = ToolRegistry()
    registry.add(todo.tool)

    @registry.function(labels={"network"})
    def weather(city: str) -> str:
        "Say what the weather is."

    output = registry.run("weather", {"city": "Oslo"})
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from foldline.core.limits import Breaker
from foldline.core.validation import positive
from foldline.errors import InputError
from foldline.tools.functions import tool_from_function
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool
from foldline.tools.toolset import Slot, Toolset, ToolSettings

Function = TypeVar("Function", bound=Callable[..., Any])


class ToolRegistry(Toolset):
    """
    Tools and functions, each with a breaker of its own.

    A tool that keeps failing is paused on every way of calling it, and tried once after a while.
    A name that does not exist pauses nothing. Every method may be called from any thread.

    Args:
        tools: Tools to begin with.
        settings: How they are run.
        clock: Returns seconds, for the pauses.

    Raises:
        InputError: Two tools have the same name.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        settings: ToolSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings or ToolSettings()
        self._clock = clock
        self._lock = threading.Lock()
        # Replaced as a whole when it changes: whoever reads it needs no lock.
        self._slots: Mapping[str, Slot] = {}
        for tool in tools:
            self.add(tool)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as they are now, in the order in which they came."""
        return tuple(slot.tool for slot in self._slots.values())

    # --- what is in it ---------------------------------------------------------------------

    def add(self, tool: Tool, *, seconds: float | None = None, replace: bool = False) -> Tool:
        """
        Add a tool, and return it.

        Args:
            tool: The tool.
            seconds: What a call of it may take; default what the settings say.
            replace: Whether it may take the place of one that has its name.

        Raises:
            InputError: There is one of its name already, or it is no tool.
            BudgetError: The seconds make no sense.
        """
        if not isinstance(tool, Tool):
            kind = type(tool).__name__
            raise InputError(f"a {kind} is no tool", hint="A function is added by `function`.")
        if seconds is not None:
            positive("seconds", seconds)
        allowed = self.settings.seconds if seconds is None else seconds
        slot = Slot(tool, allowed, self.settings.new_breaker(), self.settings, self._clock)
        with self._lock:
            if tool.name in self._slots and not replace:
                hint = "Name one of them otherwise, or replace the first on purpose."
                why = f"two tools have the name {tool.name!r}"
                raise InputError(why, field="tools", hint=hint)
            self._slots = {**self._slots, tool.name: slot}
        return tool

    def function(
        self,
        function: Function | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        labels: Iterable[str] = (),
        seconds: float | None = None,
    ) -> Any:
        """
        Add a function as a tool, plainly or as a decorator, and return the function.

        See `foldline.tools.functions.tool_from_function` for what its signature may hold.
        """

        def added(one: Function) -> Function:
            tool = tool_from_function(one, name=name, description=description, labels=labels)
            self.add(tool, seconds=seconds)
            return one

        return added if function is None else added(function)

    def remove(self, name: str) -> Tool:
        """
        Take a tool out, and return it; calls that are running go on.

        Raises:
            InputError: There is none of this name.
        """
        with self._lock:
            slot = self._slot(name)
            self._slots = {other: one for other, one in self._slots.items() if other != name}
        return slot.tool

    # --- breakers --------------------------------------------------------------------------

    def breaker(self, name: str) -> Breaker:
        """
        Return the breaker of a tool; its ``state`` says whether the tool is paused.

        Raises:
            InputError: There is no such tool.
        """
        return self._slot(name).breaker

    def pause(self, name: str) -> None:
        """Pause a tool now, for as long as one that has failed too often."""
        threshold = max(1, self.settings.failures)
        now = self._clock()
        self._slot(name).set(Breaker(threshold, self.settings.pause, threshold, now))

    def resume(self, name: str) -> None:
        """Let a tool run again, as if nothing had happened to it."""
        self._slot(name).set(self.settings.new_breaker())

    # --- finding ---------------------------------------------------------------------------

    def _slot(self, name: str) -> Slot:
        slot = self._slots.get(name)
        if slot is None:
            raise InputError(f"there is no tool {str(name)[:60]!r}", field="name")
        return slot

    def _find(self, name: str) -> Slot | ToolOutput:
        return self._slots.get(name) or self._missing(name)
