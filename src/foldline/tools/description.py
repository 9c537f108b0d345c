"""
Tool descriptions for models: the tables of ``tools.toml``, and tools built from them.

    labels        the capabilities of the tool; see `Tool`
    required      the required arguments
    description   the purpose of the tool
    [x.arguments] the JSON schema of each argument
    [x.actions]   the arguments of each action, required ones marked with ``!``
    models        the actions available to models, if not all
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from foldline.errors import FoldlineError, InputError
from foldline.frozen import field, frozen, replace
from foldline.tools.arguments import Schema, check_arguments, object_schema
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Action, AsyncAction, Tool


@frozen
class ToolDescription:
    """The description, arguments and labels of a tool; see the table above."""

    name: str
    description: str
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    required: Sequence[str] = ()
    labels: Sequence[str] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[str] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of all arguments, as sent to a model."""
        if not self.actions:
            return object_schema(" ".join(self.required), **self.arguments)
        chosen = self.models or tuple(self.actions)
        used = {name.rstrip("!") for action in chosen for name in self.actions[action].split()}
        taken = {name: schema for name, schema in self.arguments.items() if name in used}
        return object_schema("action", action={"type": "string", "enum": [*chosen]}, **taken)

    def action_schema(self, action: str) -> dict[str, Any]:
        """Return the JSON schema of the arguments of one action."""
        names = self.actions[action].split()
        required = " ".join(name[:-1] for name in names if name.endswith("!"))
        bare = [name.rstrip("!") for name in names]
        return object_schema(required, **{name: self.arguments[name] for name in bare})

    def tool(self, action: Action, async_action: AsyncAction | None = None) -> Tool:
        """
        Build the tool.

        Args:
            action: The action, called with validated arguments.
            async_action: The async version of the action; see `Tool`.
        """
        labels = frozenset(self.labels)
        return Tool(self.name, self.description, self.parameters, action, async_action, labels)


def describe_tool(name: str, package: str = "foldline.tools") -> ToolDescription:
    """
    Return the description of a tool.

    Args:
        name: The name of the tool.
        package: The package of the ``tools.toml``.
    """
    return ToolDescription(name, **read_tables(package, "tools.toml")[name])


def return_errors(act: Action) -> Action:
    """Wrap an action so that input errors are returned instead of raised."""

    def act_or_report(given: dict[str, Any]) -> ToolOutput:
        try:
            return act(given)
        except InputError as error:
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, str(error))
        except FoldlineError as error:
            return ToolOutput.error(ErrorCode.UNAVAILABLE, str(error))

    return act_or_report


@cache
def read_tables(package: str, file: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file in a package."""
    return tomllib.loads(files(package).joinpath(file).read_text("utf-8"))


class ActionTool:
    """A tool that dispatches on the argument ``action``: the method ``_add`` handles "add"."""

    described: ClassVar[ToolDescription]
    name: ClassVar[str]
    description: ClassVar[str]
    labels: ClassVar[frozenset[str]]

    def execute(self, /, action: str, **arguments: Any) -> str:
        """
        Run an action, and return the text for the model; see `output`.

        Args:
            action: An action in the description.
            **arguments: The arguments of the action.
        """
        return self.output(action, **arguments).text

    def run(self, parameters: Mapping[str, Any]) -> str:
        """Run ``parameters["action"]`` with the other parameters; see `execute`."""
        given = {str(name): value for name, value in parameters.items()}
        return self.execute(str(given.pop("action", "")), **given)

    def output(self, /, action: str, **arguments: Any) -> ToolOutput:
        """Run an action, and return its output as text and JSON values; never raises."""
        known = self.described.actions
        if action not in known:
            message = f"There is no action {action[:40]!r}. Known: {', '.join(known)}."
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, message)
        try:
            inputs = self._filter_arguments(action, arguments)
            given, problems = check_arguments(self.described.action_schema(action), inputs)
            if problems:
                wrong = "; ".join(one.removesuffix(".") for one in problems)
                message = f"{action} was not done: {wrong}."
                return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, message, problems=problems)
            return self._act(action, given)
        except InputError as error:
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, f"{action} was not done: {error}")
        except (FoldlineError, TypeError, ValueError) as error:
            return ToolOutput.error(ErrorCode.EXECUTION, f"{action} failed: {error}")

    @property
    def tool(self) -> Tool:
        """The tool, for an agent."""
        own = replace(
            self.described, name=self.name, description=self.description, labels=tuple(self.labels)
        )
        return own.tool(lambda given: self.output(**given))

    def _filter_arguments(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # for those that read them by the action
        """Drop empty arguments: models send empty values for arguments they do not need."""
        return {name: value for name, value in arguments.items() if value is not None}

    def _act(self, action: str, given: dict[str, Any]) -> ToolOutput:
        output: ToolOutput = getattr(self, f"_{action}")(**given)
        return output
