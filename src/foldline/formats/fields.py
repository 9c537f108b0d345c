"""Fields of wire values: read and checked, or an error that names message and field."""

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
        InputError: Naming message, field, what was found and what was expected.
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
"""The roles of chat messages that are called what they are called here."""

TEXT_OR_LIST: Final = (str, list, type(None))

BlockReader: TypeAlias = Callable[[dict[str, Any], int, str], PartKind]


def read_role(wire: Mapping[str, Any], index: int) -> Role:
    """
    Return the role of a chat message.

    Raises:
        InputError: There is none, or it is not known.
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
    Read each object of a list; None is an empty one.

    Args:
        value: The list.
        index: Position of the message, for errors.
        field: Path of the list, for errors.
        read: Reads one object, given the position of the message and the path of the object.

    Raises:
        InputError: It is no list, or something else than an object is in it.
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
    Read content that is a text or a list of blocks.

    Args:
        value: The content; an empty text is nothing.
        index: Position of the message, for errors.
        field: Path of the content, for errors.
        read: Reads one block; see `read_objects`.
        kinds: What the content may be.
        strings: Whether texts may stand among the blocks.

    Raises:
        InputError: It is of another type.
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
        InputError: There is neither.
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
    """Return a value if it is a text with something in it, else the default."""
    return value if isinstance(value, str) and value else default


def token_counts(value: Any, *keys: str) -> list[int]:
    """Return the numbers under some keys of an object, 0 for what is no positive number."""
    counts = [value.get(key) for key in keys] if isinstance(value, dict) else [None] * len(keys)
    return [count if isinstance(count, int) and count > 0 else 0 for count in counts]


def usage_of(given: int, output: int, cached: int = 0, written: int = 0) -> Usage | None:
    """
    Return a usage of wires that count within the input what the cache gave and took.

    Some providers report it beside the input: it is then more than the input, and still counts.

    Args:
        given: Tokens of input.
        output: Tokens of output.
        cached: Tokens read from the cache.
        written: Tokens written to the cache.

    Returns:
        The usage, None where no token was counted.
    """
    usage = Usage(max(0, given - cached - written), output, cached, written)
    return usage if usage.total else None


@contextmanager
def prefix_errors(name: str | Callable[[InputError], str]) -> Iterator[None]:
    """
    Put a name before the message of an error about the input.

    Args:
        name: What was read, such as "line 3", or what says so of an error; "" for nothing.
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
        key: Where the messages are, such as "messages", "input" or "contents"; "" where only a
            list is allowed.

    Returns:
        The messages, and the body that held them (None when a bare list came).
    """
    if isinstance(wire, dict) and key:
        return expect(wire.get(key), list, None, key), wire
    return expect(wire, list, None, ""), None


@contextmanager
def bounded_nesting() -> Iterator[None]:
    """
    Name the reason when a value is nested deeper than the interpreter follows.

    Raises:
        InputError: Instead of the RecursionError.
    """
    try:
        yield
    except RecursionError as error:
        raise InputError(
            "A value is nested too deeply", hint="Flatten it; no model reads hundreds of levels."
        ) from error
