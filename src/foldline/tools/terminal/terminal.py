"""
A terminal for an agent that reads one workspace, and nothing else.

    terminal = Terminal.open("project")
    terminal.run("grep -rn TODO src | head -n 20").stdout

Three layers: a parser that refuses what it does not understand; the kernel, which enforces what no
parser can check; and a person, who approves anything more.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Final, Self

from foldline.errors import BudgetError, StoreError
from foldline.frozen import replace
from foldline.tools.approvals import Approvals
from foldline.tools.sensitive import SENSITIVE
from foldline.tools.terminal.language import parse_line
from foldline.tools.terminal.order import TerminalLimits, run_order
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.planning import (
    NotApproved,
    PlannedStep,
    plan_all,
    plan_pipeline,
    request_approval,
)
from foldline.tools.terminal.refusal import Refused, visible
from foldline.tools.terminal.results import (
    CommandResult,
    OutputPage,
    OutputStore,
    Status,
    clean_output,
)
from foldline.tools.terminal.sandbox import Confinement, Mode, choose_confinement

NEVER: Final = ("/", "/usr", "/etc", "/proc", "/sys", "/dev", "/bin", "/lib", "/run", "/boot")
"""System directories, which cannot be a workspace."""

UNREAL: Final = ("/proc/", "/sys/", "/dev/")

NAMED: Final = re.compile(r"(?m)^/usr/bin/(?=[\w-]+: )")
"""The full path with which a program begins its errors."""


@dataclass(slots=True)
class _LineOutput:
    """The output of a line so far."""

    stdout: bytes = b""
    stderr: bytes = b""
    codes: tuple[int | None, ...] = ()
    error: str = ""


class Terminal:
    """
    A terminal in one workspace; created by `open`. Lines run one after another.

    ``run`` never raises.
    """

    def __init__(
        self,
        place: WorkingDirectory,
        confinement: Confinement,
        *,
        limits: TerminalLimits,
        allow_cd: bool,
        approvals: Approvals | None,
        keeping: OutputStore,
    ) -> None:
        self._place = self._home = place
        self._confinement = confinement
        self._confined, self._allow_cd = confinement.name != "UNCONFINED", allow_cd
        self._approvals, self._outputs = approvals, keeping
        self._lock = Lock()
        self.limits = limits

    @classmethod
    def open(
        cls,
        workspace: str | os.PathLike[str],
        *,
        limits: TerminalLimits | None = None,
        sandbox: Mode = "auto",
        allow_cd: bool = True,
        allow_unconfined: bool = False,
        approvals: Approvals | None = None,
        keeping: OutputStore | None = None,
        sensitive: Sequence[str] = SENSITIVE,
    ) -> Self:
        """
        Open a terminal.

        Args:
            workspace: The readable directory.
            limits: The limits of one line.
            sandbox: The confinement: "auto" uses bubblewrap, else Landlock with seccomp.
            allow_cd: Allow ``cd``, which persists from line to line.
            allow_unconfined: Required with ``sandbox="none"``.
            approvals: Approves commands that do more than read; without it they are refused.
            keeping: The store of long outputs; default a new one, in memory.
            sensitive: Patterns of files and folders that require an approval, in lower case;
                ``*`` matches anything.

        Raises:
            BudgetError: The workspace is invalid, or the log of approvals is inside it.
            NotConfined: No sandbox is available here.
        """
        place = replace(_open_workspace(workspace), sensitive=tuple(sensitive))
        if approvals is not None and approvals.audit is not None:
            log = os.path.realpath(approvals.audit)
            if log.startswith(place.workspace + "/"):
                why = "The log of approvals is inside the workspace."
                raise BudgetError(why, hint="Choose another path.")
        confinement = choose_confinement(sandbox, allow_unconfined=allow_unconfined)
        return cls(
            place,
            confinement,
            limits=limits or TerminalLimits(),
            allow_cd=allow_cd,
            approvals=approvals,
            keeping=keeping or OutputStore(),
        )

    @property
    def sandbox(self) -> str:
        """The confinement: "bubblewrap", "landlock" or "UNCONFINED"."""
        return self._confinement.name

    @property
    def workspace(self) -> Path:
        """The readable directory."""
        return Path(self._home.workspace)

    @property
    def directory(self) -> Path:
        """The current directory."""
        return Path(self._place.directory)

    def run(self, command: str, *, stop: Event | None = None) -> CommandResult:
        """
        Run a command line.

        Args:
            command: The text of the model.
            stop: Cancels it when set.
        """
        begun = time.monotonic()
        with self._lock:
            ran = self._run(str(command), stop)
        loses = self._confinement.loses
        notes = (*ran.notes, f"{self.sandbox}: {loses}") if loses else ran.notes
        elapsed, where = time.monotonic() - begun, self._place.relative_path
        return replace(ran, notes=notes, sandbox=self.sandbox, directory=where, seconds=elapsed)

    async def arun(self, command: str) -> CommandResult:
        """Run a command line without blocking; cancellation ends it."""
        stop = Event()
        try:
            return await asyncio.to_thread(self.run, command, stop=stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def more(self, handle: str, start: int = 0) -> OutputPage:
        """
        Read more of an output that was cut.

        Args:
            handle: The handle in the output.
            start: The offset in characters.

        Raises:
            RecallError: The handle is unknown.
        """
        return self._outputs.page(handle, start)

    # --- one line --------------------------------------------------------------------------

    def _run(self, command: str, stop: Event | None) -> CommandResult:
        line = visible(command, 500)
        try:
            steps = plan_all(
                parse_line(command), self._place, confined=self._confined, allow_cd=self._allow_cd
            )
            violations = [more for step in steps for more in step.violations]
            if violations and not self._confined:
                hint = "Nothing can be approved without a sandbox."
                raise Refused(violations[0].reason, hint)
            request = request_approval(steps, self._approvals) if violations else None
        except NotApproved as no:
            return CommandResult("needs_approval", line, reason=str(no), request=no.request)
        except Refused as no:
            return CommandResult("refused", line, reason=str(no))
        except (OSError, StoreError) as error:
            return CommandResult("error", line, reason=f"It was not run: {error}")
        if stop is not None and stop.is_set():
            return CommandResult("error", line, reason="It was cancelled before it was run.")
        try:
            ran = self._result(line, self._steps(steps, stop))
        except Refused as no:
            ran = CommandResult("refused", line, reason=str(no))
        if request is not None and self._approvals is not None:
            self._approvals.finished(request, ran.status)
        return ran

    def _steps(self, steps: Sequence[PlannedStep], stop: Event | None) -> _LineOutput:
        """
        Run the steps in order, subject to ``&&`` and ``||``.

        Raises:
            Refused: An approved step cannot be confined; then none was run.
        """
        for step in steps:
            if step.violations:
                self._confinement.order(step.stages, step.place, self.limits)
        output = _LineOutput()
        until = time.monotonic() + self.limits.seconds
        for step in steps:
            if output.codes and step.pipeline.joint == ("||" if output.codes[-1] == 0 else "&&"):
                continue
            if step.place != self._place:  # an earlier cd did not go as planned
                step = plan_pipeline(
                    step.pipeline, self._place, confined=self._confined, allow_cd=self._allow_cd
                )
                if step.violations:
                    raise step.violations[0]
            self._step(step, output, until, stop)
            if output.error:
                break
        return output

    def _step(
        self, step: PlannedStep, output: _LineOutput, until: float, stop: Event | None
    ) -> None:
        if step.fails:
            output.stderr += step.fails.encode("utf-8", "replace") + b"\n"
            output.codes = (1,)
            return
        if step.moves is not None:
            self._place, output.codes = step.moves, (0,)
            return
        if not self._place.is_there():
            self._place = self._home
            output.error = "The directory no longer exists; the terminal is back in its workspace."
            return
        limits = replace(self.limits, seconds=max(0.05, until - time.monotonic()))
        room = max(1, self.limits.output - len(output.stdout) - len(output.stderr))
        order = self._confinement.order(step.stages, step.place, limits)
        outcome = run_order(order, room, stop)
        output.stdout += outcome.stdout
        output.stderr += outcome.stderr
        output.codes, output.error = outcome.codes or (None,), outcome.error

    def _result(self, command: str, output: _LineOutput) -> CommandResult:
        room = self.limits.visible_output
        out, handle = self._outputs.shorten(clean_output(output.stdout), room)
        errors = NAMED.sub("", clean_output(output.stderr))
        err, more = self._outputs.shorten(errors, room // 4)
        handle, cut, notes = handle or more, output.error == "output", []
        if cut:
            notes.append(f"stopped after {self.limits.output:,} bytes of output")
        if handle:
            notes.append(f"long output: read more with the handle {handle}")
        status: Status = "failed" if output.codes and output.codes[-1] not in {0, None} else "ok"
        reason = ""
        if cut:
            status = "ok"
        elif output.error == "timeout":
            status, reason = "timeout", f"Stopped after {self.limits.seconds:g} seconds."
        elif output.error:
            status, reason = "error", output.error
        return CommandResult(
            status=status,
            command=command,
            stdout=out,
            stderr=err,
            codes=output.codes,
            reason=reason,
            notes=tuple(notes),
            handle=handle,
            truncated=cut or bool(handle),
        )


def _open_workspace(workspace: str | os.PathLike[str]) -> WorkingDirectory:
    path = os.path.realpath(workspace)
    if path in NEVER or path.startswith(UNREAL):
        why = f"{path} cannot be a workspace: it is a system directory."
        raise BudgetError(why, hint="Name a folder of your own.")
    try:
        return WorkingDirectory.at(path)
    except OSError as error:
        why = f"The workspace {visible(path)} cannot be opened: {error.strerror}."
        raise BudgetError(why, hint="Name a directory that exists.") from error
