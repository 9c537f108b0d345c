"""
Edits as JSON values and back, exactly.

The schema is ``foldline.edits/1``: an object with ``schema`` and ``edits``. Fields with their
default value are omitted. Wire originals (``raw``) must be JSON values; a format whose messages
are objects converts them with ``freeze`` and back with ``thaw``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from foldline.errors import InputError
from foldline.frozen import MISSING, fields
from foldline.type_checks import check_fields
from foldline.values.edits import Drop, Edit, Fold, Insert, Move, Rewrite
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

SCHEMA = "foldline.edits/1"

Made = TypeVar("Made")
Convert: TypeAlias = Callable[[Any], Any]

_PARTS: dict[str, type[Any]] = {
    "text": Text,
    "call": ToolCall,
    "result": ToolResult,
    "thinking": Thinking,
    "media": Media,
    "opaque": Opaque,
    "omitted": Omitted,
}
_EDITS: dict[str, type[Any]] = {
    "rewrite": Rewrite,
    "drop": Drop,
    "fold": Fold,
    "insert": Insert,
    "move": Move,
}
_TAGS = {kind: tag for tags in (_PARTS, _EDITS) for tag, kind in tags.items()}


def _same(value: Any) -> Any:
    return value


def edits_to_json(edits: Iterable[Edit], freeze: Convert = _same) -> dict[str, Any]:
    """
    Write edits as a JSON value.

    Args:
        edits: The edits, in order of application.
        freeze: Converts a wire original to a JSON value.
    """
    return {"schema": SCHEMA, "edits": [_write(edit, freeze) for edit in edits]}


def edits_from_json(value: Any, thaw: Convert = _same) -> tuple[Edit, ...]:
    """
    Read what `edits_to_json` wrote.

    Args:
        value: The JSON value.
        thaw: Converts a JSON value to a wire original.

    Raises:
        InputError: The schema is another one, or an edit is malformed; ``index`` is its position.
    """
    schema = value.get("schema") if isinstance(value, Mapping) else None
    if schema != SCHEMA:
        raise InputError(
            f"expected edits of the schema {SCHEMA}, found {schema!r}",
            field="schema",
            hint="They were written by another version of Foldline; use that one.",
        )
    out = []
    items = value.get("edits", ())
    if not isinstance(items, (list, tuple)):
        raise InputError("not a list of edits", field="edits")
    for index, item in enumerate(items):
        try:
            out.append(cast("Edit", _read(item, _EDITS, thaw)))
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"not an edit: {error!r}", index=index, field="edits") from error
    return tuple(out)


def message_to_json(message: Message, freeze: Convert = _same) -> dict[str, Any]:
    """Write a message, decoded parts and wire original, as a JSON value."""
    return _write(message, freeze)


def message_from_json(value: Any, thaw: Convert = _same) -> Message:
    """
    Read what `message_to_json` wrote.

    Raises:
        InputError: The value is not a message.
    """
    try:
        return _make(Message, value, thaw)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"not a message: {error!r}") from error


# --- writing -------------------------------------------------------------------------------


def _write(thing: Any, freeze: Convert) -> dict[str, Any]:
    tag = next((_TAGS[kind] for kind in type(thing).__mro__ if kind in _TAGS), None)
    out: dict[str, Any] = {"type": tag} if tag else {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.default is MISSING or value != field.default:
            out[field.name] = _value(field.name, value, freeze)
    return out


def _value(name: str, value: Any, freeze: Convert) -> Any:
    if name == "raw":
        return freeze(value)
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else _write(item, freeze) for item in value]
    if isinstance(value, (Message, Usage)):
        return _write(value, freeze)
    return value


# --- reading -------------------------------------------------------------------------------


def _read(item: Any, kinds: Mapping[str, type[Any]], thaw: Convert) -> Any:
    kind = kinds[item["type"]]
    return _make(kind, {name: value for name, value in item.items() if name != "type"}, thaw)


def _make(kind: type[Made], given: Any, thaw: Convert) -> Made:
    made = kind(**{name: _field(name, value, thaw) for name, value in given.items()})
    check_fields(made)
    return made


def _field(name: str, value: Any, thaw: Convert) -> Any:
    if name == "raw":
        return thaw(value)
    if name in {"snapshot", "message"} and isinstance(value, dict):
        return _make(Message, value, thaw)
    if name == "usage":
        return None if value is None else _make(Usage, value, thaw)
    if isinstance(value, list):
        return tuple(v if isinstance(v, str) else _read(v, _PARTS, thaw) for v in value)
    return value
