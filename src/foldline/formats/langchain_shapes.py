"""LangChain messages in their four shapes, read and written without importing LangChain."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias

from foldline.errors import InputError
from foldline.values.messages import Role

Shape: TypeAlias = Literal["dict", "data", "constructor", "object"]

_KINDS: Mapping[str, tuple[str, Role]] = {
    "human": ("HumanMessage", "user"),
    "ai": ("AIMessage", "assistant"),
    "tool": ("ToolMessage", "tool"),
    "system": ("SystemMessage", "system"),
    "function": ("FunctionMessage", "tool"),
    "chat": ("ChatMessage", "user"),
    "remove": ("RemoveMessage", "system"),
}
CLASSES = {kind: name for kind, (name, _) in _KINDS.items()}
"""Message types and their classes; stream chunks have the class name plus ``Chunk``."""

ROLES = {kind: role for kind, (_, role) in _KINDS.items()}

TYPES: Mapping[str, str] = {
    **{kind: kind for kind in CLASSES},
    **{name: kind for kind, name in CLASSES.items()},
    **{f"{name}Chunk": kind for kind, name in CLASSES.items()},
}
"""Every spelling of a type, mapped to the type."""

FIELDS = (
    "type",
    "role",
    "name",
    "content",
    "additional_kwargs",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_chunks",
    "tool_call_id",
    "status",
    "usage_metadata",
)
"""The fields read from message objects of any class, with properties or slots."""

_MODULE = "langchain_core.messages"


def shape_of(item: Any) -> Shape | None:
    """Return the shape of a message, None if it is not a LangChain message."""
    if isinstance(item, dict):
        if "lc" in item and isinstance(item.get("kwargs"), dict):
            return "constructor"
        if not isinstance(item.get("type"), str):
            return None
        return "data" if isinstance(item.get("data"), dict) and "content" not in item else "dict"
    kind = getattr(item, "type", None)
    is_known = isinstance(kind, str) and kind in TYPES
    return "object" if is_known and hasattr(item, "content") else None


def fields_of(item: Any) -> dict[str, Any]:
    """
    Return the fields of a message of any shape, including ``type`` if it is known.

    Args:
        item: A value for which ``shape_of`` returns a shape.
    """
    match shape_of(item):
        case "constructor":
            path = item.get("id")
            name = path[-1] if isinstance(path, list) and path else None
            return {"type": name, **item["kwargs"]}
        case "data":
            return {"type": item["type"], **item["data"]}
        case "object":
            return {key: getattr(item, key) for key in FIELDS if hasattr(item, key)}
        case _:
            return dict(item)


def update_message(item: Any, changes: Mapping[str, Any]) -> Any:
    """Return a copy of a message with changed fields, in its own shape and class."""
    match shape_of(item):
        case "constructor":
            return {**item, "kwargs": {**item["kwargs"], **changes}}
        case "data":
            return {**item, "data": {**item["data"], **changes}}
        case "object":
            return item.model_copy(update=dict(changes))
        case _:
            return {**item, **changes}


def new_message(kind: str, fields: Mapping[str, Any], shape: Shape) -> Any:
    """
    Build a new message.

    Args:
        kind: Its type, such as "human".
        fields: Its other fields.
        shape: The shape of the conversation's messages.

    Raises:
        InputError: The shape is an object and its class cannot be found.
    """
    match shape:
        case "constructor":
            path = ["langchain", "schema", "messages", CLASSES[kind]]
            return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**fields, "type": kind}}
        case "data":
            return {"type": kind, "data": {**fields, "type": kind}}
        case "dict":
            return {"type": kind, **fields}
        case "object":
            module = sys.modules.get(_MODULE)
            if module is None:
                raise InputError(
                    "The messages are objects, but langchain_core is not loaded",
                    hint="Give messages of langchain_core, or dicts.",
                )
            return getattr(module, CLASSES[kind])(**fields)


def restore_message(name: Any, fields: Mapping[str, Any]) -> Any:
    """
    Rebuild a message object from its stored fields.

    Args:
        name: The name of its class, such as "AIMessage".
        fields: Its fields.

    Raises:
        InputError: There is no such class, or LangChain is not installed.
    """
    if name not in TYPES or not str(name).endswith(("Message", "MessageChunk")):
        raise InputError(f"There is no message class {name!r}")
    try:
        module = import_module(_MODULE)
    except ImportError as error:
        raise InputError(
            "The message is an object of LangChain, which is not installed",
            hint="Run: pip install langchain-core",
        ) from error
    return getattr(module, name)(**fields)
