"""
Permissions: what of a set of tools somebody else may use.

    reader = ToolView(registry, READ_ONLY)

What is not allowed is denied. A view changes nothing in the registry, and a view of a view allows
less, never more.
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
    Which tools may be used.

    Those that have labels, and none but ``labels``; those named in ``allow`` besides; never those
    named in ``deny``. A tool without a label is allowed by its name only.
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
        Return permissions by name: "read-only", or "full" for all but running programs.

        Raises:
            BudgetError: There are none of this name.
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
"""What each name stands for, as labels."""

READ_ONLY: Final = Permissions.named("read-only")
FULL: Final = Permissions.named("full")


class ToolView(Toolset):
    """
    What permissions leave of a set of tools; it follows the set when that changes.

    Args:
        tools: The set, which may be such a view itself.
        permissions: What is allowed of it.
    """

    def __init__(self, tools: Toolset, permissions: Permissions) -> None:
        self.settings = tools.settings
        self._inner = tools
        self._permissions = permissions

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are allowed, in their order."""
        return tuple(tool for tool in self._inner if self._permissions.allows(tool))

    def _find(self, name: str) -> Slot | ToolOutput:
        found = self._inner._find(name)
        # The tool that is run is the one that was looked at, whatever is registered meanwhile.
        if isinstance(found, Slot) and not self._permissions.allows(found.tool):
            names = ", ".join(tool.name for tool in self) or "none"
            message = f"You may not use {found.tool.name}. Your tools are: {names}."
            return ToolOutput.error(ErrorCode.DENIED, message)
        if isinstance(found, ToolOutput) and found.code is ErrorCode.NOT_FOUND:
            return self._missing(name)
        return found
