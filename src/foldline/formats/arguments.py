"""Tool arguments: an object on some wires, JSON text on others, free text on a few."""

from __future__ import annotations

import json
from typing import Any

from foldline.errors import InputError


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
