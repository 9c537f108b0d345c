"""
The refactoring assistant: a plan in notes, whose steps are edited, checked, committed or undone.

    assistant = RefactoringAssistant(maintainer, checks=["python -m pytest -q"], approvals=asks)
    assistant.plan("Split orders", [("Move pricing out", "…"), ("Drop the old module", "…")])
    for outcome in assistant.run():
        print(outcome)
"""

from __future__ import annotations

import difflib
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from foldline.agents.agent import Agent
from foldline.agents.checkpoint import read_workspace
from foldline.agents.limits import AgentLimits
from foldline.agents.maintainer.commands import CheckResult, Git, parse_checks, run_check
from foldline.agents.maintainer.knowledge import KnowledgeRecord, knowledge_tools
from foldline.agents.maintainer.maintainer import CodebaseMaintainer
from foldline.agents.maintainer.step_log import StepLog, StepProgress
from foldline.core.validation import positive, whole
from foldline.errors import FoldlineError, InputError
from foldline.frozen import frozen
from foldline.notes import Note
from foldline.tools.approvals import ApprovalRequest, Approvals
from foldline.tools.description import describe_tool, read_tables
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.replacements import Replacement, apply_replacements
from foldline.tools.spec import Tool
from foldline.tools.terminal.refusal import visible
from foldline.tools.workspace import FileBounds, Workspace, file_tools, refusal

PROMPTS: Final = read_tables("foldline.agents", "prompts.toml")["refactoring"]


@frozen
class StepOutcome:
    """The outcome of a step: "done" with its ``commit``, or "undone" with the reason ``why``."""

    step: str
    title: str
    status: str
    commit: str = ""
    why: str = ""


class RefactoringAssistant:
    """
    Carries out a plan step by step; every step is committed or completely undone.

    Args:
        maintainer: The maintainer whose codebase, notes and model are used.
        checks: Commands that must exit with 0 after each step; they run unconfined.
        approvals: Approves each edit; without it nothing is edited.
        attempts: The number of failed checks after which a step is undone.
        seconds: The timeout of one check.
        limits: Limits on the spending of one attempt at a step.

    Raises:
        InputError: There is no check, or one cannot be parsed.
    """

    def __init__(
        self,
        maintainer: CodebaseMaintainer,
        *,
        checks: Sequence[str],
        approvals: Approvals | None = None,
        attempts: int = 2,
        seconds: float = 600.0,
        limits: AgentLimits | None = None,
    ) -> None:
        whole("attempts", attempts, 1)
        positive("seconds", seconds, 86_400)
        if isinstance(checks, str) or not checks:
            hint = 'Pass ["make test"].'
            raise InputError("a refactoring needs a check", field="checks", hint=hint)
        self._checks = parse_checks(checks)
        self._one = maintainer
        self._git = Git(maintainer.root.path)
        self._log = StepLog(maintainer.place.refactoring)
        self._approvals = approvals
        self._attempts, self._seconds = attempts, seconds
        self._limits = limits or AgentLimits(steps=40)

    # --- the plan --------------------------------------------------------------------------

    def plan(self, title: str, steps: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """
        Record a plan: a note, and a task for each step, which depends on the one before.

        Args:
            title: The purpose of the refactoring.
            steps: Title and description of each, in order.

        Returns:
            The ids of the tasks.
        """
        if not steps:
            raise InputError("a plan needs a step", field="steps")
        tasks, before = self._one.note_tool.notes.tasks, list[str]()
        for name, content in steps:
            note = tasks.add(name, content, needs=before[-1:], tags=("refactoring",))
            before.append(note.id)
        rows = enumerate(zip(before, steps, strict=True), 1)
        listed = "\n".join(f"{at}. {name} ({one})" for at, (one, (name, _)) in rows)
        self._one.create_note(title, listed, "task_state", ("refactoring", "plan"))
        return tuple(before)

    def progress(self) -> tuple[StepProgress, ...]:
        """Return the progress of every step that was started."""
        return self._log.all

    # --- carrying it out -------------------------------------------------------------------

    def run(self) -> Iterator[StepOutcome]:
        """
        Carry out the steps that are ready, one after another, until one is undone.

        Steps that a killed process left unfinished are undone first, and started again.

        Yields:
            The outcome of each step.

        Raises:
            InputError: The codebase differs from its last commit, so that the changes of a step
                could not be told apart later.
            ModelError: The model gives no answer; the step is undone.
        """
        self.recover()
        while (task := self._next()) is not None:
            outcome = self.step(task.id)
            yield outcome
            if outcome.status != "done":
                return

    def recover(self) -> tuple[StepProgress, ...]:
        """Undo the steps that a killed process left unfinished; return them as they were."""
        left = tuple(one for one in self._log.all if one.state in ("editing", "checking"))
        tasks = self._one.note_tool.notes.tasks
        for one in left:
            # A process may have made the commit and died before it logged that.
            head = self._git.head()
            if one.state == "checking" and self._git.message(head).endswith(_trailer(one.step)):
                self._log.add(one.step, "pass", commit=head)
                tasks.finish(one.step, f"commit {head[:12]}")
            else:
                self._undo(one.step)
        for card in tasks.graph().tasks.values():
            if card.status == "running" and "refactoring" in card.tags:
                tasks.give_back(card.id, "the process ended")
        return left

    def step(self, step: str) -> StepOutcome:
        """Carry out one step; see `run_check`."""
        notes = self._one.note_tool.notes
        note = notes.read(step)
        dirty = self._git.dirty()
        if dirty:
            why = f"{len(dirty)} files differ from the last commit, such as {dirty[0][:100]!r}"
            raise InputError(why, hint="Commit or stash them first.")
        checkpoint = self._git.head()
        notes.tasks.start(note.id)
        self._log.add(note.id, "begin", checkpoint=checkpoint)
        try:
            why = self._work(note)
        except BaseException:
            self._undo(note.id)
            notes.tasks.give_back(note.id, "it was interrupted")
            raise
        if why:
            self._undo(note.id)
            return self._note_failure(note, why)
        commit = self._log.of(note.id).commit
        notes.tasks.finish(note.id, f"commit {commit[:12]}")
        return StepOutcome(note.id, note.title, "done", commit)

    def _work(self, note: Note) -> str:
        """Edit and check until the checks pass; return why they do not, "" if they do."""
        commands = ", ".join(f"`{' '.join(words)}`" for words in self._checks)
        answer = PROMPTS["task"].format(title=note.title, content=note.content, checks=commands)
        failed: CheckResult | None = None
        with self._agent(note) as agent:
            for _ in range(self._attempts):
                result = agent.run(answer)
                if result.status != "done":
                    return f"the agent ended early: {result.note}"
                files = self._log.of(note.id).files
                if not files:
                    return f"nothing was edited: {result.text[:300]}"
                others = [path for path, now in self._now(files).items() if now != files[path]]
                if others:
                    return f"another process changed {', '.join(others[:5])} meanwhile"
                self._log.add(note.id, "check")
                failed = self._check()
                if failed is None:
                    commit = self._git.commit(tuple(files), f"{note.title}\n\n{_trailer(note.id)}")
                    self._log.add(note.id, "pass", commit=commit)
                    return ""
                message, now = failed.text[-1_000:], self._now(files)
                self._log.add(note.id, "fail", told=message, files=now)
                answer = PROMPTS["again"].format(command=failed.command, text=failed.text)
        return "" if failed is None else f"{failed.command} failed: {failed.text[-300:]}"

    def _check(self) -> CheckResult | None:
        """Run the checks; return the first that fails."""
        folder, seconds = self._one.root.path, self._seconds
        results = (run_check(words, folder, seconds) for words in self._checks)
        return next((result for result in results if not result.ok), None)

    def _undo(self, step: str) -> None:
        """
        Restore the files of a step to its start; the undone changes are kept as a patch.

        A file that was changed by someone else after the step is left as it is.
        """
        progress = self._log.of(step)
        if progress.state == "done":
            return
        now, checking = self._now(progress.files), progress.state == "checking"
        own = [path for path, made in progress.files.items() if checking or now.get(path) == made]
        if own:
            patch = self._git.patch(progress.checkpoint, own)
            if patch:
                self._one.place.keep_undone(step, patch)
            self._git.put_back(progress.checkpoint, own)
        self._log.add(step, "undo")

    def _note_failure(self, note: Note, why: str) -> StepOutcome:
        notes = self._one.note_tool.notes
        notes.tasks.fail(note.id, why)
        title, content = f"Step failed: {note.title}", f"Step {note.id} was undone: {why}"
        piece = KnowledgeRecord(title, content, type="blocker", tags=("refactoring",))
        self._one.knowledge.keep(piece)
        return StepOutcome(note.id, note.title, "undone", why=why)

    # --- inside ----------------------------------------------------------------------------

    def _next(self) -> Note | None:
        notes = self._one.note_tool.notes
        cards = [card for card in notes.tasks.ready() if "refactoring" in card.tags]
        return notes.read(cards[0].id) if cards else None

    def _agent(self, note: Note) -> Agent:
        name = f"refactoring-{note.id}-{secrets.token_hex(4)}"
        system = PROMPTS["system"].format(project=self._one.project_name)
        return self._one.open_agent(name, self._tools(note.id), system, self._limits)

    def _tools(self, step: str) -> Iterator[Tool]:
        # Git has the old content; backups in the codebase would count as changes of it.
        workspace = Workspace(self._one.root.path, bounds=FileBounds(backups=0))
        yield file_tools(workspace)[0]
        yield self._one.terminal_tool.tool
        yield edit_tool(workspace, self._approvals, partial(self._before, step))
        yield from knowledge_tools(self._one.knowledge, self._one.note_tool)

    def _before(self, step: str, path: str, text: str) -> None:
        """Log that a file is about to change; raise if it could not be restored."""
        progress = self._log.of(step)
        there = (self._one.root.path / path).exists() and path not in progress.files
        if self._git.ignores(path) or (there and not self._git.knows(progress.checkpoint, path)):
            raise FoldlineError(f"{path} is not tracked by git, and could not be restored.")
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self._log.add(step, "edit", path=path, hash=digest)

    def _now(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the current hashes of files, "" for missing ones."""
        return dict(read_workspace(self._one.root, paths).files)


def _trailer(step: str) -> str:
    """Return the last line of the commit message of a step."""
    return f"Step {step}"


# --- the edit tool: a person approves each diff -----------------------------------------------

LONGEST_DIFF: Final = 20_000
"""The maximum length of a diff in characters; longer ones are refused, since none is abridged."""


Before: TypeAlias = Callable[[str, str], None]
"""Called with the path and the new content before a file changes; raises to prevent it."""


def edit_tool(workspace: Workspace, approvals: Approvals | None, before: Before) -> Tool:
    """
    Return the tool edit.

    Args:
        workspace: The workspace with the files.
        approvals: Approves each edit; without it every edit is refused.
        before: Called before each file changes.
    """

    def act(given: dict[str, Any]) -> ToolOutput:
        try:
            return _edit(workspace, approvals, before, given)
        except (FoldlineError, OSError) as error:
            return refusal(given["path"], error)

    return describe_tool("edit", "foldline.agents").tool(act)


def _edit(
    workspace: Workspace, approvals: Approvals | None, before: Before, given: dict[str, Any]
) -> ToolOutput:
    path, old = given["path"], given["old_string"]
    now = workspace.read(path)
    if not now.ok and (old or now.code is not ErrorCode.NOT_FOUND):
        return now
    if now.ok and not old:
        return ToolOutput.error(ErrorCode.ALREADY_EXISTS, f"{path} exists: give old_string.")
    parts = workspace.root.parts(path)
    text, after = "", given["new_string"]
    if now.ok:
        text = workspace.root.read(parts, workspace.bounds.size).data.decode("utf-8")
        after = apply_replacements(text, [Replacement(old, after)])
    name = "/".join(parts)
    request = _request(workspace, name, text, after, given["why"])
    if approvals is None:
        return ToolOutput.error(ErrorCode.NEEDS_APPROVAL, "Nobody is available to approve this.")
    if why := approvals.approve(request):
        return ToolOutput.error(ErrorCode.DENIED, f"{name} was not changed. {why}")
    before(name, after)
    version = now.data.get("version") if now.ok else None
    done = workspace.write(path, after, version=version)
    approvals.finished(request, done.status)
    return done


def _request(workspace: Workspace, name: str, old: str, new: str, why: str) -> ApprovalRequest:
    # Only \n ends a line, so that other separators are displayed like any other character.
    sides = (old.split("\n"), new.split("\n"), f"a/{name}", f"b/{name}")
    lines = difflib.unified_diff(*sides, lineterm="", n=2)
    diff = "\n".join(visible(line, len(line)) for line in lines)
    if len(diff) > LONGEST_DIFF:
        why = f"{name}: the diff is too long for a person to review"
        raise FoldlineError(f"{why} ({len(diff):,} characters).", hint="Edit it in smaller steps.")
    return ApprovalRequest(
        command=(("edit", name, old, new),),
        shown=diff,
        directory=str(workspace.root.path),
        workspace=str(workspace.root.path),
        reason=visible(why, 300),
        risks=("write",),
    )
