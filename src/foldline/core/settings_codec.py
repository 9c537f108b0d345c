"""Conversion of settings to and from JSON values; types are checked, and no key is ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from foldline.core.validation import suggest_name
from foldline.errors import BudgetError
from foldline.frozen import fields, frozen

Settings = TypeVar("Settings")


@frozen
class Leaf:
    """One setting: its dotted key, its type and its default."""

    key: str
    type: Any
    default: Any


def leaves(kind: type, within: str = "") -> Iterator[Leaf]:
    """
    Yield every setting of a class, including nested settings.

    Args:
        kind: A frozen class, whose fields all have defaults.
        within: The key prefix of the settings.
    """
    for item in fields(kind):
        hint, key = _hints(kind)[item.name], f"{within}{item.name}"
        if fields(hint):
            yield from leaves(hint, f"{key}.")
        else:
            yield Leaf(key, hint, item.make_default())


def from_plain(kind: type[Settings], value: Any, within: str = "") -> Settings:
    """
    Read settings from JSON values; missing ones have their defaults.

    Args:
        kind: The class.
        value: A mapping of its fields.
        within: The key prefix of the settings, for errors.

    Raises:
        BudgetError: A key is unknown, a value has another type or is invalid.
    """
    if not isinstance(value, Mapping):
        raise BudgetError(f"{within.rstrip('.') or 'The settings'}: expected a table of keys.")
    plain: type = kind
    hints = _hints(plain)
    for key in value:
        if key not in hints:
            raise unknown_key_error(f"{within}{key}", [f"{within}{name}" for name in hints])
    return kind(**{key: _read(hints[key], item, f"{within}{key}") for key, item in value.items()})


def unknown_key_error(key: str, known: list[str]) -> BudgetError:
    """Return the error for an unknown key."""
    last = [name.rpartition(".")[2] for name in known]
    near = suggest_name(key, known) or suggest_name(key.rpartition(".")[2], last)
    return BudgetError(
        f"There is no setting {key[:80]!r}.", hint=f"{near}Known here: {', '.join(last)}."
    )


def optional(hint: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None is allowed."""
    if get_origin(hint) in (Union, UnionType):
        rest = [one for one in get_args(hint) if one is not NoneType]
        if len(rest) == 1:
            return rest[0], NoneType in get_args(hint)
    return hint, False


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {item.name: hints[item.name] for item in fields(kind)}


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _read(hint: Any, value: Any, key: str) -> Any:
    hint, may_be_none = optional(hint)
    if value is None and may_be_none:
        return None
    if fields(hint):
        return from_plain(hint, value, f"{key}.")
    origin = get_origin(hint)
    if origin is tuple and isinstance(value, (list, tuple, set, frozenset)):
        (inner, *_) = get_args(hint)
        return tuple(_read(inner, item, key) for item in value)
    if origin is Literal and value in get_args(hint):
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if (
        isinstance(hint, type)
        and isinstance(value, hint)
        and (hint is bool) == (value is True or value is False)
    ):
        return value
    raise BudgetError(f"{key} must be {_describe_type(hint)}, not {str(value)[:40]!r}.")


def _describe_type(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(repr(name) for name in get_args(hint))
    return _WORDS.get(hint, "a list of texts")
