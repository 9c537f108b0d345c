"""Tool arguments and tool schemas in the notation of each wire."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import text_or


def json_text(value: Any, index: int | None = None, field: str = "") -> str:
    """
    Write a value as JSON.

    Args:
        value: What the wire holds; things that JSON lacks are written as their ``repr``.
        index: Position of its message, for the error.
        field: Path of its field, for the error.

    Raises:
        InputError: It is nested deeper than a JSON writer follows.
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
    Return arguments as text: text as it is, anything else as JSON, nothing as ``{}``.

    Raises:
        InputError: As ``json_text`` does.
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
    """Return arguments as the JSON text of an object: the text itself when it is one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return text if isinstance(value, dict) else json_text(arguments_object(text))


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A function that a model may call, in no provider's notation."""

    name: str
    description: str
    parameters: dict[str, Any]

    def as_object(self, key: str) -> dict[str, Any]:
        """Write it as an object whose parameters stand under a key."""
        return {"name": self.name, "description": self.description, key: self.parameters}


def tool_schemas(tools: Iterable[Any]) -> list[ToolSchema]:
    """
    Read tool schemas of any provider.

    Tools that run at the provider (web search, code execution) have no schema and no equivalent
    elsewhere: they are left out.
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
