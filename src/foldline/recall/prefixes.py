"""What lines repeat at their beginning, said once: paths of a search, and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

_NUMBER: Final = re.compile(r"\s*\d{1,7}\s*[:|→\t-]")

_LISTED: Final = re.compile(r"\s*\d{1,7}[→\t]")

_LOCATED: Final = re.compile(r"(?P<path>[^\s:]{0,200}[./][^\s:]{0,200}[:-])(?=\d{1,7}[:-])")


def merge_prefixes(lines: Iterable[str]) -> list[str]:
    """Return lines of ``path:line:text`` with the path once, before those that share it."""
    out = list[str]()
    for path, run in groupby(lines, path_prefix):
        same = list(run)
        if not path or len(same) == 1:
            out += same
            continue
        out.append(path)
        out += [line.lstrip()[len(path) :] for line in same]
    return out


def path_prefix(line: str) -> str:
    """Return the path, with its colon, at the beginning of a line that a search printed."""
    found = _LOCATED.match(line.lstrip()[:420])
    return found["path"] if found else ""


def dedent(lines: Sequence[str]) -> list[str]:
    """Return lines without the blanks that all of them begin with, or stand before a number."""
    lines = [line.lstrip() if _LISTED.match(line[:40]) else line.rstrip() for line in lines]
    blanks = (len(line) - len(line.lstrip(" \t")) for line in lines if line.strip())
    shared = min(blanks, default=0)
    return [line[shared:] for line in lines]


def essence(line: str) -> str:
    """Return what a line says without the number of a listing, and without blanks around it."""
    found = _NUMBER.match(line[:40])
    return line[found.end() if found else 0 :].strip()
