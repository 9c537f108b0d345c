"""JSON as text: change lists inside a document and leave every other character as it was."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from foldline.errors import InputError

Path: TypeAlias = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED_TEXT = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_read = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Member:
    """
    A value inside an object or a list, and where it stands in the text.

    The key of an object's member goes from ``opens`` to ``closes``; in a list both are ``start``.
    """

    key: str | int
    opens: int
    closes: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """
    How a piece of JSON is laid out.

    ``indent`` is one step of indentation (None for one line), ``base`` the white space that every
    further line starts with, ``ascii_only`` whether other characters are escaped.
    """

    indent: str | None = None
    base: str = ""
    comma: str = ", "
    colon: str = ": "
    ascii_only: bool = False

    def dumps(self, value: Any) -> str:
        """
        Write a value.

        Raises:
            InputError: The value is nested too deeply to be written.
        """
        try:
            text = self._dumps(value, self.ascii_only)
        except RecursionError as error:
            raise InputError("a value is nested too deeply to be written") from error
        if not self.ascii_only and not _encodable(text):  # half of a surrogate pair
            text = self._dumps(value, ascii_only=True)
        return text.replace("\n", "\n" + self.base) if self.base else text

    def _dumps(self, value: Any, ascii_only: bool) -> str:
        return json.dumps(
            value,
            indent=self.indent,
            separators=(self.comma, self.colon),
            ensure_ascii=ascii_only,
        )


def escapes(text: str) -> bool:
    """Tell whether a document escapes every character outside ASCII."""
    return text.isascii() and _ESCAPED_TEXT.search(text) is not None


def style_of(text: str, start: int = 0, base: str = "") -> JsonStyle:
    """
    Find out how the value at ``start`` is laid out.

    Args:
        text: The whole document.
        start: Where the value begins.
        base: White space at the beginning of the line on which the value stands.
    """
    inside = list(members(text, start, 2))
    ascii_only = escapes(text)
    if not inside:
        return JsonStyle(base=base, ascii_only=ascii_only)
    lead = text[start + 1 : inside[0].opens]
    colon = text[inside[0].closes : inside[0].start] or ": "
    if "\n" in lead:
        indent = lead.rsplit("\n", 1)[1].removeprefix(base) or "  "
        return JsonStyle(indent, base, ",", colon, ascii_only)
    comma = text[inside[0].end : inside[1].opens] if len(inside) > 1 else ", "
    return JsonStyle(None, base, ", " if "\n" in comma else comma, colon, ascii_only)


def members(text: str, start: int, limit: int | None = None) -> Iterator[Member]:
    """
    Yield the values of the object or list at ``start``, with their places in the text.

    The text must be valid JSON. A value that is neither object nor list has no members.
    """
    kind, position, index = text[start], _skip(text, start + 1), 0
    if kind not in "{[":
        return
    while text[position] not in "}]" and (limit is None or index < limit):
        opens, key = position, index
        closes = position
        if kind == "{":
            key, closes = _read(text, position)
            position = _skip(text, _skip(text, closes) + 1)
        _, end = _read(text, position)
        yield Member(key, opens, closes, position, end)
        index += 1
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def replaced(text: str, document: Any, changes: Mapping[Path, Any]) -> str:
    """
    Write a document again with other values at some paths.

    Items of a new list that are the very objects of the old list keep their text, character by
    character; everything outside the changed values does too.

    Args:
        text: The document as it stands.
        document: What ``json.loads(text)`` gave.
        changes: The new value for each path, such as ``("values", "messages")``.

    Returns:
        The new text.
    """
    start = _skip(text, 0)
    pieces, done = [], 0
    for begin, end, new in sorted(_rewrites(text, start, document, changes)):
        pieces += [text[done:begin], new]
        done = end
    return "".join((*pieces, text[done:]))


def _rewrites(
    text: str, start: int, value: Any, changes: Mapping[Path, Any]
) -> Iterator[tuple[int, int, str]]:
    if () in changes:
        yield _rewrite(text, start, value, changes[()])
        return
    deeper: dict[str | int, dict[Path, Any]] = defaultdict(dict)
    for path, new in changes.items():
        deeper[path[0]][path[1:]] = new
    # The last of repeated keys is the one that counts, as for json.loads.
    places = {member.key: member for member in members(text, start) if member.key in deeper}
    for key, member in places.items():
        yield from _rewrites(text, member.start, value[key], deeper[key])


def _rewrite(text: str, start: int, old: Any, new: Any) -> tuple[int, int, str]:
    end = _read(text, start)[1]
    if not isinstance(old, list) or not isinstance(new, Sequence) or isinstance(new, str):
        return start, end, style_of(text, start, _base(text, start)).dumps(new)
    places = list(members(text, start))
    if not new:
        return start, end, "[]"
    style, lead, comma, tail = _list_layout(text, start, end, places)
    kept = {id(item): place for item, place in zip(old, places, strict=True)}
    items = []
    for item in new:
        place = kept.get(id(item))
        items.append(text[place.start : place.end] if place else style.dumps(item))
    return start, end, f"[{lead}{comma.join(items)}{tail}]"


def _list_layout(
    text: str, start: int, end: int, places: Sequence[Member]
) -> tuple[JsonStyle, str, str, str]:
    if not places:
        return JsonStyle(ascii_only=escapes(text)), "", ", ", ""
    lead, tail = text[start + 1 : places[0].start], text[places[-1].end : end - 1]
    base = lead.rsplit("\n", 1)[1] if "\n" in lead else ""
    filled = next((place for place in places if place.end - place.start > 2), places[0])
    style = style_of(text, filled.start, base)
    comma = text[places[0].end : places[1].start] if len(places) > 1 else ""
    return style, lead, comma or ("," + lead if lead else style.comma), tail


def _base(text: str, start: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line[: len(line) - len(line.lstrip())]


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
