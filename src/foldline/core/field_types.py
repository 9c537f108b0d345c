"""Whether the fields of a record have the types that they are declared with."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def check_fields(record: Any) -> None:
    """
    Check the fields of a record that was made from data nobody has looked at.

    Records in its fields are taken to have been checked when they were made.

    Raises:
        TypeError: A field holds something else than it declares.
    """
    kind: Any = type(record)
    for name, hint in _hints(kind):
        if not _fits(hint, getattr(record, name)):
            raise TypeError(f"{name} of a {kind.__name__} is of the wrong type")


@cache
def _hints(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((item.name, hints[item.name]) for item in fields(kind))


def _fits(hint: Any, value: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(one, value) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(inner[0], item) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _fits(inner[0], key) and _fits(inner[1], item) for key, item in value.items()
        )
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
