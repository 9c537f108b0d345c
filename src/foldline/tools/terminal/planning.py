"""Plan a pipeline: expand, check and locate its stages, and request approvals."""

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
"""The directories of programs that a person may approve."""

LONGEST_LINE: Final = 128 << 10
"""The maximum length of all words of a stage, the kernel's limit for one word."""


@frozen
class PlannedStep:
    """
    One pipeline, ready to run in one directory.

    ``violations`` are the reasons why it requires an approval. ``moves`` is the working directory
    after a ``cd``, ``fails`` the error of a ``cd`` that fails.
    """

    pipeline: Pipeline
    place: WorkingDirectory
    stages: tuple[PipelineStage, ...] = ()
    violations: tuple[NeedsApproval, ...] = ()
    moves: WorkingDirectory | None = None
    fails: str = ""


def plan_pipeline(
    pipeline: Pipeline, place: WorkingDirectory, *, confined: bool, allow_cd: bool
) -> PlannedStep:
    """
    Plan a pipeline.

    Args:
        pipeline: The parsed pipeline.
        place: The working directory.
        confined: True if the kernel confines it; else commands that need that are refused.
        allow_cd: True if ``cd`` is allowed.

    Raises:
        Refused: It cannot be run, not even with an approval.
    """
    if any(command.words[0].text == "cd" for command in pipeline.commands):
        return _cd(pipeline, place, allow_cd)
    stages: list[PipelineStage] = []
    violations: list[NeedsApproval] = []
    for command in pipeline.commands:
        try:
            stages += _stages(command, place, confined)
        except NeedsApproval as more:
            risks, planned_stages = _plan_with_approval(command, place, confined, more)
            violations += risks
            stages += planned_stages
    return PlannedStep(pipeline, place, tuple(stages), tuple(violations))


def plan_all(
    pipelines: Sequence[Pipeline], place: WorkingDirectory, *, confined: bool, allow_cd: bool
) -> list[PlannedStep]:
    """Plan all pipelines of a line as if every ``cd`` succeeds; see `plan_pipeline`."""
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
    """Check one command; a file read with ``<`` becomes a separate stage."""
    name, *words = _words(command, place)
    checked = check_command(name, words, place)
    if checked.opaque and not confined:
        why = f"{name} is refused: what it reads or runs depends on the data."
        raise Refused(why, "Only a sandbox of the kernel could confine that; there is none here.")
    arguments = (locate_binary(checked.program), *checked.arguments)
    profile = Profile(forks=checked.forks)
    stage = PipelineStage(arguments, command.out, command.err, profile)
    return [*_source(command, place), stage]


def _plan_with_approval(
    command: Command, place: WorkingDirectory, confined: bool, more: NeedsApproval
) -> tuple[list[NeedsApproval], list[PipelineStage]]:
    """Return the reasons why a command requires an approval, and its stages if approved."""
    if more.risk != "secrets":
        return [more], [_approved_stage(command, place, more)]
    # Apart from that, reading secrets runs like reading any other file.
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
        raise Refused("< must read exactly one file.")
    place.check(found[0])
    return [PipelineStage((locate_binary("cat"), "--", found[0]))]


def _approved_stage(
    command: Command, place: WorkingDirectory, more: NeedsApproval
) -> PipelineStage:
    """Return the stage of a command that a person approves."""
    if command.source is not None:
        raise Refused("A command that needs approval takes no file with <.", "Pipe it with cat.")
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
        raise Refused("The name of a program must not contain a glob.")
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
"""Programs that run others: approving one of them for the session would approve anything."""

LONGEST: Final = 4_000
"""The maximum length of a command for approval; longer ones are refused, never abridged."""

POLICY: Final = "terminal/2"
"""The version of the rules; approvals under other versions are invalid."""


class NotApproved(Exception):
    """
    A command was not approved.

    Args:
        reason: Why it needs an approval, and why there is none.
        request: The request.
    """

    def __init__(self, reason: str, request: ApprovalRequest) -> None:
        super().__init__(reason)
        self.request = request


def request_approval(steps: Sequence[PlannedStep], approvals: Approvals | None) -> ApprovalRequest:
    """
    Request an approval of steps, and return the approved request.

    Args:
        steps: All steps to run, in order.
        approvals: Handles the request; None denies it.

    Raises:
        NotApproved: It was not approved.
        Refused: It is too long for a person to review.
        StoreError: The log cannot be written.
    """
    request = approval_request(steps, approvals.settings.seconds if approvals is not None else 0.0)
    if len(request.shown) > LONGEST:
        raise Refused("The command is too long for a person to review.", "Split it.")
    if approvals is None:
        raise NotApproved(f"{request.reason} Nobody is available to approve it.", request)
    if why := approvals.approve(request):
        raise NotApproved(f"{request.reason} {why}", request)
    return request


def approval_request(steps: Sequence[PlannedStep], seconds: float) -> ApprovalRequest:
    """
    Return the approval request for steps.

    Args:
        steps: All steps to run, in order.
        seconds: The timeout of the answer.
    """
    violations = [more for step in steps for more in step.violations]
    stages = [stage for step in steps for stage in step.stages]
    programs = {posixpath.basename(stage.arguments[0]) for stage in stages}
    scopes: tuple[Scope, ...] = ("once",) if programs & ONCE_ONLY else ("once", "session")
    places = [f"{step.place.directory}:{step.place.identity}" for step in steps]
    return ApprovalRequest(
        command=tuple(stage.arguments for stage in stages),
        shown="\n".join(visible(shlex.join(stage.arguments), LONGEST) for stage in stages),
        directory=steps[0].place.directory,
        workspace=steps[0].place.workspace,
        reason=" ".join(dict.fromkeys(more.reason for more in violations)),
        risks=tuple(sorted({more.risk for more in violations})),
        scopes=scopes,
        expires=time.time() + seconds,
        bound=(POLICY, *places, *(str(stage.profile) for stage in stages)),
    )
