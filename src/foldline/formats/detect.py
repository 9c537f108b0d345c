"""Which wire format a value is in, by its content."""

from __future__ import annotations

from typing import Any

from foldline.errors import InputError, UnknownFormat
from foldline.formats.dialect import Dialect
from foldline.formats.langchain_shapes import TYPES, shape_of
from foldline.formats.registry import DIALECTS

KEYS = ("messages", "contents", "input", "values")
"""Where request bodies and thread states have their messages."""

_PLAIN = {"role", "content"}
_SPEAKERS = {"system", "developer", "user", "assistant", "tool", "function", "model", *TYPES}
_HINT = f"Name the format; known: {', '.join(DIALECTS)}."


def detect_dialect(wire: Any) -> Dialect:
    """
    Return the dialect that is surest of a value; of equally sure ones the more common.

    Args:
        wire: A list of messages, a request body or a thread state.

    Raises:
        UnknownFormat: No dialect recognises it; says what is wrong and in which message.
    """
    return detect_with_score(wire)[0]


def detect_with_score(wire: Any) -> tuple[Dialect, float]:
    """Return the dialect of a value, and how sure that is, from 0 to 1; see `detect_dialect`."""
    best, surest = None, 0.0
    for dialect in DIALECTS.values():  # each is imported here, so stop as soon as one is certain
        sure = dialect.recognises(wire)
        if sure > surest:
            best, surest = dialect, sure
        if surest == 1.0 or (best and _is_plain(wire)):
            break
    if best is None:
        raise _problem(wire)
    return best, surest


def _is_plain(wire: Any) -> bool:
    """Return True if messages hold a role and a text alone: the most common dialect has these."""
    return isinstance(wire, list) and all(
        isinstance(item, dict) and item.keys() == _PLAIN and isinstance(item["content"], str)
        for item in wire
    )


def _problem(wire: Any) -> InputError:
    items = _items(wire)
    if isinstance(items, InputError):
        return items
    if not items:
        return UnknownFormat("The conversation is empty", hint="Give at least one message.")
    for index, item in enumerate(items):
        problem = _message_problem(item, index)
        if problem is not None:
            return problem
    return UnknownFormat("The messages fit no known format", hint=_HINT)


def _items(wire: Any) -> list[Any] | InputError:
    if isinstance(wire, list):
        return wire
    if not isinstance(wire, dict):
        found = type(wire).__name__
        return UnknownFormat(
            f"A conversation is a list of messages or a request body, not {found}",
            hint="Give a list of messages.",
        )
    key = next((key for key in KEYS if key in wire), None)
    if key is None:
        names = ", ".join(KEYS)
        return UnknownFormat(f"The object has none of the fields {names}", hint=_HINT)
    inner = wire[key].get("messages") if isinstance(wire[key], dict) else wire[key]
    if not isinstance(inner, list):
        return UnknownFormat("the messages are not a list", field=key, hint=_HINT)
    return inner


def _message_problem(item: Any, index: int) -> InputError | None:
    if not isinstance(item, dict):
        if shape_of(item) == "object":
            return None
        found = type(item).__name__
        return UnknownFormat(f"a message is an object, not {found}", index=index, hint=_HINT)
    if "role" not in item and "type" not in item:
        return UnknownFormat("the role is missing", index=index, field="role", hint=_HINT)
    said = item.get("role", item.get("type"))
    field = "role" if "role" in item else "type"
    if not isinstance(said, str):
        return UnknownFormat(f"the {field} is not a string", index=index, field=field, hint=_HINT)
    if said not in _SPEAKERS:
        return UnknownFormat(
            f"unknown {field} {said[:40]!r}", index=index, field=field, hint=_HINT
        )
    return None
