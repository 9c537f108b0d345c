"""Lines of a text: numbered, selected by range or JSON path, without repeated prefixes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import prod
from typing import Any, Final

from foldline.errors import RecallError
from foldline.frozen import frozen
from foldline.values.identity import shared_length

MOST_VALUES: Final = 20_000
"""Maximum number of values of one line; a line with more is not split."""

MOST_NAMED: Final = 4_000_000
"""Characters of the paths of all values of a line; one with more stands as it is."""

_NESTED: Final = 100
"""Maximum depth of nested values that are split."""


@frozen
class Line:
    """
    One line of a text.

    Args:
        number: Counted from 1; lines of JSON values have the number of their record.
        text: The text of the line.
        path: The JSON path of the value that it belongs to, "" for a plain line.
        goes_before: Whether it is a piece of a line that begins before it.
        goes_on: Whether it is a piece of a line that goes on after it.
    """

    number: int
    text: str
    path: str = ""
    goes_before: bool = False
    goes_on: bool = False


def read_lines(text: str, wide: int) -> Iterator[Line]:
    """
    Yield the lines of a text.

    Args:
        text: The text; only line feeds separate lines.
        wide: Lines of JSON longer than this, in characters, are split into values.
    """
    for line in number_lines(text):
        yield from (json_lines(line) if len(line.text) > wide else []) or [line]


def write_lines(lines: Sequence[Line]) -> str:
    """Write lines; the name of a JSON value stands before its first one, ``…`` for a rest."""
    out, before = list[str](), ""
    for line in lines:
        if out and line.goes_before:
            out[-1] += line.text
        else:
            rest = "…" if line.goes_before else ""
            out.append(f"{value_name(line, before)}{rest}{line.text}")
        before = line.path
    return "\n".join(out) + ("…" if lines and lines[-1].goes_on else "")


def value_name(line: Line, before: str) -> str:
    """Return what stands before a line behind one of the path ``before``."""
    name = line.path.removeprefix("$").removeprefix(".") if line.path != before else ""
    return f"{name}: " if name else ""


def json_lines(line: Line) -> list[Line]:
    """Split a line of JSON into the lines of its values; none if it is not JSON."""
    return [
        Line(line.number, piece, path)
        for path, value in json_values(line.text) or ()
        for piece in value.split("\n")
    ]


def json_values(line: str) -> list[tuple[str, str]] | None:
    """Return path and text of each value in a line of JSON; None if it is not JSON."""
    bare = line.strip()
    if bare[:1] not in ("{", "[") or bare[-1:] not in ("}", "]"):
        return None
    try:
        out, named = list[tuple[str, str]](), 0
        for found in _walk(json.loads(bare), "$", 0):
            out.append(found)
            named += len(found[0])
            if len(out) > MOST_VALUES or named > MOST_NAMED:
                return None
    except (ValueError, RecursionError):
        return None
    return out


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth < _NESTED and isinstance(value, dict) and value:
        for key, inner in value.items():
            step = f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"
            yield from _walk(inner, path + step, depth + 1)
    elif depth < _NESTED and isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{index}]", depth + 1)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


MAX_PATTERN: Final = 500
MAX_MATCHES: Final = 1_000
MAX_VISITS: Final = 100
"""Maximum visits of a JSON path to one value; its unions multiply."""

_RANGE: Final = re.compile(r"(-?\d{1,9})?(?:(:)(-?\d{1,9})?)?")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def number_lines(text: str) -> list[Line]:
    """Split a text into numbered lines; only line feeds separate lines."""
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]


def choose_lines(lines: list[Line], line_range: str) -> list[Line]:
    """
    Select lines by number.

    Args:
        lines: All lines.
        line_range: ``A:B``, both ends included and counted from 1; negative numbers count from the
            end (-1 is the last line), a missing end is open, ``A`` alone is one line.

    Raises:
        RecallError: The range is invalid, or contains no line.
    """
    found = _RANGE.fullmatch(line_range.strip())
    if found is None or not any(found.groups()):
        raise RecallError(
            f"{line_range[:40]!r} is not a range of lines.",
            hint='Give "A:B" such as "10:20", "-50:" for the last 50, or one number.',
        )
    first, colon, last = found.groups()
    start = _position(first, len(lines), 1)
    end = _position(last, len(lines), len(lines)) if colon else start
    picked = lines[max(0, start - 1) : max(0, end)]
    if not picked:
        raise RecallError(
            f"No line is in {line_range.strip()!r}.", hint=f"There are {len(lines):,} lines."
        )
    return picked


def _position(number: str | None, size: int, default: int) -> int:
    if number is None:
        return default
    value = int(number)
    return value + size + 1 if value < 0 else value


# --- JSON path -----------------------------------------------------------------------------


def at_path(text: str, path: str) -> str:
    """
    Select values from a JSON text.

    Args:
        text: A JSON text.
        path: A JSON path of RFC 9535 without ``match`` and ``search``; ``$.`` may be omitted.

    Returns:
        A string unchanged; another value, or the list of several matches, as indented JSON.

    Raises:
        RecallError: The text is not JSON, or the path is invalid, too costly, or matches nothing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecallError(
            f"The content is not JSON, so that it has no paths: {error}.",
            hint="Use lines or grep.",
        ) from error
    found = _values(value, _check_path(path))
    if not found:
        raise RecallError(f"The path {path[:80]!r} matches nothing.", hint=_keys(value))
    chosen_value = found[0] if len(found) == 1 else found
    if isinstance(chosen_value, str):
        return chosen_value
    return json.dumps(chosen_value, ensure_ascii=False, indent=2)


def _check_path(path: str) -> str:
    """Return the full path; refuse paths whose cost is more than proportional to the text."""
    full = path if path.startswith("$") else f"${path}" if path[:1] in "[." else f"$.{path}"
    bare = _QUOTED.sub("", full)
    # Each further selector in brackets visits all descendants once more.
    visits = prod(segment.count(",") + 1 for segment in bare.split("]"))
    dear = visits > MAX_VISITS or bare.count("..") > 1 or bare.count("$") > 1
    if len(full) > MAX_PATTERN or dear:
        raise RecallError(
            f"The path {path[:80]!r} may take too long.",
            hint='Use at most one "..", "$" only at the beginning, and few commas.',
        )
    return full


def _values(value: Any, path: str) -> list[Any]:
    from itertools import islice

    from jsonpath import JSONPathEnvironment, JSONPathError

    engine = JSONPathEnvironment(strict=True)
    # Both run regular expressions without a timeout.
    for name in ("match", "search"):
        engine.function_extensions.pop(name, None)
    try:
        return [match.obj for match in islice(engine.finditer(path, value), MAX_MATCHES)]
    except (JSONPathError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise RecallError(f"The path {path[:80]!r} cannot be followed: {first}.") from error


def _keys(value: Any) -> str:
    if isinstance(value, dict):
        return f"The top level has: {', '.join(map(str, list(value)[:20]))}."
    size = f" of {len(value)}" if isinstance(value, list) else ""
    return f"The top level is a {type(value).__name__}{size}."


_NUMBER: Final = re.compile(r"\s*\d{1,7}\s*[:|→\t-]")

_LISTED: Final = re.compile(r"\s*\d{1,7}[→\t]")

_LOCATED: Final = re.compile(r"(?P<path>[^\s:]{0,200}[./][^\s:]{0,200}[:-])(?=\d{1,7}[:-])")


_FOLDER: Final = re.compile(r"(?=[\w.~@/])(?:[\w.~@+-]*/)+(?=[\w.@+-])")

SHARED: Final = 12
"""Folders shorter than this, in characters, stay in each line."""


@frozen
class PathCut:
    """
    What of a path at the beginning of a line stands before it already.

    Args:
        above: Lines to write before it: the folder of several files, the file of several lines.
        size: Characters that the line leaves out at its beginning.
        sign: What stands in their place.
    """

    above: tuple[str, ...] = ()
    size: int = 0
    sign: str = ""

    @property
    def moved(self) -> int:
        """How many characters what follows stands further left."""
        return self.size - len(self.sign)


def merge_prefixes(lines: Sequence[str]) -> list[str]:
    """Return lines with the folder and the file that several begin with once, before them."""
    out = list[str]()
    for line, cut in zip(lines, cut_paths(lines), strict=True):
        out += [*cut.above, f"{cut.sign}{line[cut.size :]}"]
    return out


def cut_paths(lines: Sequence[str]) -> list[PathCut]:
    """Return for each line what of its path those before it say: ``…/`` is the last folder."""
    files = [path_prefix(line) for line in lines]
    runs = [list(run) for _, run in groupby(range(len(lines)), lambda at: files[at] or at)]
    out, last = list[PathCut](), ""
    folders = _shared_folders([_folder(lines[run[0]]) for run in runs])
    for run, folder in zip(runs, folders, strict=True):
        above = [folder] if folder not in ("", last) else []
        last, file, sign = folder or last, files[run[0]], "…/" if folder else ""
        cut, again = len(folder), sign
        if len(run) > 1:
            above.append(f"{sign}{file[cut:]}")
            cut, again = len(file), ""
        for at in run:
            blanks = len(lines[at]) - len(lines[at].lstrip()) if cut else 0
            out.append(PathCut(tuple(above), blanks + cut, again))
            above = []
    return out


def _shared_folders(folders: Sequence[str]) -> list[str]:
    """Return the folder that each shares with its neighbours; "" where it saves nothing."""
    groups = list[tuple[str, list[int]]]()
    for at, folder in enumerate(folders):
        shared, members = groups[-1] if groups else ("", [])
        common = folder[: folder.rfind("/", 0, shared_length(shared, folder)) + 1]
        # What is left of the folder has to save more than those before give up.
        if len(common) >= max(SHARED, len(members) * (len(shared) - len(common))):
            members.append(at)
            groups[-1] = common, members
        elif folder:
            groups.append((folder, [at]))
    out = [""] * len(folders)
    for shared, members in groups:
        for at in members if len(members) > 1 else ():
            out[at] = shared
    return out


def _folder(line: str) -> str:
    """Return the folder of the path that a line begins with, "" without one."""
    bare = line.lstrip()[:420]
    file = path_prefix(bare)
    found = _FOLDER.match(bare)
    folder = file[: file.rfind("/") + 1] if file else found[0] if found else ""
    return folder if any(map(str.isalpha, folder)) else ""


def path_prefix(line: str) -> str:
    """Return the path, with its colon, at the start of a line of search output, else ""."""
    found = _LOCATED.match(line.lstrip()[:420])
    return found["path"] if found else ""


def dedent(lines: Sequence[str]) -> list[str]:
    """Return lines without shared indentation, and without blanks before a line number."""
    lines = [line.lstrip() if _LISTED.match(line[:40]) else line.rstrip() for line in lines]
    blanks = (len(line) - len(line.lstrip(" \t")) for line in lines if line.strip())
    shared = min(blanks, default=0)
    return [line[shared:] for line in lines]


def essence(line: str) -> str:
    """Return the text of a line without a line number and surrounding blanks."""
    found = _NUMBER.match(line[:40])
    return line[found.end() if found else 0 :].strip()
