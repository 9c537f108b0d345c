"""Type-checked access to the fields of wire values; errors name message and field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar, get_args

from foldline.errors import InputError
from foldline.values.messages import Role, Text, Usage

PartKind = TypeVar("PartKind")
Default = TypeVar("Default", str, None)


def expect(value: Any, kinds: type | tuple[type, ...], index: int | None, field: str) -> Any:
    """
    Return ``value`` if it has one of the types.

    Raises:
        InputError: It has another type; the error names message, field, and both types.
    """
    if type(value) is kinds:  # most values, without looking further
        return value
    expected = kinds if isinstance(kinds, tuple) else (kinds,)
    if type(value) in expected or (isinstance(value, expected) and not isinstance(value, bool)):
        return value
    names = " or ".join(_NAMES.get(kind, kind.__name__) for kind in expected)
    found = _NAMES.get(type(value), type(value).__name__)
    raise InputError(f"expected {names}, found {found}", index=index, field=field)


_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


ROLES: Final[Mapping[str, Role]] = {role: role for role in get_args(Role)}
"""The roles of chat messages whose name is the same here."""

TEXT_OR_LIST: Final = (str, list, type(None))

BlockReader: TypeAlias = Callable[[dict[str, Any], int, str], PartKind]


def read_role(wire: Mapping[str, Any], index: int) -> Role:
    """
    Return the role of a chat message.

    Raises:
        InputError: The role is missing or unknown.
    """
    role = ROLES.get(role_name(wire, index))
    if role is None:
        raise InputError(f"unknown role {wire['role']!r}", index=index, field="role")
    return role


def role_name(wire: Mapping[str, Any], index: int) -> str:
    """
    Return what a message calls its role.

    Raises:
        InputError: It has none, or one that is no text.
    """
    if "role" not in wire:
        raise InputError("the role is missing", index=index, field="role")
    name: str = expect(wire["role"], str, index, "role")
    return name


def read_objects(
    value: Any, index: int, field: str, read: BlockReader[PartKind]
) -> list[PartKind]:
    """
    Read each object of a list; None is an empty list.

    Args:
        value: The list.
        index: Position of the message, for errors.
        field: Path of the list, for errors.
        read: Reads one object, given the position of the message and the path of the object.

    Raises:
        InputError: The value is not a list of objects.
    """
    found = []
    for position, item in enumerate(expect(value, (list, type(None)), index, field) or ()):
        path = f"{field}[{position}]"
        found.append(read(expect(item, dict, index, path), index, path))
    return found


def read_content(
    value: Any,
    index: int,
    field: str,
    read: BlockReader[PartKind],
    kinds: tuple[type, ...] = TEXT_OR_LIST,
    *,
    strings: bool = False,
) -> tuple[PartKind | Text, ...]:
    """
    Read content that is a string or a list of blocks.

    Args:
        value: The content; an empty string has no parts.
        index: Position of the message, for errors.
        field: Path of the content, for errors.
        read: Reads one block; see `read_objects`.
        kinds: The accepted types of the content.
        strings: Whether strings are accepted among the blocks.

    Raises:
        InputError: It has another type.
    """
    if isinstance(value, str):
        return (Text(value, value),) if value else ()
    parts: list[PartKind | Text] = []
    for position, item in enumerate(expect(value, kinds, index, field) or ()):
        if strings and isinstance(item, str):
            parts.append(Text(item, item))
            continue
        path = f"{field}[{position}]"
        parts.append(read(expect(item, dict, index, path), index, path))
    return tuple(parts)


def read_answered_call(wire: Mapping[str, Any], index: int) -> tuple[str | None, str]:
    """
    Return the id of the call that a tool message answers, and the name of the tool or "".

    Raises:
        InputError: Both are missing.
    """
    number = expect(wire.get("tool_call_id"), (str, type(None)), index, "tool_call_id")
    name = wire.get("name")
    if number is None and not isinstance(name, str):
        raise InputError(
            "a tool message without tool_call_id",
            index=index,
            field="tool_call_id",
            hint="Every tool result must name the call that it answers.",
        )
    return number, name if isinstance(name, str) else ""


def text_or(value: Any, default: Default) -> str | Default:
    """Return a value if it is a string that is not empty, else the default."""
    return value if isinstance(value, str) and value else default


def token_counts(value: Any, *keys: str) -> list[int]:
    """Return the counts under some keys of an object, 0 for a value that is not positive."""
    counts = [value.get(key) for key in keys] if isinstance(value, dict) else [None] * len(keys)
    return [count if isinstance(count, int) and count > 0 else 0 for count in counts]


def usage_of(given: int, output: int, cached: int = 0, written: int = 0) -> Usage | None:
    """
    Return the usage reported by a wire whose input count includes cached tokens.

    Some providers report them separately: then they may exceed the input, and are still counted.

    Args:
        given: Tokens of input.
        output: Tokens of output.
        cached: Tokens read from the cache.
        written: Tokens written to the cache.

    Returns:
        The usage, None if no token was counted.
    """
    usage = Usage(max(0, given - cached - written), output, cached, written)
    return usage if usage.total else None


@contextmanager
def prefix_errors(name: str | Callable[[InputError], str]) -> Iterator[None]:
    """
    Prefix the message of an input error with a name.

    Args:
        name: The location, such as "line 3", or a function that returns it for an error; "" for
            no prefix.
    """
    try:
        yield
    except InputError as error:
        what = name if isinstance(name, str) else name(error)
        if not what:
            raise
        named = InputError(f"{what}, {error.message}", hint=error.hint)
        named.index, named.field = error.index, error.field
        raise named from error


def body(wire: Any, key: str) -> tuple[list[Any], dict[str, Any] | None]:
    """
    Split a request body into its messages and the rest.

    Args:
        wire: A list of messages, or a dict that holds them under ``key``.
        key: The field of the messages, such as "messages", "input" or "contents"; "" if only a
            list is accepted.

    Returns:
        The messages, and the body that held them (None for a bare list).
    """
    if isinstance(wire, dict) and key:
        return expect(wire.get(key), list, None, key), wire
    return expect(wire, list, None, ""), None


@contextmanager
def bounded_nesting() -> Iterator[None]:
    """
    Report a value that is nested deeper than the interpreter's recursion limit.

    Raises:
        InputError: In place of a RecursionError.
    """
    try:
        yield
    except RecursionError as error:
        raise InputError(
            "A value is nested too deeply", hint="Flatten it; no model reads hundreds of levels."
        ) from error
