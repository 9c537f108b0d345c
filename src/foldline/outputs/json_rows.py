"""JSON as rows: each object of an array by itself, addressed by its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.outputs.condensed import Condensed
from foldline.outputs.json_text import (
    Child,
    JsonNumber,
    children,
    is_object,
    one_line,
    scan,
    skip,
    write_value,
)
from foldline.outputs.shapes import JsonTable, read_shape, value_of
from foldline.outputs.tables import MISSING, cells, columns, count_values, header, row
from foldline.values.part_text import MAX_LINE

ROW = 1_200
"""Characters of a value that is one row; a larger one is taken apart."""

LONG = 400
"""Characters of a text with line feeds in it from which on its lines are rows of their own."""

DEEPEST = 12
"""How deep values are taken apart."""

FEWEST = 3
"""Objects that make a table."""

_OPENING = ("{", "[")

MOST_ROWS = 200_000
"""Rows that are made of one output."""

HEADER, COUNTS, EDGE = 0.9, 0.5, 0.4
"""Worth of the names of columns, of what is counted, and of the first and last row."""


class JsonRows:
    """The rows of a text, as they are found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: list[str] = []
        self.worth: dict[int, float] = {}
        self.heads: list[int] = []
        self.spans: dict[int, tuple[int, int]] = {}

    def add(self, line: str, worth: float = 0.0, span: tuple[int, int] | None = None) -> None:
        """Add a row; one without end goes over several."""
        if worth:
            self.worth[len(self.lines)] = worth
        if span and len(line) <= MAX_LINE:
            self.spans[len(self.lines)] = span
        if "\n" in line or "\r" in line:
            line = " ".join(line.split())
        for start in range(0, max(1, len(line)), MAX_LINE):
            self.lines.append(line[start : start + MAX_LINE])

    def head(self, line: str, worth: float) -> None:
        """Add a row that says what the following ones belong to."""
        self.heads.append(len(self.lines))
        self.add(line, worth)


def json_rows(text: str, start: int) -> tuple[Condensed, int]:
    """
    Take JSON apart.

    Args:
        text: A text.
        start: Where the object or array begins.

    Returns:
        Its rows, and where it ends; where it is broken off, what was read so far.

    Raises:
        ValueError: There is no JSON.
    """
    rows = JsonRows(text)
    whole = ""
    try:
        end = _walk(rows, start, "", DEEPEST)
        if text[skip(text, end) :][:1] in _OPENING:
            rows, end = _stream(text, start)
    except ValueError:
        if len(rows.lines) < FEWEST:
            raise
        end = max((stop for _, stop in rows.spans.values()), default=len(text))
    else:
        whole = _whole(rows)
    made = Condensed(
        "json",
        tuple(rows.lines),
        rows.worth,
        tuple(rows.heads),
        whole,
        lossless=bool(whole),
        spans=rows.spans,
        source=rows.text,
    )
    return made, end


def _stream(text: str, start: int) -> tuple[JsonRows, int]:
    """Take values apart that follow one another, such as JSON Lines."""
    end = text.rfind("}") + 1
    inner = text[start:end]
    if "}\n{" in inner:
        # Read as an array: what stands where stays the same, but for the bracket in front.
        joined = "[" + inner.replace("\n", ",") + "]"
        rows = JsonRows(joined)
        if _read_shaped(rows, 0, ""):
            return rows, end
    rows, members, place = JsonRows(text), list[Child](), start
    while text[place : place + 1] in _OPENING and len(members) < MOST_ROWS:
        try:
            value, end = scan(text, place)
        except ValueError:
            break
        members.append(Child(len(members), place, end, value))
        place = skip(text, end)
    _array(rows, members, "", DEEPEST)
    return rows, end


def _whole(rows: JsonRows) -> str:
    """Return the table when everything is one, without the numbers of its rows."""
    if rows.heads != [0] or not rows.lines[0].startswith("[…] ") or len(rows.lines[0]) >= MAX_LINE:
        return ""
    body = [rows.lines[place].partition("] ")[2] for place in sorted(rows.spans)]
    counted_rows, _, names = rows.lines[0].partition(": ")
    return "\n".join((names, *body)) if counted_rows == f"[…] {len(body):,} rows" else ""


def _read_shaped(rows: JsonRows, start: int, path: str) -> int:
    """Add the rows of an array of objects of one shape; return where it ends, 0 for another."""
    found = read_shape(rows.text, start)
    if not found or len(found.lines) < FEWEST or not _are_short(found.spans):
        return 0
    _table(rows, path, found)
    return found.end


def _walk(rows: JsonRows, start: int, path: str, depth: int) -> int:
    """Add the rows of the object or array that begins at a position; return where it ends."""
    if rows.text[start] == "[":
        end = _read_shaped(rows, start, path)
        if end:
            return end
    members: list[Child] = []
    broken: ValueError | None = None
    try:
        members.extend(children(rows.text, start))
    except ValueError as error:
        broken = error
    if rows.text[start] == "[":
        _array(rows, members, path, depth)
    else:
        _object(rows, members, path, depth)
    if broken:
        raise broken
    return skip(rows.text, members[-1].end if members else start + 1) + 1


def _array(rows: JsonRows, members: Sequence[Child], path: str, depth: int) -> None:
    values = [member.value for member in members]
    named = columns(values) if len(values) >= FEWEST else None
    spans = [(member.start, member.end) for member in members]
    if named and _are_short(spans):
        lines = [row(value, named) for value in values]
        spelled = [tuple(map(_spell, cells(value, named))) for value in values]
        _table(rows, path, JsonTable(named, lines, spelled, spans))
    elif all(isinstance(value, (str, type(None), bool)) for value in values):
        _scalars(rows, members, path)
    else:
        for member in members[:MOST_ROWS]:
            _member(rows, member, f"{path}[{member.key}]", depth)


def _spell(value: Any) -> str:
    return "" if value is MISSING else write_value(value)


def _are_short(spans: Sequence[tuple[int, int]]) -> bool:
    return all(end - start <= ROW for start, end in spans)


def _table(rows: JsonRows, path: str, table: JsonTable) -> None:
    rows.head(f"{path}[…] {len(table.lines):,} rows: {header(table.paths)}", HEADER)
    first = len(rows.lines)
    lines = table.lines[:MOST_ROWS]
    if max(map(len, lines)) + len(path) + 16 > MAX_LINE or any(
        "\r" in line or "\n" in line for line in lines
    ):
        for number, (line, span) in enumerate(zip(lines, table.spans, strict=False)):
            rows.add(f"{path}[{number}] {line}", 0.0, span)
    else:
        rows.lines += [f"{path}[{number}] {line}" for number, line in enumerate(lines)]
        rows.spans.update(enumerate(table.spans[:MOST_ROWS], first))
    rows.worth.setdefault(first, EDGE)
    rows.worth[len(rows.lines) - 1] = EDGE
    counted = _count_values(table)
    if counted:
        rows.add(f"{path}[…] {counted}", COUNTS)


def _count_values(table: JsonTable) -> str:
    names, by_column = map(".".join, table.paths), zip(*table.cells, strict=True)
    return "; ".join(count_values(names, by_column, lambda v: value_of(v)[:40]))[:ROW]


def _scalars(rows: JsonRows, members: Sequence[Child], path: str) -> None:
    """Put short values together in rows; a long text is taken apart."""
    run: list[Child] = []
    size = 0
    for member in members:
        length = member.end - member.start
        if run and size + length > ROW // 4:
            _run(rows, run, path)
            run, size = [], 0
        if length > LONG:
            _member(rows, member, f"{path}[{member.key}]", 0)
        else:
            run.append(member)
            size += length
    if run:
        _run(rows, run, path)


def _run(rows: JsonRows, run: Sequence[Child], path: str) -> None:
    place = f"{run[0].key}" if len(run) == 1 else f"{run[0].key}-{run[-1].key}"
    rows.add(f"{path}[{place}] " + ", ".join(write_value(member.value) for member in run))


def _object(rows: JsonRows, members: Sequence[Child], path: str, depth: int) -> None:
    """Add what is short in an object as one row, and then what is long."""
    short = [m for m in members if m.end - m.start <= LONG // 2]
    taken = {id(member) for member in short}
    if short:
        inner = ", ".join(f"{write_value(m.key)}: {_slice(rows, m)}" for m in short)
        rows.head(f"{path} {{{inner}}}".lstrip(), 0.0 if path else HEADER)
    for member in members:
        if id(member) not in taken:
            _member(rows, member, f"{path}.{member.key}".lstrip("."), depth)


def _member(rows: JsonRows, member: Child, path: str, depth: int) -> None:
    value, size = member.value, member.end - member.start
    is_text = isinstance(value, str) and not isinstance(value, JsonNumber)
    if is_text and size > LONG and "\n" in value:
        rows.head(f"{path}:", 0.0)
        for line in filter(None, map(str.strip, value.split("\n")[:MOST_ROWS])):
            rows.add(line)
    elif size > ROW and depth and (is_object(value) or isinstance(value, list)):
        _walk(rows, member.start, path, depth - 1)
    else:
        rows.add(f"{path} {_slice(rows, member)}", 0.0, (member.start, member.end))


def _slice(rows: JsonRows, member: Child) -> str:
    return one_line(rows.text[member.start : member.end])
