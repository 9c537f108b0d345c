"""Type checks: arguments of public methods, and fields of stored records."""

from __future__ import annotations

import dataclasses
import inspect
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from itertools import islice
from types import FunctionType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from foldline.errors import InputError

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

MOST: int = 1_000_000
"""Maximum number of items taken from a caller's iterable."""


def typed_methods(kind: Class) -> Class:
    """
    Check the arguments of the public methods of a class by their annotations.

    Strings and numbers of a subclass, whose methods may do anything, become plain ones. Arguments
    annotated as Any, or as a protocol, are passed unchanged.
    """
    for name, member in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, FunctionType) and member.__code__.co_varnames[1:2]:
            setattr(kind, name, typed_call(member))
        elif isinstance(member, classmethod):
            setattr(kind, name, classmethod(typed_call(member.__func__)))
    return kind


def typed_call(function: Function) -> Function:
    """Check the arguments of a function by their annotations; see `typed_methods`."""

    @cache
    def plan() -> tuple[list[str], dict[str, Any]]:
        """Return the names of positional parameters, and the annotations to check."""
        try:
            hints = get_type_hints(function)
        except NameError:  # an annotation that exists only for type checkers
            hints = {}
        known = inspect.signature(function).parameters
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        single = (*by_place, inspect.Parameter.KEYWORD_ONLY)
        return (
            [name for name, one in known.items() if one.kind in by_place],
            {n: hints[n] for n, one in known.items() if one.kind in single and n in hints},
        )

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        ordered, hints = plan()

        def taken(name: str, value: Any) -> Any:
            return check_type(hints[name], value, name) if name in hints else value

        # Python itself reports missing and extra arguments.
        return function(
            *map(taken, ordered, args),
            *args[len(ordered) :],
            **{name: taken(name, value) for name, value in named.items()},
        )

    return cast("Function", checked)


def check_type(hint: Any, value: Any, name: str) -> Any:
    """
    Return an argument as the plain type of an annotation; see `typed_methods`.

    Args:
        hint: The annotation.
        value: What was given.
        name: Of the argument.

    Raises:
        InputError: It is something else.
    """
    try:
        return _convert(hint, value, name)
    except InputError:
        raise
    except Exception as error:  # an object may raise in any method
        raise _wrong(name, "something else", value) from error


def _convert(hint: Any, value: Any, name: str) -> Any:
    """Return a value as the annotated plain type, or unchanged."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        kinds = get_args(hint)
        if value is None and NoneType in kinds:
            return None
        return _of_several([one for one in kinds if one is not NoneType], value, name)
    if hint in (int, float):
        return _number(hint, value, name)
    if origin is Iterable and get_args(hint)[0] is not Any:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise _wrong(name, "a list", value)
        return tuple(_convert(get_args(hint)[0], item, name) for item in islice(value, MOST))
    kind = str if origin is Literal else origin or hint
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return value
    strange = origin is Iterable and isinstance(value, (str, bytes))
    if strange or not isinstance(value, kind):
        raise _wrong(name, _WORDS.get(kind, f"a {kind.__name__}"), value)
    return value if kind is not str or type(value) is str else str.__str__(value)


_LISTS: dict[Any, str] = dict.fromkeys((Iterable, Collection, Sequence), "a list")
_WORDS = {str: "a text", bool: "true or false", NoneType: "true or false", **_LISTS}
_UNIONS = {str: "a text", int: "a whole number", float: "a number", **_LISTS}


def _of_several(kinds: Collection[Any], value: Any, name: str) -> Any:
    errors = list[InputError]()
    for kind in kinds:
        try:
            return _convert(kind, value, name)
        except InputError as caught:
            errors.append(caught)
    words = [_UNIONS.get(get_origin(kind) or kind, "") for kind in kinds]
    known = " or ".join(filter(None, words))
    raise _wrong(name, known, value) if known else errors[0]


def _number(kind: type, value: Any, name: str) -> Any:
    if not isinstance(value, bool):
        if type(value) is kind or (kind is float and type(value) is int):
            return value
        if kind is float and isinstance(value, float):
            return float.__float__(value)
        if hasattr(type(value), "__index__"):
            return operator.index(value)
    raise _wrong(name, "a whole number" if kind is int else "a number", value)


def _wrong(name: str, expected: str, value: Any) -> InputError:
    found = type(value).__name__
    article = "an" if found[:1].lower() in "aeiou" else "a"
    return InputError(f"{expected} is expected here, not {article} {found}", field=name)


def check_fields(record: Any) -> None:
    """
    Check the fields of a value created from unchecked data.

    Records in its fields are assumed to have been checked when they were created.

    Raises:
        TypeError: A field does not have its declared type.
    """
    kind: Any = type(record)
    for name, fits in _tests(kind):
        if not fits(getattr(record, name)):
            raise TypeError(f"{name} of a {kind.__name__} is of the wrong type")


Test: TypeAlias = Callable[[Any], bool]
"""Returns True if a value matches an annotation."""


@cache
def _tests(kind: type[Any]) -> tuple[tuple[str, Test], ...]:
    hints = get_type_hints(kind)
    return tuple((item.name, _test(hints[item.name])) for item in dataclasses.fields(kind))


def _test(hint: Any) -> Test:
    """Create the test of an annotation, cached, since thousands of records share one class."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _: True
    if origin in (Union, UnionType):
        kinds = [_test(one) for one in inner]
        return lambda value: any(fits(value) for fits in kinds)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in inner
    if origin is tuple:
        item = _test(inner[0])
        return lambda value: isinstance(value, tuple) and all(map(item, value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = map(_test, inner)
        return lambda value: (
            isinstance(value, origin) and all(map(key, value)) and all(map(item, value.values()))
        )
    if hint is float:
        return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, hint)
