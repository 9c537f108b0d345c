"""
Permissions: restrict which tools of a toolset an agent may use.

    reader = ToolView(registry, READ_ONLY)

Tools are denied by default. A view does not change the registry, and a view of a view can only
restrict it further.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

from foldline.core.validation import check_name
from foldline.frozen import frozen
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool, label_set
from foldline.tools.toolset import Slot, Toolset


@frozen
class Permissions:
    """
    Rules that select tools.

    Allowed are tools whose labels are all in ``labels``, and those named in ``allow``, but never
    those named in ``deny``. A tool without labels is allowed by name only.
    """

    labels: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()

    def __init__(
        self,
        labels: Iterable[str] = (),
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
    ) -> None:
        object.__setattr__(self, "labels", label_set(labels))
        object.__setattr__(self, "allow", frozenset(allow))
        object.__setattr__(self, "deny", frozenset(deny))

    @classmethod
    def named(cls, name: str) -> Self:
        """
        Return predefined permissions: "read-only", or "full" for all but running programs.

        Raises:
            BudgetError: The name is unknown.
        """
        check_name("permissions", name, NAMED)
        return cls(NAMED[name])

    def allows(self, tool: Tool) -> bool:
        """Return True if a tool may be used."""
        if tool.name in self.deny:
            return False
        return tool.name in self.allow or (bool(tool.labels) and tool.labels <= self.labels)


NAMED: Final = {
    "read-only": frozenset({"read"}),
    "full": frozenset({"read", "write", "network", "plan", "context"}),
}
"""The labels of predefined permissions."""

READ_ONLY: Final = Permissions.named("read-only")
FULL: Final = Permissions.named("full")


class ToolView(Toolset):
    """
    A live view of a toolset, restricted by permissions.

    Args:
        tools: The toolset, which may be a view itself.
        permissions: The permissions.
    """

    def __init__(self, tools: Toolset, permissions: Permissions) -> None:
        self.settings = tools.settings
        self._inner = tools
        self._permissions = permissions

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The allowed tools, in order."""
        return tuple(tool for tool in self._inner if self._permissions.allows(tool))

    def _find(self, name: str) -> Slot | ToolOutput:
        found = self._inner._find(name)
        # The checked tool is the one that runs, even if another is registered meanwhile.
        if isinstance(found, Slot) and not self._permissions.allows(found.tool):
            names = ", ".join(tool.name for tool in self) or "none"
            message = f"You may not use {found.tool.name}. Your tools are: {names}."
            return ToolOutput.error(ErrorCode.DENIED, message)
        if isinstance(found, ToolOutput) and found.code is ErrorCode.NOT_FOUND:
            return self._missing(name)
        return found
