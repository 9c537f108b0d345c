"""A store as a tool: actions that are called by name, each with arguments of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from foldline.errors import FoldlineError, InputError
from foldline.tools.arguments import Schema, check_arguments, object_schema
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool


class ActionTool:
    """
    Does what the argument ``action`` says; a method ``_add`` of a subclass is its action "add".

    ``takes`` has the names of the arguments of each action, where ``!`` marks those that it needs,
    and ``properties`` the schema of every argument. A model may do what is in ``for_models``.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    labels: ClassVar[frozenset[str]]
    takes: ClassVar[Mapping[str, str]]
    properties: ClassVar[Mapping[str, Schema]]
    for_models: ClassVar[Sequence[str]]

    def execute(self, action: str, **arguments: Any) -> str:
        """
        Do something, and return what a model reads about it; see `output`.

        Args:
            action: One of ``takes``.
            **arguments: Of the action.
        """
        return self.output(action, **arguments).text

    def run(self, parameters: Mapping[str, Any]) -> str:
        """Do what ``parameters["action"]`` says with the other parameters; see `execute`."""
        given = dict(parameters)
        return self.execute(str(given.pop("action", "")), **given)

    def output(self, action: str, **arguments: Any) -> ToolOutput:
        """Do something, and return the text and the same as JSON values; nothing is raised."""
        if action not in self.takes:
            message = f"There is no action {action[:40]!r}. Known: {', '.join(self.takes)}."
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, message)
        try:
            given, problems = check_arguments(self._schema(action), self._given(action, arguments))
            if problems:
                message = f"{action} was not done: {'; '.join(problems)}."
                return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, message, problems=problems)
            return self._act(action, given)
        except InputError as error:
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, f"{action} was not done: {error}")
        except (FoldlineError, TypeError, ValueError) as error:
            return ToolOutput.error(ErrorCode.EXECUTION, f"{action} failed: {error}")

    @property
    def tool(self) -> Tool:
        """The tool, for an agent."""
        names = {name.rstrip("!") for one in self.for_models for name in self.takes[one].split()}
        parameters = object_schema(
            "action",
            action={"type": "string", "enum": list(self.for_models)},
            **{name: schema for name, schema in self.properties.items() if name in names},
        )
        return Tool(
            self.name,
            self.description,
            parameters,
            lambda given: self.output(**given),
            labels=self.labels,
        )

    def _schema(self, action: str) -> Schema:
        names = self.takes[action].split()
        required = " ".join(name[:-1] for name in names if name.endswith("!"))
        bare = [name.rstrip("!") for name in names]
        return object_schema(required, **{name: self.properties[name] for name in bare})

    def _given(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # for those that read them by the action
        """Return the arguments that count: a model fills in what it does not need with nothing."""
        return {name: value for name, value in arguments.items() if value is not None}

    def _act(self, action: str, given: dict[str, Any]) -> ToolOutput:
        output: ToolOutput = getattr(self, f"_{action}")(**given)
        return output
