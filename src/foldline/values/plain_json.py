"""JSON values whose texts and containers are Python's own, so that no foreign method is called."""

from __future__ import annotations

from operator import is_
from typing import Any, Final

DEEPEST: Final = 200
"""Levels that are looked at; what is nested deeper is refused by the reader."""


def plain(value: Any) -> Any:
    """
    Return a JSON value with plain texts, lists and objects in the place of subclasses of them.

    A subclass may change what any method does, or raise. What is no JSON value stays as it is.

    Args:
        value: Any value.

    Returns:
        The value itself where nothing in it had to change, else a copy of what did.
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
