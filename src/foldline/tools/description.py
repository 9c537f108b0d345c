"""
What a model reads of a tool: a table of the file ``tools.toml``, and the tool made of it.

    labels        what the tool may do; see `Tool`
    required      the arguments that must be there
    description   what it is for
    [x.arguments] the JSON schema of each argument
    [x.actions]   the arguments of each action, ``!`` behind those that it needs
    models        the actions that a model may choose, where these are not all
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from foldline.tools.arguments import Schema, object_schema
from foldline.tools.spec import Action, AsyncAction, Tool


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """The words, the arguments and the labels of a tool; see the table above."""

    name: str
    description: str
    arguments: Mapping[str, Schema]
    required: Sequence[str] = ()
    labels: Sequence[str] = ()
    actions: Mapping[str, str] | None = None
    models: Sequence[str] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of all arguments, as a model is sent it."""
        if self.actions is None:
            return object_schema(" ".join(self.required), **self.arguments)
        chosen = self.models or tuple(self.actions)
        used = {name.rstrip("!") for action in chosen for name in self.actions[action].split()}
        taken = {name: schema for name, schema in self.arguments.items() if name in used}
        return object_schema("action", action={"type": "string", "enum": [*chosen]}, **taken)

    def tool(self, action: Action, async_action: AsyncAction | None = None) -> Tool:
        """
        Return the tool.

        Args:
            action: What it does with checked arguments.
            async_action: The same for programs that await; see `Tool`.
        """
        labels = frozenset(self.labels)
        return Tool(self.name, self.description, self.parameters, action, async_action, labels)


def describe_tool(name: str, package: str = "foldline.tools") -> ToolDescription:
    """
    Return the description of a tool.

    Args:
        name: Of the tool.
        package: Whose ``tools.toml`` has it.
    """
    return ToolDescription(name, **_tables(package)[name])


@cache
def _tables(package: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(package).joinpath("tools.toml").read_text("utf-8"))
