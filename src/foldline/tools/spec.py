"""A tool: its name, parameters and action, with its schema for every provider."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, Self, TypeAlias

from foldline.core.validation import suggest_name
from foldline.errors import FoldlineError, InputError
from foldline.frozen import field, frozen
from foldline.redaction import explain_error, redact_json
from foldline.tools.arguments import check_arguments, check_schema, parse_arguments
from foldline.tools.output import ErrorCode, ToolOutput

Action: TypeAlias = Callable[[dict[str, Any]], ToolOutput]
AsyncAction: TypeAlias = Callable[[dict[str, Any]], Awaitable[ToolOutput]]

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The pattern of tool names that every provider accepts."""

MOST_PROBLEMS: Final = 8
"""The maximum number of problems with arguments in one error."""

LABEL: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")

LONGEST_REASON: Final = 500


@frozen
class Tool:
    """
    A tool that a model may call.

    Running it never raises: errors are returned as an output, for the model to read.

    Args:
        name: Up to 64 letters, digits, ``_`` and ``-``.
        description: What it does, and when to use it.
        parameters: The JSON schema of the arguments, an object; unknown arguments are refused.
        action: The function, called with validated arguments.
        async_action: An async version; default the action in a thread.
        labels: Its capabilities, by which permissions select tools: "read" reads, "write" changes,
            "run" starts programs, "network" reaches other machines; or custom labels.
        repair: Corrects arguments before validation, where the meaning of the model is clear.

    Raises:
        InputError: The name, the schema or a label is invalid.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    action: Action = field(repr=False)
    async_action: AsyncAction | None = field(default=None, repr=False)
    labels: frozenset[str] = frozenset()
    repair: Callable[[Any], Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise InputError(f"{str(self.name)[:80]!r} is not a tool name", field="name")
        check_schema(self.parameters)
        if self.parameters.get("type") != "object":
            raise InputError("parameters must be of type object", field="parameters.type")
        object.__setattr__(self, "parameters", deepcopy(dict(self.parameters)))
        object.__setattr__(self, "labels", label_set(self.labels))

    def schema(self, dialect: str) -> dict[str, Any]:
        """
        Return a new copy of the definition of the tool for a provider.

        Args:
            dialect: "openai-chat", "openai-responses", "anthropic", "gemini" or "langchain".

        Raises:
            InputError: The dialect is unknown.
        """
        if dialect not in FRAMES:
            hint = f"{suggest_name(dialect, FRAMES)}Known: {', '.join(FRAMES)}."
            raise InputError(f"there is no tool format for {dialect[:60]!r}", hint=hint)
        key = KEYS.get(dialect, "parameters")
        named = {"name": self.name, "description": self.description}
        return FRAMES[dialect]({**named, key: deepcopy(dict(self.parameters))})

    def run(self, arguments: Any = None) -> ToolOutput:
        """
        Run the tool.

        Args:
            arguments: A mapping, or the JSON text that the provider sent.
        """
        given = self._check_arguments(arguments)
        if isinstance(given, ToolOutput):
            return given
        try:
            return _check_output(self.action(given))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # any error is reported
            return _failure(self.name, error)

    async def arun(self, arguments: Any = None) -> ToolOutput:
        """Run the tool without blocking; see `run`. Cancellation is raised."""
        if self.async_action is None:
            return await asyncio.to_thread(self.run, arguments)
        given = self._check_arguments(arguments)
        if isinstance(given, ToolOutput):
            return given
        try:
            return _check_output(await self.async_action(given))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # as above
            return _failure(self.name, error)

    def _check_arguments(self, arguments: Any) -> dict[str, Any] | ToolOutput:
        try:
            given = parse_arguments(arguments)
            given = given if self.repair is None else self.repair(given)
            value, problems = check_arguments(self.parameters, given)
        except InputError as error:
            problems, value = [str(error)], None
        if not problems and isinstance(value, dict):
            return value
        message = "\n".join(f"- {problem}" for problem in problems[:MOST_PROBLEMS])
        text = f"{self.name} was not run. Correct the arguments and call it again:\n{message}"
        return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, text, problems=problems)


def label_set(labels: Iterable[str]) -> frozenset[str]:
    """
    Return labels as a set.

    Raises:
        InputError: A label is invalid, or they are a string instead of several.
    """
    found = frozenset(() if isinstance(labels, str) else labels)
    wrong = [one for one in found if not isinstance(one, str) or not LABEL.fullmatch(one)]
    if wrong or isinstance(labels, str):
        label = str(wrong[0] if wrong else labels)[:60]
        raise InputError(f"{label!r} is not a set", hint='Write {"read"}.', field="labels")
    return found


def _check_output(output: Any) -> ToolOutput:
    if isinstance(output, ToolOutput):
        return output
    message = f"The tool returned {type(output).__name__} instead of a ToolOutput."
    return ToolOutput.error(ErrorCode.INTERNAL, message)


def _failure(name: str, error: BaseException) -> ToolOutput:
    known = isinstance(error, FoldlineError)
    words = redact_json(str(error)) if known else explain_error(error)
    code = ErrorCode.TIMEOUT if isinstance(error, TimeoutError) else ErrorCode.EXECUTION
    return ToolOutput.error(code, f"{name} failed. {words[:LONGEST_REASON]}")


class ToolCollection(ABC):
    """A collection of tools by name."""

    @property
    @abstractmethod
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order in which they are shown."""

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self.tools)

    def schemas(self, dialect: str) -> list[dict[str, Any]]:
        """Return the definitions of all tools for a provider; see `Tool.schema`."""
        return [tool.schema(dialect) for tool in self.tools]

    def _missing(self, name: str) -> ToolOutput:
        message = f"There is no tool {str(name)[:60]!r}. {self._suggest(name)}"
        return ToolOutput.error(ErrorCode.NOT_FOUND, message)

    def _suggest(self, name: str) -> str:
        names = [tool.name for tool in self.tools]
        return f"{suggest_name(str(name), names)}The tools are: {', '.join(names) or 'none'}."


class Toolbox(ToolCollection):
    """
    An immutable set of tools for one agent; other tools cannot be called.

    Args:
        tools: The tools, in the order of their definitions.

    Raises:
        InputError: Two of them have the same name.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._by_name: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._by_name:
                raise InputError(f"two tools have the name {tool.name!r}", field="tools")
            self._by_name[tool.name] = tool

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order in which they are shown."""
        return tuple(self._by_name.values())

    def only(self, *names: str) -> Self:
        """
        Return a toolbox with some of these tools.

        Raises:
            InputError: A name is unknown.
        """
        for name in names:
            if name not in self:
                raise InputError(f"there is no tool {name[:60]!r}", hint=self._suggest(name))
        return type(self)(tool for tool in self.tools if tool.name in names)

    def run(self, name: str, arguments: Any = None) -> ToolOutput:
        """Run a tool by name; an unknown name returns an error output."""
        tool = self._by_name.get(name)
        return self._missing(name) if tool is None else tool.run(arguments)

    async def arun(self, name: str, arguments: Any = None) -> ToolOutput:
        """Run a tool by name without blocking; see `run`."""
        tool = self._by_name.get(name)
        return self._missing(name) if tool is None else await tool.arun(arguments)


# --- formats of providers ------------------------------------------------------------------


KEYS: Final = {"anthropic": "input_schema", "gemini": "parametersJsonSchema"}
"""The key of the schema by provider; Gemini reads full JSON Schema only under this one."""

FRAMES: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "openai-chat": lambda tool: {"type": "function", "function": tool},
    "openai-responses": lambda tool: {"type": "function", **tool, "strict": False},
    "anthropic": lambda tool: tool,
    "gemini": lambda tool: tool,
    "langchain": lambda tool: {"type": "function", "function": tool},
}
"""The frame around name, description and schema by provider."""
