"""Tool calls, their arguments, and tool schemas in the notation of each wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import expect, text_or
from foldline.frozen import field, frozen
from foldline.values.messages import ToolCall


def json_text(value: Any, index: int | None = None, field: str = "") -> str:
    """
    Write a value as JSON.

    Args:
        value: The wire's value; values that JSON cannot represent are written as their ``repr``.
        index: Position of its message, for the error.
        field: Path of its field, for the error.

    Raises:
        InputError: It is nested too deeply for the JSON encoder.
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError) as error:
        raise InputError(
            "the value is nested too deeply",
            index=index,
            field=field,
            hint="Flatten it; no model reads hundreds of levels.",
        ) from error


def arguments_text(value: Any, index: int | None = None, field: str = "") -> str:
    """
    Return arguments as text: text as it is, None as ``{}``, anything else as JSON.

    Raises:
        InputError: See ``json_text``.
    """
    if isinstance(value, str):
        return value
    return json_text({} if value is None else value, index, field)


def arguments_object(text: str) -> dict[str, Any]:
    """Return arguments as an object; text that is not one is wrapped as ``{"input": text}``."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return {"input": text}
    return value if isinstance(value, dict) else {"input": text}


def arguments_json(text: str) -> str:
    """Return arguments as the JSON text of an object: the text itself if it is one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return text if isinstance(value, dict) else json_text(arguments_object(text))


@frozen
class CallShape:
    """
    The layout of a call in a wire object.

    Args:
        arguments: The key of the arguments.
        name: The key of the name of the tool.
        number: The key of the id, "" if there is none.
        inner: The key of the object that has name and arguments, "" for the object itself.
        needs_id: Whether a call without an id is an error.
        as_text: Whether the wire takes arguments as text; None if it takes both, and changed
            arguments keep their type.
        encode: Writes the arguments of another wire's call.
        new: The first fields of such a call; its id keeps its position here, else comes last.
    """

    arguments: str = "arguments"
    name: str = "name"
    number: str = "id"
    inner: str = ""
    needs_id: bool = False
    as_text: bool | None = False
    encode: Callable[[str], Any] = arguments_object
    new: Mapping[str, Any] = field(default_factory=dict)

    def read(self, wire: dict[str, Any], index: int, path: str) -> ToolCall:
        """
        Read a call; the object is its ``raw``.

        Args:
            wire: The object.
            index: Position of its message, for errors.
            path: Its path in the message, for errors.

        Raises:
            InputError: A field has a wrong type.
        """
        number = None
        if self.number:
            kinds = str if self.needs_id else (str, type(None))
            number = expect(wire.get(self.number), kinds, index, f"{path}.{self.number}")
        if self.inner:
            path = f"{path}.{self.inner}".lstrip(".")
        held = expect(wire.get(self.inner), dict, index, path) if self.inner else wire
        name = expect(held.get(self.name), str, index, f"{path}.{self.name}")
        text = arguments_text(held.get(self.arguments), index, f"{path}.{self.arguments}")
        return ToolCall(number if self.needs_id else number or None, name, text, raw=wire)

    def write(self, call: ToolCall, raw: dict[str, Any] | None) -> dict[str, Any]:
        """
        Write a call: the original object with the changes, or a new one.

        Args:
            call: The call.
            raw: The original object, None for a call of another wire.
        """
        if raw is None:
            fresh = {self.name: call.name, self.arguments: self.encode(call.arguments)}
            fresh = {self.inner: fresh} if self.inner else fresh
            return {**self.new, self.number: call.id or "", **fresh}
        if self.number and call.id and raw.get(self.number) != call.id:
            raw = {**raw, self.number: call.id}
        if self.text(raw) == call.arguments:
            return raw
        held: dict[str, Any] = raw[self.inner] if self.inner else raw
        was_text = isinstance(held.get(self.arguments), str)
        as_text = was_text if self.as_text is None else self.as_text
        after = call.arguments if as_text else arguments_object(call.arguments)
        held = {**held, self.arguments: after}
        return {**raw, self.inner: held} if self.inner else held

    def text(self, raw: dict[str, Any]) -> str:
        """Return the arguments of a call as text, as `read` does."""
        held = raw[self.inner] if self.inner else raw
        return arguments_text(held.get(self.arguments))


@frozen
class ToolSchema:
    """A function that a model may call, independent of any provider."""

    name: str
    description: str
    parameters: dict[str, Any]

    def as_object(self, key: str) -> dict[str, Any]:
        """Return the schema as an object with the parameters under a key."""
        return {"name": self.name, "description": self.description, key: self.parameters}


def tool_schemas(tools: Iterable[Any]) -> list[ToolSchema]:
    """
    Read tool schemas of any provider.

    Tools that run at the provider (web search, code execution) have no schema and no equivalent
    elsewhere: they are omitted.
    """
    return [schema for tool in tools for schema in _schemas(tool)]


def _schemas(tool: Any) -> list[ToolSchema]:
    if not isinstance(tool, dict):
        return []
    declared = tool.get("functionDeclarations") or tool.get("function_declarations")
    if isinstance(declared, list):
        return [schema for item in declared for schema in _schemas(item)]
    inner = tool["function"] if isinstance(tool.get("function"), dict) else tool
    parameters = inner.get("input_schema") or inner.get("parameters")
    name = inner.get("name")
    if not isinstance(name, str) or not (isinstance(parameters, dict) or inner is not tool):
        return []
    if not isinstance(parameters, dict):
        parameters = {"type": "object", "properties": {}}
    return [ToolSchema(name, text_or(inner.get("description"), ""), parameters)]
