"""The way back from what outputs are condensed to: proves that nothing is lost."""

import re

from foldline.outputs.json_text import JsonNumber, scan
from foldline.outputs.tables import MISSING

_CONSTANTS = {"null": None, "true": True, "false": False}
_NAME = re.compile(r"[\w$@-]+")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN")


def parse(lines):
    """
    Read a table again.

    Args:
        lines: The names of the columns, and the rows.

    Returns:
        The objects, as tuples of pairs.

    Raises:
        ValueError: It is no such table.
    """
    paths = _paths(lines[0])
    return [_object(_cells(line), paths) for line in lines[1:]]


def _paths(line):
    paths = []
    position, path = 0, []
    while True:
        if line[position : position + 1] == '"':
            key, position = scan(line, position)
        else:
            match = _NAME.match(line, position)
            if match is None:
                raise ValueError(f"no name of a column at {position}")
            key, position = match.group(), match.end()
        path.append(key)
        if line.startswith(".", position):
            position += 1
            continue
        paths.append(tuple(path))
        path = []
        if position >= len(line):
            return paths
        position += 2


def _cells(line):
    found = []
    position = 0
    while True:
        if line[position : position + 1] in ('"', "[", "{"):
            value, position = scan(line, position)
        else:
            end = line.find(",", position)
            end = len(line) if end < 0 else end
            value, position = _bare(line[position:end]), end
        found.append(value)
        if position >= len(line):
            return found
        position += 2


def _bare(text):
    if not text:
        return MISSING
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return JsonNumber(text) if _NUMBER.fullmatch(text) else text


def _object(values, paths):
    if len(values) != len(paths):
        raise ValueError(f"{len(values)} cells for {len(paths)} columns")
    built = []
    place = 0
    while place < len(paths):
        key = paths[place][0]
        end = place + 1
        if len(paths[place]) > 1:
            while end < len(paths) and len(paths[end]) > 1 and paths[end][0] == key:
                end += 1
            built.append((key, _object(values[place:end], [p[1:] for p in paths[place:end]])))
        elif values[place] is not MISSING:
            built.append((key, values[place]))
        place = end
    return tuple(built)


def unfactored(text):
    """Return the paths that `factor_paths` wrote."""
    found, folder = [], ""
    for line in text.split("\n"):
        if line.startswith(" "):
            found.append(folder + line[1:])
        else:
            folder = "" if line == "./." else line
    return found


def unfiled(text):
    """Return the matches that `by_file` wrote."""
    found, path = [], ""
    for line in text.split("\n"):
        if line.startswith("|"):
            found.append(line[1:])
        elif line.startswith((" ", "-")):
            found.append(f"{path}{':' if line[0] == ' ' else '-'}{line[1:]}")
        else:
            path = line
    return found
