"""A tool: its name, what it takes, and what it does; in the notation of every provider."""

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
"""What every provider takes as the name of a tool."""

MOST_PROBLEMS: Final = 8
"""So many things that are wrong with arguments are told at once."""

LABEL: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")

LONGEST_REASON: Final = 500


@frozen
class Tool:
    """
    Something that a model may call.

    Running it never raises: whatever is wrong comes back as an output, for the model to read.

    Args:
        name: Up to 64 letters, digits, ``_`` and ``-``.
        description: What it does, and when to use it.
        parameters: The JSON schema of the arguments, an object; unknown arguments are refused.
        action: What it does with checked arguments.
        async_action: The same for programs that await; default the action in a thread.
        labels: What it may do, which is what permissions go by: "read" looks, "write" changes,
            "run" starts programs, "network" reaches other machines; or words of your own.
        repair: Mends arguments before they are checked: what a model means by them is clear.

    Raises:
        InputError: The name, the schema or a label is none.
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
            raise InputError(f"{str(self.name)[:80]!r} is no name for a tool", field="name")
        check_schema(self.parameters)
        if self.parameters.get("type") != "object":
            raise InputError("the arguments of a tool are an object", field="parameters.type")
        object.__setattr__(self, "parameters", deepcopy(dict(self.parameters)))
        object.__setattr__(self, "labels", label_set(self.labels))

    def schema(self, dialect: str) -> dict[str, Any]:
        """
        Return the tool as a provider wants it; a copy that is yours.

        Args:
            dialect: "openai-chat", "openai-responses", "anthropic", "gemini" or "langchain".

        Raises:
            InputError: There is no such dialect.
        """
        if dialect not in FRAMES:
            hint = f"{suggest_name(dialect, FRAMES)}Known: {', '.join(FRAMES)}."
            raise InputError(f"there is no notation of tools for {dialect[:60]!r}", hint=hint)
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
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it raises is told
            return _failure(self.name, error)

    async def arun(self, arguments: Any = None) -> ToolOutput:
        """Run the tool without blocking; see `run`. A cancellation is raised."""
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
        InputError: One of them is no label, or they are one text instead of several.
    """
    found = frozenset(() if isinstance(labels, str) else labels)
    wrong = [one for one in found if not isinstance(one, str) or not LABEL.fullmatch(one)]
    if wrong or isinstance(labels, str):
        label = str(wrong[0] if wrong else labels)[:60]
        raise InputError(f"{label!r} is no set of labels", hint='Write {"read"}.', field="labels")
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
    """Tools that are found by their names."""

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
        """Return all tools as a provider wants them; see `Tool.schema`."""
        return [tool.schema(dialect) for tool in self.tools]

    def _missing(self, name: str) -> ToolOutput:
        message = f"There is no tool {str(name)[:60]!r}. {self._suggest(name)}"
        return ToolOutput.error(ErrorCode.NOT_FOUND, message)

    def _suggest(self, name: str) -> str:
        names = [tool.name for tool in self.tools]
        return f"{suggest_name(str(name), names)}The tools are: {', '.join(names) or 'none'}."


class Toolbox(ToolCollection):
    """
    The tools that one agent has; it never changes, and what is not in it cannot be called.

    Args:
        tools: The tools, in the order in which they are shown.

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
            InputError: There is no tool of a name.
        """
        for name in names:
            if name not in self:
                raise InputError(f"there is no tool {name[:60]!r}", hint=self._suggest(name))
        return type(self)(tool for tool in self.tools if tool.name in names)

    def run(self, name: str, arguments: Any = None) -> ToolOutput:
        """Run a tool by its name; one that is not here is an error output."""
        tool = self._by_name.get(name)
        return self._missing(name) if tool is None else tool.run(arguments)

    async def arun(self, name: str, arguments: Any = None) -> ToolOutput:
        """Run a tool by its name without blocking; see `run`."""
        tool = self._by_name.get(name)
        return self._missing(name) if tool is None else await tool.arun(arguments)


# --- notations -----------------------------------------------------------------------------


KEYS: Final = {"anthropic": "input_schema", "gemini": "parametersJsonSchema"}
"""Where a provider reads the schema; Gemini reads whole JSON Schema only under this name."""

FRAMES: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "openai-chat": lambda tool: {"type": "function", "function": tool},
    "openai-responses": lambda tool: {"type": "function", **tool, "strict": False},
    "anthropic": lambda tool: tool,
    "gemini": lambda tool: tool,
    "langchain": lambda tool: {"type": "function", "function": tool},
}
"""What stands around name, description and schema."""
