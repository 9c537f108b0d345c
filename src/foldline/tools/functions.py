"""Functions as tools: the schema comes from the signature, descriptions from the docstring."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from foldline.errors import InputError
from foldline.tools.arguments import kinds_of, object_schema
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool, label_set

PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}

DONE: Final = "Done."
"""The output of a function that returns None."""

_PARAMETER: Final = re.compile(r"^\s+(\w{1,64})(?: \([^)]*\))?: (.+)$", re.MULTILINE)


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    labels: Iterable[str] = (),
) -> Tool:
    """
    Create a tool from a function.

    Parameters may be strings, numbers, booleans, lists, dicts with string keys, `Literal`s, or
    unions of one of them with None. The function returns a `ToolOutput`, a string, None, or a
    JSON value; it may be async.

    Args:
        function: The function.
        name: The name of the tool; default that of the function.
        description: The description; default the first paragraph of the docstring.
        labels: The capabilities of the tool; see `Tool`.

    Raises:
        InputError: A parameter has no type or an unsupported one, or there is no description.
    """
    message = inspect.getdoc(function) or ""
    words = message.partition("\n\n")[0] if description is None else description
    named = str(name or getattr(function, "__name__", ""))
    if not words.strip():
        hint = "Give it a docstring: the model reads it."
        raise InputError(f"the function {named!r} has no description", hint=hint)
    parameters = _parameters(function, named, message)

    def action(given: dict[str, Any]) -> ToolOutput:
        result = function(**given)
        return _output(asyncio.run(result) if inspect.iscoroutine(result) else result)

    async def async_action(given: dict[str, Any]) -> ToolOutput:
        return _output(await function(**given))

    awaits = async_action if inspect.iscoroutinefunction(function) else None
    return Tool(named, words, parameters, action, awaits, label_set(labels))


def _parameters(function: Callable[..., Any], named: str, message: str) -> dict[str, Any]:
    """Return the schema of the parameters of a function, described by its docstring."""
    words = dict(_PARAMETER.findall(message))
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError) as error:
        raise InputError(f"its types cannot be read: {error}", field=named) from error
    properties: dict[str, Any] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        where = f"{named}.{parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InputError("a parameter of a tool must accept a keyword", field=where)
        if parameter.name not in hints:
            raise InputError("it has no type", field=where, hint="Add one: `city: str`.")
        schema = schema_of(hints[parameter.name], where)
        if parameter.name in words:
            schema["description"] = words[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, str | int | float | bool):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    return object_schema(" ".join(required), **properties)


def schema_of(hint: Any, where: str = "parameter") -> dict[str, Any]:
    """
    Return the schema of a type.

    Args:
        hint: The type.
        where: Its name in errors.

    Raises:
        InputError: The type is not supported.
    """
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _either([schema_of(one, where) for one in inner], where)
    if origin is Literal and all(type(one) in PLAIN for one in inner):
        kinds = list(dict.fromkeys(PLAIN[type(one)] for one in inner))
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(inner)}
    if hint is list or origin in (list, Sequence):
        return {"type": "array"} | ({"items": schema_of(inner[0], where)} if inner else {})
    if hint is dict or (origin in (dict, Mapping) and inner[0] is str):
        return {"type": "object", "additionalProperties": True}
    advice = "Use strings, numbers, lists or dicts."
    raise InputError(f"{str(hint)[:80]} has no schema", field=where, hint=advice)


def _either(schemas: list[dict[str, Any]], where: str) -> dict[str, Any]:
    """Combine a schema with null, or several scalar schemas."""
    rich = [schema for schema in schemas if set(schema) != {"type"}]
    if len(rich) > 1:
        raise InputError("only one of its types may be a list, a dict or a Literal", field=where)
    kinds = [kind for schema in schemas for kind in kinds_of(schema)]
    joined = (rich[0] if rich else {}) | {"type": list(dict.fromkeys(kinds))}
    if "enum" in joined and "null" in kinds:
        joined["enum"] = [*joined["enum"], None]
    return joined


def _output(result: Any) -> ToolOutput:
    if isinstance(result, ToolOutput):
        return result
    if result is None or isinstance(result, str):
        return ToolOutput(DONE if result is None else result)
    text = json.dumps(result, ensure_ascii=False, default=repr)
    return ToolOutput(text, data={"result": result})
