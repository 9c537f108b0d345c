"""
Parse and patch Markdown files with YAML front matter; only changed fields are rewritten.

Every value is read as a string, list or mapping: ``yes`` and ``2025-01-19`` stay strings. Anchors
are refused, depth and size bounded. A changed field replaces its own lines; comments, order and
unknown fields stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from textwrap import indent
from typing import Any, Final

import yaml

from foldline.frozen import field, frozen
from foldline.notes.note import BrokenNote

LARGEST_HEAD: Final = 128 * 1024
"""The maximum length of front matter in characters."""

DEEPEST: Final = 8
MOST_VALUES: Final = 10_000

RAW: Final = frozenset({"created_at", "updated_at"})
"""Fields whose values are written without quotes, such as dates."""

_LOADER: Final[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_OPENING: Final = re.compile(r"---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_FOREIGN_BREAK: Final = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


@frozen
class MarkdownFile:
    """
    A parsed file.

    ``fields`` is the front matter, ``lines`` its original lines, ``starts`` the first line of each
    field, empty if fields cannot be replaced by lines. ``body`` is the rest.
    """

    fields: Mapping[str, Any]
    body: str
    lines: tuple[str, ...] = field(default=(), repr=False)
    starts: Mapping[str, int] = field(default_factory=dict, repr=False)


def parse_file(data: bytes) -> MarkdownFile:
    """
    Parse a file.

    Raises:
        BrokenNote: It has no front matter, or it is invalid; the error says why.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenNote(f"it is not UTF-8 (byte {error.start})") from error
    opening = _OPENING.match(text)
    closing = (
        _CLOSING.search(text, opening.end(), opening.end() + LARGEST_HEAD) if opening else None
    )
    if opening is None or closing is None:
        raise BrokenNote("it has no front matter between lines of ---")
    head = text[opening.end() : closing.start()]
    fields, starts = _parse_head(head)
    lines = tuple(f"{line}\n" for line in head.split("\n")[:-1])
    lines = () if _FOREIGN_BREAK.search(head) else lines
    apart = lines and len(set(starts.values())) == len(starts)
    body = text[closing.end() :]
    end = "\r\n" if opening.group().endswith("\r\n") else "\n"
    body = body.removeprefix(end).removesuffix(end)
    return MarkdownFile(fields, body, lines, starts if apart else {})


def format_file(fields: Mapping[str, Any], body: str) -> bytes:
    """Format a file with these fields, in order, and a body."""
    return _join([_line(name, value) for name, value in fields.items()], body)


def patch_file(page: MarkdownFile, changes: Mapping[str, Any], body: str) -> bytes:
    """
    Return a file with some fields changed, and everything else as it was.

    Args:
        page: The current file.
        changes: New values of fields; None removes a field.
        body: The new body.
    """
    if not page.starts:
        merged = {**page.fields, **changes}
        return format_file({name: v for name, v in merged.items() if v is not None}, body)
    ends = [*sorted(page.starts.values())[1:], len(page.lines)]
    first = min(page.starts.values())
    out, left = list(page.lines[:first]), dict(changes)
    for (name, start), end in zip(
        sorted(page.starts.items(), key=lambda item: item[1]), ends, strict=True
    ):
        lines = page.lines[start:end]
        if name not in left:
            out += lines
            continue
        value = left.pop(name)
        out += [] if value is None else [_line(name, value)]
        out += lines[_own(lines) :]
    out += [_line(name, value) for name, value in left.items() if value is not None]
    return _join(out, body)


def _own(lines: tuple[str, ...]) -> int:
    """Count the lines of a field without the blank lines and comments that follow it."""
    count = len(lines)
    while count > 1 and (not lines[count - 1].strip() or lines[count - 1].startswith("#")):
        count -= 1
    return count


def _join(lines: list[str], body: str) -> bytes:
    text = f"---\n{''.join(lines)}---\n\n{body}\n"
    return text.encode("utf-8", "replace")


def _line(name: str, value: Any) -> str:
    if name in RAW:
        return f"{name}: {value}\n"
    settings: dict[str, Any] = {"allow_unicode": True, "sort_keys": False, "width": 1 << 30}
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(map(_scalar, value))}]\n"
    elif isinstance(value, dict):
        text = "\n" + indent(yaml.safe_dump(value, default_flow_style=False, **settings), "  ")
    else:
        text = f"{_scalar(value)}\n"
    return f"{_scalar(name)}: {text}"


def _scalar(value: Any) -> str:
    """Format a string or number on one line, also valid inside a YAML flow list."""
    if isinstance(value, str) and not value.isprintable():
        return f'"{"".join(map(_escape, value))}"'
    settings: dict[str, Any] = {"allow_unicode": True, "width": 1 << 30}
    dumped: str = yaml.safe_dump([value], default_flow_style=True, **settings)
    return dumped.strip()[1:-1]


def _escape(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


# --- front matter ------------------------------------------------------------------------------


def _parse_head(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the fields and the first line of each; no lines if they cannot be replaced."""
    try:
        events = iter(_bounded_events(head))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" on line {mark.line + 2}" if mark else ""
        what = getattr(error, "problem", None) or str(error)
        raise BrokenNote(f"its front matter is not YAML: {what}{where}") from error
    top = next(events, None)
    if not isinstance(top, yaml.MappingStartEvent):
        raise BrokenNote("its front matter is not a mapping of names to values")
    fields, starts = _mapping(events)
    if next(events, None) is not None:
        raise BrokenNote("its front matter has two documents")
    # Fields in braces or indented ones cannot be replaced line by line.
    mark = top.start_mark
    by_lines = not top.flow_style and mark is not None and mark.column == 0
    return fields, starts if by_lines else {}


def _bounded_events(head: str) -> list[Any]:
    """Parse YAML into nodes and ends of collections, checking the limits one by one."""
    out: list[Any] = []
    depth = count = 0
    for event in yaml.parse(head, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise BrokenNote("its front matter has anchors or aliases, which are not supported")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        count += isinstance(event, yaml.NodeEvent)
        if depth > DEEPEST:
            raise BrokenNote(f"its front matter is nested deeper than {DEEPEST} levels")
        if count > MOST_VALUES:
            raise BrokenNote(f"its front matter has more than {MOST_VALUES:,} values")
        if isinstance(event, (yaml.NodeEvent, yaml.CollectionEndEvent)):
            out.append(event)
    return out


def _mapping(events: Iterator[Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """Read the rest of a mapping, and the line of each of its keys."""
    out: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key in takewhile(_is_node, events):
        line = key.start_mark.line
        if not isinstance(key, yaml.ScalarEvent):
            raise BrokenNote("a name in its front matter is not text")
        if key.value in out:
            raise BrokenNote(f"its front matter has {key.value[:60]!r} twice")
        lines[key.value] = line
        out[key.value] = _value(next(events), events)
    return out, lines


def _value(event: Any, events: Iterator[Any]) -> Any:
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, yaml.MappingStartEvent):
        return _mapping(events)[0]
    return [_value(item, events) for item in takewhile(_is_node, events)]


def _is_node(event: Any) -> bool:
    return isinstance(event, yaml.NodeEvent)
