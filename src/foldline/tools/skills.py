"""
Skills: folders with a SKILL.md, told by name and loaded when they are needed.

    skills/release/SKILL.md        its front matter has name and description, its body the words
    skills/release/checklist.md    what the body refers to, read on demand

A model sees names and descriptions; the tool ``skill`` returns a body, or one of the files beside
it. A skill is found by the names that a scan found and by nothing else, so that no name is a path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from foldline.core.validation import meant
from foldline.errors import InputError
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.skill_files import (
    LONGEST_BODY,
    LONGEST_RESOURCE,
    Header,
    header,
    regular_file,
    resources,
)
from foldline.tools.spec import Tool

MOST_SKILLS: Final = 100
LONGEST_ARGUMENTS: Final = 2_000

PLACE: Final = "$ARGUMENTS"
"""Stands in a body for what the call gave as arguments."""

DESCRIPTION: Final = (
    "Load instructions for a kind of work before you begin it. Skills:\n{skills}\nGive a resource "
    "to read a file that belongs to a skill."
)


@dataclass(frozen=True, slots=True)
class Skill:
    """
    A skill as the scan found it; ``resources`` are the files beside it, by their relative path.

    ``version`` is the beginning of the hash of its SKILL.md.
    """

    name: str
    description: str
    body: str = field(repr=False)
    version: str = ""
    resources: tuple[str, ...] = ()
    folder: Path = field(default=Path(), repr=False)

    def text(self, arguments: str = "") -> str:
        """Return the body with arguments put in, inside a tag that names it."""
        body = self.body.replace(PLACE, arguments)
        listed = f"\n\nFiles of this skill: {', '.join(self.resources)}" if self.resources else ""
        return f"{self.tag(arguments)}\n{body}{listed}\n</skill>"

    def tag(self, arguments: str = "") -> str:
        """Return the line that the text begins with; another version has another one."""
        told = hashlib.sha256(arguments.encode("utf-8", "replace")).hexdigest()[:6]
        return f'<skill name="{self.name}" version="{self.version}-{told}">'


class Skills:
    """
    The skills in a folder, and the tool that loads them.

    Args:
        folder: Where the folders of the skills are; links are not followed.
        is_kept: Tells whether a text that was returned earlier still stands in the conversation,
            by its first line; then it is not said again. See `foldline.agents.keeps`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        is_kept: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._folder = Path(folder)
        self._is_kept = is_kept
        self._skills: dict[str, Skill] = {}
        self._problems: tuple[str, ...] = ()
        self.reload()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills, by name."""
        return tuple(self._skills.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with folders that are no skills, in one sentence each."""
        return self._problems

    def reload(self) -> None:
        """Scan the folder again; a skill that did not change stays the same object."""
        found: dict[str, Skill] = {}
        problems: list[str] = []
        for place in self._places(problems):
            try:
                skill = _read(place)
                if skill.name in found:
                    raise InputError(f"another skill has the name {skill.name!r}")
            except (InputError, OSError) as error:
                told = error.strerror if isinstance(error, OSError) else str(error)
                problems.append(f"{place.name[:80]}: {told}")
                continue
            known = self._skills.get(skill.name)
            found[skill.name] = known if known == skill and known is not None else skill
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

    # --- what a model sees -----------------------------------------------------------------

    @property
    def tool(self) -> Tool:
        """The tool ``skill``, which tells the names and descriptions as they are now."""
        listed = "\n".join(f"- {one.name}: {one.description}" for one in self.skills)
        parameters = {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Of the skill."},
                "arguments": {
                    "type": "string",
                    "description": "What the skill is to be used for, where it asks for that.",
                    "maxLength": LONGEST_ARGUMENTS,
                    "default": "",
                },
                "resource": {
                    "type": "string",
                    "description": "A file of the skill, as the skill names it.",
                    "default": "",
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        }
        words = DESCRIPTION.format(skills=listed or "(none)")
        return Tool("skill", words, parameters, self._do, labels=frozenset({"read"}))

    def _do(self, given: dict[str, Any]) -> ToolOutput:
        return self.load(given["name"], given["arguments"], given["resource"])

    def load(self, name: str, arguments: str = "", resource: str = "") -> ToolOutput:
        """
        Return the words of a skill, pinned, or one of its files.

        Args:
            name: Of the skill.
            arguments: Put where the body says ``$ARGUMENTS``.
            resource: A file of the skill, instead of its words.
        """
        skill = self._skills.get(name)
        if skill is None:
            told = f"There is no skill {name[:60]!r}. {_known(name, self._skills)}"
            return ToolOutput.error(ErrorCode.NOT_FOUND, told)
        if resource:
            return _resource(skill, resource)
        if self._is_kept(skill.tag(arguments)):
            told = f"The skill {name} was loaded before and still stands above, unchanged."
            return ToolOutput(told, data={"name": name, "version": skill.version})
        data = {"name": name, "version": skill.version}
        return ToolOutput(skill.text(arguments), data=data, pinned=True)


def _resource(skill: Skill, name: str) -> ToolOutput:
    if name not in skill.resources:
        told = f"{skill.name} has no file {name[:80]!r}. {_known(name, skill.resources)}"
        return ToolOutput.error(ErrorCode.NOT_FOUND, told)
    try:
        data = regular_file(skill.folder, name, LONGEST_RESOURCE)
        return ToolOutput(data.decode("utf-8"), data={"name": skill.name, "resource": name})
    except UnicodeDecodeError:
        return ToolOutput.error(ErrorCode.NOT_TEXT, f"{name} is no text.")
    except InputError as error:
        return ToolOutput.error(ErrorCode.TOO_LARGE, str(error))
    except OSError as error:
        return ToolOutput.error(ErrorCode.UNAVAILABLE, f"{name}: {error.strerror}.")


def _known(name: str, names: Collection[str]) -> str:
    return f"{meant(name, names)}There are: {', '.join(names) or 'none'}."


def _read(place: Path) -> Skill:
    """Read the skill in a folder."""
    data = regular_file(place, "SKILL.md", LONGEST_BODY)
    told: Header = header(data)
    version = hashlib.sha256(data).hexdigest()[:12]
    return Skill(told.name, told.description, told.body, version, resources(place), place)
