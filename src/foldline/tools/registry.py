"""
The registry: a mutable, thread-safe set of tools.

    registry = ToolRegistry()
    registry.add(todo.tool)

    @registry.function(labels={"network"})
    def weather(city: str) -> str:
        "Return the current weather."

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
    Tools and functions, each with its own circuit breaker.

    A tool that keeps failing is paused for all callers, and retried once after a while. Calls of
    unknown names have no effect on breakers. All methods are thread-safe.

    Args:
        tools: The initial tools.
        settings: The limits of calls.
        clock: A monotonic clock in seconds, for the pauses.

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
        # Replaced as a whole on changes, so that readers need no lock.
        self._slots: Mapping[str, Slot] = {}
        for tool in tools:
            self.add(tool)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The current tools, in the order of registration."""
        return tuple(slot.tool for slot in self._slots.values())

    # --- registration ----------------------------------------------------------------------

    def add(self, tool: Tool, *, seconds: float | None = None, replace: bool = False) -> Tool:
        """
        Add a tool, and return it.

        Args:
            tool: The tool.
            seconds: The timeout of a call; default from the settings.
            replace: Replace an existing tool of the same name.

        Raises:
            InputError: The name is already registered, or it is not a tool.
            BudgetError: The timeout is out of range.
        """
        if not isinstance(tool, Tool):
            kind = type(tool).__name__
            raise InputError(f"a {kind} is not a tool", hint="Use `function` for a function.")
        if seconds is not None:
            positive("seconds", seconds)
        allowed = self.settings.seconds if seconds is None else seconds
        slot = Slot(tool, allowed, self.settings.new_breaker(), self.settings, self._clock)
        with self._lock:
            if tool.name in self._slots and not replace:
                hint = "Rename one of them, or pass replace=True."
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
        Add a function as a tool, directly or as a decorator, and return the function.

        See `foldline.tools.functions.tool_from_function` for supported signatures.
        """

        def added(one: Function) -> Function:
            tool = tool_from_function(one, name=name, description=description, labels=labels)
            self.add(tool, seconds=seconds)
            return one

        return added if function is None else added(function)

    def remove(self, name: str) -> Tool:
        """
        Remove a tool, and return it; running calls continue.

        Raises:
            InputError: There is no such tool.
        """
        with self._lock:
            slot = self._slot(name)
            self._slots = {other: one for other, one in self._slots.items() if other != name}
        return slot.tool

    # --- breakers --------------------------------------------------------------------------

    def breaker(self, name: str) -> Breaker:
        """
        Return the circuit breaker of a tool; its ``state`` tells if the tool is paused.

        Raises:
            InputError: There is no such tool.
        """
        return self._slot(name).breaker

    def pause(self, name: str) -> None:
        """Pause a tool now, for as long as after repeated failures."""
        threshold = max(1, self.settings.failures)
        now = self._clock()
        self._slot(name).set(Breaker(threshold, self.settings.pause, threshold, now))

    def resume(self, name: str) -> None:
        """Resume a paused tool, and reset its failures."""
        self._slot(name).set(self.settings.new_breaker())

    # --- lookup ----------------------------------------------------------------------------

    def _slot(self, name: str) -> Slot:
        slot = self._slots.get(name)
        if slot is None:
            raise InputError(f"there is no tool {str(name)[:60]!r}", field="name")
        return slot

    def _find(self, name: str) -> Slot | ToolOutput:
        return self._slots.get(name) or self._missing(name)
