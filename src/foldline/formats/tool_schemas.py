"""Tool schemas: the same name, description and JSON schema in the notation of each provider."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A function that a model may call, in no provider's notation."""

    name: str
    description: str
    parameters: dict[str, Any]

    def as_anthropic(self) -> dict[str, Any]:
        """Write it as Anthropic Messages has it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters,
        }

    def as_responses(self) -> dict[str, Any]:
        """Write it as OpenAI Responses has it."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "strict": False,
        }


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
    empty = {"type": "object", "properties": {}}
    description = inner.get("description")
    return [
        ToolSchema(
            name,
            description if isinstance(description, str) else "",
            parameters if isinstance(parameters, dict) else empty,
        )
    ]
