"""JSON values made only of built-in types, so that no foreign method is called."""

from __future__ import annotations

from operator import is_
from typing import Any, Final

DEEPEST: Final = 200
"""Maximum depth of conversion; the reader rejects deeper nesting."""


def plain(value: Any) -> Any:
    """
    Return a JSON value with subclasses of str, list and dict replaced by plain ones.

    A subclass may override any method, or raise. Values that are not JSON are unchanged.

    Args:
        value: Any value.

    Returns:
        The value itself if nothing had to change, else a copy of the changed parts.
    """
    return _plain(value, DEEPEST)


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or not depth:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, dict):
        return _object(value, depth - 1)
    if issubclass(kind, list):
        items = [_plain(item, depth - 1) for item in list.__iter__(value)]
        return value if kind is list and all(map(is_, items, value)) else items
    return value


def _object(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    pairs = [
        (_plain(key, 1), _plain(member, depth), key, member) for key, member in dict.items(value)
    ]
    if type(value) is dict and all(k is key and v is member for k, v, key, member in pairs):
        return value
    return {key: member for key, member, _, _ in pairs}
