"""Skills: folders of instructions that a model loads by name, with limits on size."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from foldline.core.validation import suggest_name
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.rooted_files import open_file, read_content
from foldline.tools.description import describe_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool

LONGEST_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1_024
LONGEST_BODY: Final = 32 << 10
LONGEST_RESOURCE: Final = 256 << 10
MOST_RESOURCES: Final = 100
DEEPEST: Final = 4
"""Limits: characters, characters, bytes, bytes, files of a skill, and depth of folders."""

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
FENCE: Final = "---"

_FIELD: Final = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_BLOCKS: Final = {"|": "\n", ">": " ", "|-": "\n", ">-": " "}


def parse_skill(data: bytes) -> tuple[str, str, str]:
    """
    Parse a SKILL.md, and return its name, its description and its body.

    Args:
        data: The file.

    Raises:
        InputError: It has no front matter, or no valid name or description.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("SKILL.md is not valid UTF-8") from error
    ends = [number for number, line in enumerate(lines) if line.rstrip() == FENCE]
    if len(ends) < 2 or ends[0] != 0:
        raise InputError("SKILL.md does not begin with front matter between two lines of ---")
    message = parse_front_matter(lines[1 : ends[1]])
    name, description = message.get("name", ""), " ".join(message.get("description", "").split())
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        hint = "Use lower-case letters, digits, - and _."
        raise InputError(f"{name[:80]!r} is not a valid name", hint=hint, field="name")
    if not description or len(description) > LONGEST_DESCRIPTION:
        why = f"the description must have 1 to {LONGEST_DESCRIPTION:,} characters"
        raise InputError(why, field="description")
    body = "\n".join(lines[ends[1] + 1 :]).strip()
    if not body:
        raise InputError("SKILL.md has no content after its front matter")
    return name, description, body


def parse_front_matter(lines: list[str]) -> dict[str, str]:
    """
    Parse the strings of front matter: ``key: text``, quoted or not, and ``|`` and ``>`` blocks.

    Nested values belong to fields that are not used here, and are skipped.
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
            found[name] = _unquote(value)
    return found


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()


def list_resources(place: Path) -> tuple[str, ...]:
    """Return the relative paths of the regular files of a skill, except its SKILL.md."""

    def walk() -> Iterator[str]:
        for folder, inner, names in os.walk(place):
            here = Path(folder)
            if len(here.relative_to(place).parts) >= DEEPEST:
                inner.clear()
            inner.sort()
            for path in (here / name for name in sorted(names)):
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(place).as_posix()

    return tuple(islice((name for name in walk() if name != "SKILL.md"), MOST_RESOURCES))


def read_resource(place: Path, name: str, most: int) -> bytes:
    """
    Read a regular file of a skill; links, devices and pipes are refused.

    Args:
        place: The folder of the skill.
        name: The relative path of the file.
        most: The maximum size in bytes.

    Raises:
        InputError: It is larger.
        OSError: It cannot be read, or is not a regular file.
    """
    with open_file(place, name.split("/")) as number:
        return read_content(number, most).data


MOST_SKILLS: Final = 100

ARGUMENTS: Final = "$ARGUMENTS"
"""The placeholder of the arguments of a call in a body."""

SKILL: Final = describe_tool("skill")


@frozen
class Skill:
    """
    A skill; ``resources`` are the relative paths of its other files.

    ``version`` is a prefix of the hash of its SKILL.md.
    """

    name: str
    description: str
    body: str = field(repr=False)
    version: str = ""
    resources: tuple[str, ...] = ()
    folder: Path = field(default=Path(), repr=False)

    def text(self, arguments: str = "") -> str:
        """Return the body with arguments inserted, inside a tag with its name."""
        body = self.body.replace(ARGUMENTS, arguments)
        listed = f"\n\nFiles of this skill: {', '.join(self.resources)}" if self.resources else ""
        return f"{self.tag(arguments)}\n{body}{listed}\n</skill>"

    def tag(self, arguments: str = "") -> str:
        """Return the first line of the text, which is unique for each version."""
        message = hashlib.sha256(arguments.encode("utf-8", "replace")).hexdigest()[:6]
        return f'<skill name="{self.name}" version="{self.version}-{message}">'


class Skills:
    """
    The skills in a folder, with a tool that loads them.

    Args:
        folder: The parent folder of the skills; links are not followed.
        is_pinned: Returns True if the conversation still contains a text with this first line;
            then it is not returned again. See `foldline.agents.pinned_in`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        is_pinned: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._folder = Path(folder)
        self._is_pinned = is_pinned
        self._skills: dict[str, Skill] = {}
        self._problems: tuple[str, ...] = ()
        self.reload()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills, by name."""
        return tuple(self._skills.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each folder that is not a valid skill."""
        return self._problems

    def reload(self) -> None:
        """Scan the folder again; an unchanged skill stays the same object."""
        found: dict[str, Skill] = {}
        problems: list[str] = []
        for place in self._places(problems):
            try:
                data = read_resource(place, "SKILL.md", LONGEST_BODY)
                version = hashlib.sha256(data).hexdigest()[:12]
                skill = Skill(*parse_skill(data), version, list_resources(place), place)
                if skill.name in found:
                    raise InputError(f"another skill has the name {skill.name!r}")
            except (InputError, OSError) as error:
                message = error.strerror if isinstance(error, OSError) else str(error)
                problems.append(f"{place.name[:80]}: {message}")
                continue
            known = self._skills.get(skill.name)
            found[skill.name] = known if known is not None and known == skill else skill
        self._skills, self._problems = found, tuple(problems)

    def _places(self, problems: list[str]) -> list[Path]:
        try:
            inner = sorted(self._folder.iterdir(), key=lambda path: path.name)
        except OSError as error:
            problems.append(f"{self._folder}: {error.strerror}")
            return []
        places = [path for path in inner if path.is_dir() and not path.is_symlink()]
        if len(places) > MOST_SKILLS:
            problems.append(f"only the first {MOST_SKILLS} of {len(places)} folders are read")
        return places[:MOST_SKILLS]

    # --- the tool --------------------------------------------------------------------------

    @property
    def tool(self) -> Tool:
        """The tool ``skill``, with the current names and descriptions."""
        listed = "\n".join(f"- {one.name}: {one.description}" for one in self.skills)
        words = SKILL.description.format(skills=listed or "(none)")
        return replace(SKILL, description=words).tool(lambda given: self.load(**given))

    def load(self, name: str, arguments: str = "", resource: str = "") -> ToolOutput:
        """
        Return the text of a skill, pinned, or one of its files.

        Args:
            name: The name of the skill.
            arguments: Replaces ``$ARGUMENTS`` in the body.
            resource: A file of the skill to return instead.
        """
        skill = self._skills.get(name)
        if skill is None:
            message = f"There is no skill {name[:60]!r}. {_suggest(name, self._skills)}"
            return ToolOutput.error(ErrorCode.NOT_FOUND, message)
        if resource:
            return _resource(skill, resource)
        data = {"name": name, "version": skill.version}
        if self._is_pinned(skill.tag(arguments)):
            message = f"The skill {name} is already loaded above, unchanged."
            return ToolOutput(message, data=data)
        return ToolOutput(skill.text(arguments), data=data, pinned=True)


def _resource(skill: Skill, name: str) -> ToolOutput:
    if name not in skill.resources:
        message = f"{skill.name} has no file {name[:80]!r}. {_suggest(name, skill.resources)}"
        return ToolOutput.error(ErrorCode.NOT_FOUND, message)
    try:
        data = read_resource(skill.folder, name, LONGEST_RESOURCE)
        return ToolOutput(data.decode("utf-8"), data={"name": skill.name, "resource": name})
    except UnicodeDecodeError:
        return ToolOutput.error(ErrorCode.NOT_TEXT, f"{name} is not text.")
    except InputError as error:
        return ToolOutput.error(ErrorCode.TOO_LARGE, str(error))
    except OSError as error:
        return ToolOutput.error(ErrorCode.UNAVAILABLE, f"{name}: {error.strerror}.")


def _suggest(name: str, names: Collection[str]) -> str:
    return f"{suggest_name(name, names)}Known: {', '.join(names) or 'none'}."
