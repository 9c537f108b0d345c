"""Reading the files of a skill: front matter, body, and what lies beside them; all bounded."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.errors import InputError
from foldline.tools.files.root import content, opened

LONGEST_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1_024
LONGEST_BODY: Final = 32 << 10
LONGEST_RESOURCE: Final = 256 << 10
MOST_RESOURCES: Final = 100
DEEPEST: Final = 4
"""Bounds: characters, characters, bytes, bytes, files of a skill, and folders inside folders."""

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
FENCE: Final = "---"

_FIELD: Final = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_BLOCKS: Final = {"|": "\n", ">": " ", "|-": "\n", ">-": " "}


@dataclass(frozen=True, slots=True)
class Header:
    """What a SKILL.md says: its name and description, and the body."""

    name: str
    description: str
    body: str


def header(data: bytes) -> Header:
    """
    Read a SKILL.md.

    Args:
        data: The file.

    Raises:
        InputError: It has no front matter, or that has no usable name or description.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("SKILL.md is no text in UTF-8") from error
    ends = [number for number, line in enumerate(lines) if line.rstrip() == FENCE]
    if len(ends) < 2 or ends[0] != 0:
        raise InputError("SKILL.md does not begin with front matter between two lines of ---")
    told = fields(lines[1 : ends[1]])
    name, description = told.get("name", ""), " ".join(told.get("description", "").split())
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise InputError(
            f"{name[:80]!r} is no name", hint="Small letters, digits, - and _.", field="name"
        )
    if not description or len(description) > LONGEST_DESCRIPTION:
        raise InputError(
            f"the description has 1 to {LONGEST_DESCRIPTION:,} characters", field="description"
        )
    body = "\n".join(lines[ends[1] + 1 :]).strip()
    if not body:
        raise InputError("SKILL.md says nothing besides its front matter")
    return Header(name, description, body)


def fields(lines: list[str]) -> dict[str, str]:
    """
    Read the texts of front matter: ``key: text``, quoted or not, and blocks after ``|`` and ``>``.

    Nested values belong to fields that are not needed here; they are passed over.
    """
    found: dict[str, str] = {}
    block: tuple[str, str] | None = None
    for line in lines:
        if block and (not line.strip() or line[:1] in " \t"):
            name, joint = block
            found[name] += (joint if found[name] else "") + line.strip()
            continue
        block = None
        match = _FIELD.fullmatch(line)
        if match is None:
            continue
        name, value = match[1], (match[2] or "").strip()
        if value in _BLOCKS or not value:
            block, found[name] = (name, _BLOCKS.get(value, " ")), ""
        else:
            found[name] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()


def resources(place: Path) -> tuple[str, ...]:
    """List the regular files of a skill besides its SKILL.md, by their path inside its folder."""
    found: list[str] = []
    for folder, inner, names in os.walk(place):
        here = Path(folder)
        if len(here.relative_to(place).parts) >= DEEPEST:
            inner.clear()
        inner.sort()
        for name in sorted(names):
            path = here / name
            told = path.relative_to(place).as_posix()
            if told == "SKILL.md" or path.is_symlink() or not path.is_file():
                continue
            if len(found) == MOST_RESOURCES:
                return tuple(found)
            found.append(told)
    return tuple(found)


def regular_file(place: Path, name: str, most: int) -> bytes:
    """
    Read a file of a skill; a link, a device or a pipe is none.

    Args:
        place: The folder of the skill.
        name: The path of the file inside it.
        most: Bytes that it may have.

    Raises:
        InputError: It has more.
        OSError: It cannot be read, or is no regular file.
    """
    with opened(place, name.split("/")) as number:
        return content(number, most).data
