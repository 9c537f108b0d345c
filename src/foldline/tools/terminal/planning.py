"""From a pipeline to stages that can be run: globs expanded, programs checked and located."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from foldline.tools.terminal.binaries import find_binary, located
from foldline.tools.terminal.confine.order import Stage
from foldline.tools.terminal.confine.profile import Profile
from foldline.tools.terminal.language.globs import expanded
from foldline.tools.terminal.language.grammar import Command, Pipeline
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.known import check
from foldline.tools.terminal.refusal import Beyond, Refused, visible

SYSTEM: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin")
"""Where a program may lie that a person approves."""

LONGEST_LINE: Final = 128 << 10
"""The most characters of all words of a stage: of one word the kernel takes no more."""


@dataclass(frozen=True, slots=True)
class Step:
    """
    One pipeline, ready to be run from one place.

    ``beyond`` says what goes beyond reading; such a step is run only when it is approved.
    ``moves`` is the place after a ``cd``, ``fails`` what a ``cd`` says that leads nowhere.
    """

    pipeline: Pipeline
    place: Place
    stages: tuple[Stage, ...] = ()
    beyond: tuple[Beyond, ...] = ()
    moves: Place | None = None
    fails: str = ""

    @property
    def after(self) -> Place:
        """Where the terminal is afterwards."""
        return self.moves or self.place


def planned(pipeline: Pipeline, place: Place, *, confined: bool, allow_cd: bool) -> Step:
    """
    Plan a pipeline.

    Args:
        pipeline: What was written.
        place: Where it would be run.
        confined: Whether the kernel confines it; else what only the kernel decides is refused.
        allow_cd: Whether ``cd`` is allowed.

    Raises:
        Refused: It is not run, and nobody can approve it.
    """
    if any(command.words[0].text == "cd" for command in pipeline.commands):
        return _cd(pipeline, place, allow_cd)
    stages: list[Stage] = []
    beyond: list[Beyond] = []
    for command in pipeline.commands:
        try:
            stages += _stages(command, place, confined)
        except Beyond as more:
            risks, planned_stages = _beyond(command, place, confined, more)
            beyond += risks
            stages += planned_stages
    return Step(pipeline, place, tuple(stages), tuple(beyond))


def plan_all(
    pipelines: Sequence[Pipeline], place: Place, *, confined: bool, allow_cd: bool
) -> list[Step]:
    """Plan all pipelines of a line as if every ``cd`` went well; see `planned`."""
    return list(_plans(pipelines, place, confined, allow_cd))


def _plans(
    pipelines: Sequence[Pipeline], place: Place, confined: bool, allow_cd: bool
) -> Iterator[Step]:
    for pipeline in pipelines:
        step = planned(pipeline, place, confined=confined, allow_cd=allow_cd)
        place = step.after
        yield step


def _cd(pipeline: Pipeline, place: Place, allow_cd: bool) -> Step:
    if not allow_cd:
        raise Refused("cd is not allowed here.", "Name files by their path in the workspace.")
    if len(pipeline.commands) > 1:
        raise Refused("cd in a pipeline changes nothing.", "Write cd … && … instead.")
    words = [text for word in pipeline.commands[0].words[1:] for text in expanded(word, place)]
    while words and words[0] in {"-P", "-L", "-e"}:
        words.pop(0)
    if words[:1] == ["--"]:
        words.pop(0)
    if len(words) > 1 or words == ["-"]:
        raise Refused("cd takes one directory of the workspace.")
    target = words[0] if words else place.workspace
    place.resolved(target)
    try:
        return Step(pipeline, place, moves=place.moved(target or "."))
    except Refused as wrong:
        return Step(pipeline, place, fails=wrong.reason)


def _stages(command: Command, place: Place, confined: bool) -> list[Stage]:
    """Check one command; one that reads a file with ``<`` gets it from a stage of its own."""
    name, *words = _words(command, place)
    checked = check(name, words, place)
    if checked.opaque and not confined:
        raise Refused(
            f"{name} is refused: what it reads or runs is decided by what it finds.",
            "Only the kernel could confine that, and here it does not.",
        )
    arguments = (located(checked.program), *checked.arguments)
    profile = Profile(forks=checked.forks)
    return [*_source(command, place), _stage(command, arguments, profile)]


def _beyond(
    command: Command, place: Place, confined: bool, more: Beyond
) -> tuple[list[Beyond], list[Stage]]:
    """Return all that a command needs a yes for, and the stages that would be run then."""
    if more.risk != "secrets":
        return [more], [_approved(command, place, more)]
    # Nothing else changes: what shows secrets runs as what reads any other file.
    place = replace(place, sensitive=())
    try:
        return [more], _stages(command, place, confined)
    except Beyond as also:
        return [more, also], [_approved(command, place, also)]


def _source(command: Command, place: Place) -> list[Stage]:
    if command.source is None:
        return []
    found = expanded(command.source, place)
    if len(found) != 1:
        raise Refused("What < reads has to be one file.")
    place.check(found[0])
    return [Stage((located("cat"), "--", found[0]))]


def _approved(command: Command, place: Place, more: Beyond) -> Stage:
    """Return the stage as it would be run once a person has said yes."""
    if command.source is not None:
        raise Refused("What goes beyond reading takes no file with <.", "Pipe it in with cat.")
    name, *words = _words(command, place)
    program = _program(name, place)
    is_git = posixpath.basename(program) == "git"
    profile = Profile(
        forks=True,
        writes=more.risk != "outside",
        git=is_git and more.risk != "outside",
        outside=(more.path,) if more.path else (),
    )
    return _stage(command, (program, *words), profile)


def _program(name: str, place: Place) -> str:
    if "/" not in name:
        found = find_binary(name)
        if found is None:
            for folder in SYSTEM:
                if Path(f"{folder}/{name}").is_file():
                    return f"{folder}/{name}"
            raise Refused(f"There is no program {visible(name, 60)} here.")
        return found
    if posixpath.dirname(name) in SYSTEM:
        return name
    return place.resolved(name)


def _words(command: Command, place: Place) -> list[str]:
    first = command.words[0]
    if first.has_glob and first.text != "[":
        raise Refused("The name of a program is written out, without a glob.")
    if not first.text:
        raise Refused("The name of a program is missing.")
    out = [first.text]
    for word in command.words[1:]:
        out += expanded(word, place)
    if sum(map(len, out)) > LONGEST_LINE:
        raise Refused("The words of the command are too long together.", "Use find or xargs.")
    return out


def _stage(command: Command, arguments: tuple[str, ...], profile: Profile) -> Stage:
    return replace(Stage(arguments), out=command.out, err=command.err, profile=profile)
