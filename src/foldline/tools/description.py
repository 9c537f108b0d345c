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
    """The words, the arguments and the labels of a tool; see the table above."""

    name: str
    description: str
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    required: Sequence[str] = ()
    labels: Sequence[str] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[str] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of all arguments, as a model is sent it."""
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
    return ToolDescription(name, **read_tables(package, "tools.toml")[name])


def return_errors(act: Action) -> Action:
    """Return an action that reports what was wrong with a call instead of raising it."""

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
    """Does what the argument ``action`` says: the method ``_add`` is the action "add"."""

    described: ClassVar[ToolDescription]
    name: ClassVar[str]
    description: ClassVar[str]
    labels: ClassVar[frozenset[str]]

    def execute(self, /, action: str, **arguments: Any) -> str:
        """
        Do something, and return what a model reads about it; see `output`.

        Args:
            action: One of those in the description.
            **arguments: Of the action.
        """
        return self.output(action, **arguments).text

    def run(self, parameters: Mapping[str, Any]) -> str:
        """Do what ``parameters["action"]`` says with the other parameters; see `execute`."""
        given = {str(name): value for name, value in parameters.items()}
        return self.execute(str(given.pop("action", "")), **given)

    def output(self, /, action: str, **arguments: Any) -> ToolOutput:
        """Do something, and return the text and the same as JSON values; nothing is raised."""
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
        """Return the arguments that count: a model fills in what it does not need with nothing."""
        return {name: value for name, value in arguments.items() if value is not None}

    def _act(self, action: str, given: dict[str, Any]) -> ToolOutput:
        output: ToolOutput = getattr(self, f"_{action}")(**given)
        return output
