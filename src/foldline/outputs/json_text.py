"""JSON read piece by piece, with every number spelled as it was, and written again exactly."""

import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from foldline.lazy import lazy_pattern

_SPACE = lazy_pattern(r"[ \t\n\r]*")
_LAYOUT = lazy_pattern(r'("(?:[^"\\]|\\.)*")|\s*([,:])\s*|\s+')
_PARTED = {",": ", ", ":": ": "}


class JsonNumber(str):
    """A number or constant, spelled as in its source: no digit is lost on the way."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_float=JsonNumber,
    parse_int=JsonNumber,
    parse_constant=JsonNumber,
)
_CONSTANTS = {None: "null", True: "true", False: "false"}


class Child(NamedTuple):
    """A member of an object (``key`` is text) or an array (a number), and where its value is."""

    key: str | int
    start: int
    end: int
    value: Any


def scan(text: str, start: int) -> tuple[Any, int]:
    """
    Read the value that begins at a position.

    Objects come as tuples of pairs, so that doubled keys are seen; arrays as lists.

    Returns:
        The value, and where it ends.

    Raises:
        ValueError: There is no value, or it is nested too deeply.
    """
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def skip(text: str, position: int) -> int:
    """Return the position of the first character that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def children(text: str, start: int) -> Iterator[Child]:
    """
    Read the members of the object or array that begins at a position, one by one.

    Raises:
        ValueError: It is broken at the member that would come next.
    """
    closing = "}" if text[start] == "{" else "]"
    position, count = skip(text, start + 1), 0
    while position < len(text) and text[position] != closing:
        key: str | int = count
        if closing == "}":
            if text[position] != '"':
                raise ValueError("a key that is no text")
            key, position = scan(text, position)
            position = skip(text, position)
            if text[position : position + 1] != ":":
                raise ValueError("an object without a key")
            position = skip(text, position + 1)
        value, end = scan(text, position)
        yield Child(key, position, end, value)
        count += 1
        position = skip(text, end)
        if text[position : position + 1] == ",":
            position = skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise ValueError("no comma")
    if position >= len(text):
        raise ValueError("not closed")


def is_object(value: Any) -> bool:
    """Return True if a value that was read is an object."""
    return isinstance(value, tuple)


def write_value(value: Any) -> str:
    """Write a value that was read; characters are not escaped, numbers are spelled as before."""
    if isinstance(value, JsonNumber):
        return str(value)
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, tuple):
        inner = ", ".join(f"{encode_basestring(key)}: {write_value(item)}" for key, item in value)
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return _CONSTANTS[value]


def one_line(text: str) -> str:
    """Write JSON that goes over several lines on one; what stands in strings is not touched."""
    if "\n" not in text:
        return text
    return _LAYOUT.sub(_with_space, text)


def _with_space(match: re.Match[str]) -> str:
    return match.group(1) or _PARTED.get(match.group(2), "")
