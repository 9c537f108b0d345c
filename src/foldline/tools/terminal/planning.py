"""From a pipeline to stages that can be run: expanded, checked, located, and approved."""

from __future__ import annotations

import posixpath
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from foldline.frozen import frozen, replace
from foldline.tools.approvals import ApprovalRequest, Approvals, Scope
from foldline.tools.terminal.globs import expand_word
from foldline.tools.terminal.language import Command, Pipeline
from foldline.tools.terminal.order import PipelineStage, Profile
from foldline.tools.terminal.paths import WorkingDirectory, find_binary, locate_binary
from foldline.tools.terminal.programs.table import check_command
from foldline.tools.terminal.refusal import NeedsApproval, Refused, visible

SYSTEM: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin")
"""Where a program may lie that a person approves."""

LONGEST_LINE: Final = 128 << 10
"""The most characters of all words of a stage: of one word the kernel takes no more."""


@frozen
class PlannedStep:
    """
    One pipeline, ready to be run from one place.

    ``beyond`` says what goes beyond reading; such a step is run only when it is approved.
    ``moves`` is the place after a ``cd``, ``fails`` what a ``cd`` says that leads nowhere.
    """

    pipeline: Pipeline
    place: WorkingDirectory
    stages: tuple[PipelineStage, ...] = ()
    beyond: tuple[NeedsApproval, ...] = ()
    moves: WorkingDirectory | None = None
    fails: str = ""


def plan_pipeline(
    pipeline: Pipeline, place: WorkingDirectory, *, confined: bool, allow_cd: bool
) -> PlannedStep:
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
    stages: list[PipelineStage] = []
    beyond: list[NeedsApproval] = []
    for command in pipeline.commands:
        try:
            stages += _stages(command, place, confined)
        except NeedsApproval as more:
            risks, planned_stages = _plan_beyond(command, place, confined, more)
            beyond += risks
            stages += planned_stages
    return PlannedStep(pipeline, place, tuple(stages), tuple(beyond))


def plan_all(
    pipelines: Sequence[Pipeline], place: WorkingDirectory, *, confined: bool, allow_cd: bool
) -> list[PlannedStep]:
    """Plan all pipelines of a line as if every ``cd`` went well; see `plan_pipeline`."""
    steps = []
    for pipeline in pipelines:
        steps.append(plan_pipeline(pipeline, place, confined=confined, allow_cd=allow_cd))
        place = steps[-1].moves or place
    return steps


def _cd(pipeline: Pipeline, place: WorkingDirectory, allow_cd: bool) -> PlannedStep:
    if not allow_cd:
        raise Refused("cd is not allowed here.", "Name files by their path in the workspace.")
    if len(pipeline.commands) > 1:
        raise Refused("cd in a pipeline changes nothing.", "Write cd … && … instead.")
    words = [text for word in pipeline.commands[0].words[1:] for text in expand_word(word, place)]
    while words and words[0] in {"-P", "-L", "-e"}:
        words.pop(0)
    if words[:1] == ["--"]:
        words.pop(0)
    if len(words) > 1 or words == ["-"]:
        raise Refused("cd takes one directory of the workspace.")
    target = words[0] if words else place.workspace
    place.resolve(target)
    try:
        return PlannedStep(pipeline, place, moves=place.move_to(target or "."))
    except Refused as wrong:
        return PlannedStep(pipeline, place, fails=wrong.reason)


def _stages(command: Command, place: WorkingDirectory, confined: bool) -> list[PipelineStage]:
    """Check one command; one that reads a file with ``<`` gets it from a stage of its own."""
    name, *words = _words(command, place)
    checked = check_command(name, words, place)
    if checked.opaque and not confined:
        why = f"{name} is refused: what it reads or runs is decided by what it finds."
        raise Refused(why, "Only the kernel could confine that, and here it does not.")
    arguments = (locate_binary(checked.program), *checked.arguments)
    profile = Profile(forks=checked.forks)
    stage = PipelineStage(arguments, command.out, command.err, profile)
    return [*_source(command, place), stage]


def _plan_beyond(
    command: Command, place: WorkingDirectory, confined: bool, more: NeedsApproval
) -> tuple[list[NeedsApproval], list[PipelineStage]]:
    """Return all that a command needs a yes for, and the stages that would be run then."""
    if more.risk != "secrets":
        return [more], [_approved_stage(command, place, more)]
    # Nothing else changes: what shows secrets runs as what reads any other file.
    place = replace(place, sensitive=())
    try:
        return [more], _stages(command, place, confined)
    except NeedsApproval as also:
        return [more, also], [_approved_stage(command, place, also)]


def _source(command: Command, place: WorkingDirectory) -> list[PipelineStage]:
    if command.source is None:
        return []
    found = expand_word(command.source, place)
    if len(found) != 1:
        raise Refused("What < reads has to be one file.")
    place.check(found[0])
    return [PipelineStage((locate_binary("cat"), "--", found[0]))]


def _approved_stage(
    command: Command, place: WorkingDirectory, more: NeedsApproval
) -> PipelineStage:
    """Return the stage as it would be run once a person has said yes."""
    if command.source is not None:
        raise Refused("What goes beyond reading takes no file with <.", "Pipe it in with cat.")
    name, *words = _words(command, place)
    program = _program(name, place)
    writes = more.risk != "outside"
    is_git = posixpath.basename(program) == "git"
    outside = (more.path,) if more.path else ()
    profile = Profile(forks=True, writes=writes, git=is_git and writes, outside=outside)
    return PipelineStage((program, *words), command.out, command.err, profile)


def _program(name: str, place: WorkingDirectory) -> str:
    if "/" in name:
        return name if posixpath.dirname(name) in SYSTEM else place.resolve(name)
    further = (f"{folder}/{name}" for folder in SYSTEM)
    found = find_binary(name) or next((path for path in further if Path(path).is_file()), None)
    if found is None:
        raise Refused(f"There is no program {visible(name, 60)} here.")
    return found


def _words(command: Command, place: WorkingDirectory) -> list[str]:
    first = command.words[0]
    if first.has_glob and first.text != "[":
        raise Refused("The name of a program is written out, without a glob.")
    if not first.text:
        raise Refused("The name of a program is missing.")
    out = [first.text]
    for word in command.words[1:]:
        out += expand_word(word, place)
    if sum(map(len, out)) > LONGEST_LINE:
        raise Refused("The words of the command are too long together.", "Use find or xargs.")
    return out


ONCE_ONLY: Final = frozenset(
    ("bash", "dash", "env", "git", "node", "perl", "python", "python3", "ruby", "sh", "zsh")
)
"""Programs that run others: allowing one of them "for the session" would allow anything."""

LONGEST: Final = 4_000
"""A longer command is refused: nobody reads it to its end, and nothing of it is left out."""

POLICY: Final = "terminal/2"
"""The version of the rules; a yes that was given under others is none."""


class NotApproved(Exception):
    """
    There was no yes.

    Args:
        reason: Why the command needs one, and why there is none.
        request: The question.
    """

    def __init__(self, reason: str, request: ApprovalRequest) -> None:
        super().__init__(reason)
        self.request = request


def request_approval(steps: Sequence[PlannedStep], approvals: Approvals | None) -> ApprovalRequest:
    """
    Ask about steps of which one goes beyond reading, and return the request that was granted.

    Args:
        steps: All that would be run, in order.
        approvals: Who asks; None is a no.

    Raises:
        NotApproved: There was no yes.
        Refused: It is too long to be asked about.
        StoreError: The log cannot be written.
    """
    request = approval_request(steps, approvals.settings.seconds if approvals is not None else 0.0)
    if len(request.shown) > LONGEST:
        raise Refused("The command is too long to be asked about.", "Split it.")
    if approvals is None:
        raise NotApproved(f"{request.reason} Nobody is here who could approve it.", request)
    if why := approvals.approve(request):
        raise NotApproved(f"{request.reason} {why}", request)
    return request


def approval_request(steps: Sequence[PlannedStep], seconds: float) -> ApprovalRequest:
    """
    Return the question about steps.

    Args:
        steps: All that would be run, in order.
        seconds: How long it can be answered.
    """
    beyond = [more for step in steps for more in step.beyond]
    stages = [stage for step in steps for stage in step.stages]
    programs = {posixpath.basename(stage.arguments[0]) for stage in stages}
    scopes: tuple[Scope, ...] = ("once",) if programs & ONCE_ONLY else ("once", "session")
    places = [f"{step.place.directory}:{step.place.identity}" for step in steps]
    return ApprovalRequest(
        command=tuple(stage.arguments for stage in stages),
        shown="\n".join(visible(shlex.join(stage.arguments), LONGEST) for stage in stages),
        directory=steps[0].place.directory,
        workspace=steps[0].place.workspace,
        reason=" ".join(dict.fromkeys(more.reason for more in beyond)),
        risks=tuple(sorted({more.risk for more in beyond})),
        scopes=scopes,
        expires=time.time() + seconds,
        bound=(POLICY, *places, *(str(stage.profile) for stage in stages)),
    )
