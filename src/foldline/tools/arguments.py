"""
Validate the arguments of a call against the schema of its tool.

Schemas use the subset of JSON Schema that tools need: a keyword that is not enforced here is an
error when the tool is created.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from foldline.core.validation import suggest_name
from foldline.errors import InputError

Schema = Mapping[str, Any]

DEPTH: Final = 16
"""The maximum nesting depth of schemas and values."""

LONGEST: Final = 1 << 20
"""The maximum length of arguments as JSON text, in characters."""

TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    ),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}

BOUNDS: Final[Mapping[str, tuple[Callable[[Any, Any], bool], str]]] = {
    "minimum": (lambda value, bound: value >= bound, "be at least {}"),
    "maximum": (lambda value, bound: value <= bound, "be at most {}"),
    "minLength": (lambda value, bound: len(value) >= bound, "have at least {} characters"),
    "maxLength": (lambda value, bound: len(value) <= bound, "have at most {} characters"),
    "minItems": (lambda value, bound: len(value) >= bound, "have at least {} items"),
    "maxItems": (lambda value, bound: len(value) <= bound, "have at most {} items"),
}

KNOWN: Final = frozenset(
    {"type", "description", "enum", "items", "properties", "required", "default"}
    | {"additionalProperties", *BOUNDS}
)


def object_schema(required: str = "", /, **properties: Schema) -> dict[str, Any]:
    """
    Return the schema of an object with these properties and no others.

    Args:
        required: The names of required properties, separated by blanks.
        properties: The schema of each.
    """
    named = {"properties": properties, "required": required.split()}
    return {"type": "object", **named, "additionalProperties": False}


def text_schema(description: str, **more: Any) -> dict[str, Any]:
    """
    Return the schema of a string.

    Args:
        description: The description for the model.
        more: Other keywords of the schema, such as ``maxLength``.
    """
    return {"type": "string", "description": description, **more}


def check_schema(schema: Any, where: str = "parameters", depth: int = DEPTH) -> None:
    """
    Check that every keyword of a schema is enforced.

    Args:
        schema: The schema.
        where: Its name in errors.
        depth: The maximum nesting depth.

    Raises:
        InputError: A keyword, a type or a required name is unknown; ``field`` says where.
    """
    if not isinstance(schema, Mapping) or depth <= 0:
        raise InputError("a schema must be an object, not nested too deeply", field=where)
    for word in schema:
        if word not in KNOWN:
            raise InputError(f"the JSON Schema keyword {word!r} is not supported", field=where)
    kinds = kinds_of(schema)
    if not kinds or any(kind not in TYPES for kind in kinds):
        raise InputError(f"a schema needs a type: one of {', '.join(TYPES)}", field=where)
    inner = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in inner]
    if missing:
        raise InputError(f"{missing[0]!r} is required, but not described", field=where)
    for name, one in inner.items():
        check_schema(one, f"{where}.{name}", depth - 1)
    if "items" in schema:
        check_schema(schema["items"], f"{where}[]", depth - 1)


def parse_arguments(arguments: Any) -> Any:
    """
    Return arguments as a JSON value; None or an empty text means no arguments.

    Args:
        arguments: A mapping, or the JSON text that a provider sends.

    Raises:
        InputError: The text is not JSON.
    """
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    if isinstance(arguments, Mapping):
        return dict(arguments)
    if not isinstance(arguments, str):
        return arguments
    if len(arguments) > LONGEST:
        raise InputError(f"the arguments have more than {LONGEST:,} characters")
    try:
        return json.loads(arguments, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the arguments are not JSON: {error}") from error


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def check_arguments(schema: Schema, value: Any, where: str = "") -> tuple[Any, list[str]]:
    """
    Validate a value, and repair common mistakes of models.

    A list, object or number sent as text is parsed; 3.0 becomes an integer where one is expected;
    missing values, and null for optional ones, get their defaults.

    Args:
        schema: The expected schema; checked by `check_schema`.
        value: A JSON value.
        where: The name of the argument.

    Returns:
        The value, and a sentence for each problem.
    """
    kinds = kinds_of(schema)
    value = _repair(value, kinds)
    name = where or "the arguments"
    if not any(TYPES[kind](value) for kind in kinds):
        return value, [f"{name}: {' or '.join(kinds)} expected, not {_excerpt(value)}"]
    if "enum" in schema and value not in schema["enum"]:
        near = suggest_name(str(value), [str(one) for one in schema["enum"]])
        known = ", ".join(map(str, schema["enum"]))
        return value, [f"{name}: {_excerpt(value)} is not one of {known}. {near}".rstrip()]
    problems = [
        f"{name}: {_excerpt(value)} is invalid; it must {words.format(schema[word])}"
        for word, (holds, words) in BOUNDS.items()
        if word in schema and value is not None and not holds(value, schema[word])
    ]
    if isinstance(value, dict):
        value, more = _object(schema, value, where)
        problems += more
    elif isinstance(value, list) and "items" in schema:
        items, value = value, []
        for index, item in enumerate(items):
            one, more = check_arguments(schema["items"], item, f"{where}[{index}]")
            value.append(one)
            problems += more
    return value, problems


def _object(schema: Schema, value: dict[str, Any], where: str) -> tuple[Any, list[str]]:
    known = schema.get("properties", {})
    inside = f"{where}." if where else ""
    out, problems = dict(value), list[str]()
    for name, one in known.items():
        optional = name not in schema.get("required", ()) and "null" not in kinds_of(one)
        if name in value and value[name] is None and optional:
            out.pop(name)
        if name in out:
            out[name], more = check_arguments(one, value[name], f"{inside}{name}")
            problems += more
        elif "default" in one:
            out[name] = one["default"]
        elif name in schema.get("required", ()):
            problems.append(f"{inside}{name}: missing")
    if not schema.get("additionalProperties", False):
        listed = f"Known: {', '.join(known) or 'none'}."
        for name in (str(name) for name in value if name not in known):
            near = suggest_name(name, known)
            problems.append(f"{inside}{name[:60]}: unknown. {near}{listed}")
    return out, problems


_FROM_TEXT: Final = frozenset({"array", "object", "integer", "number"})
"""What models write as text, too."""


def _repair(value: Any, kinds: tuple[str, ...]) -> Any:
    if isinstance(value, str) and "string" not in kinds and _FROM_TEXT & {*kinds}:
        try:
            read = json.loads(value[:LONGEST], parse_constant=_no_number)
        except (ValueError, RecursionError):
            return value
        return read if any(TYPES[kind](read) for kind in kinds) else value
    if isinstance(value, float) and "integer" in kinds and value.is_integer():
        return int(value)
    return value


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Return the types that a schema allows, in any of the notations."""
    kind = schema.get("type")
    return (kind,) if isinstance(kind, str) else tuple(kind or ())


def _excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
