"""The programs that a refactoring runs: git, to commit or undo a step, and the checks."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from foldline.errors import InputError, StoreError
from foldline.frozen import frozen

SECONDS: Final = 60.0

QUIET: Final = (
    "--no-pager",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0",
    "-c", "log.showSignature=false",
)  # fmt: skip
"""Disable everything the repository could configure to run: hooks, file monitor, signing."""

AUTHOR: Final = ("-c", "user.name=foldline maintain", "-c", "user.email=maintain@localhost")


@frozen
class Git:
    """
    The git repository of a codebase.

    Args:
        root: The folder of the codebase: the top folder of the repository, or one inside it.
    """

    root: Path

    def head(self) -> str:
        """
        Return the commit that is checked out.

        Raises:
            InputError: There is no repository or no commit.
        """
        done = self._run("rev-parse", "--verify", "HEAD^{commit}")
        if done.returncode:
            hint = "Run git init, git add and git commit first."
            raise InputError(f"{self.root} has no commit to return to", hint=hint)
        return done.stdout.decode("ascii", "replace").strip()

    def dirty(self) -> tuple[str, ...]:
        """Return the paths that differ from the commit, including untracked files."""
        words = ("--porcelain=v1", "-z", "--untracked-files=all", "--", ".")
        done = self._run_checked("status", *words)
        rows = [row for row in done.stdout.split(b"\0") if row]
        return tuple(os.fsdecode(row[3:]) for row in rows if row[:2].strip())

    def knows(self, commit: str, path: str) -> bool:
        """Return True if a commit contains a file."""
        return self._run("cat-file", "-e", f"{commit}:./{path}").returncode == 0

    def ignores(self, path: str) -> bool:
        """Return True if git ignores a file, so that it could not be restored."""
        done = self._run("check-ignore", "-q", "--", path, literal=False)
        if done.returncode > 1:
            raise StoreError(f"git cannot decide whether it ignores {path[:200]!r}.")
        return done.returncode == 0

    def commit(self, paths: Sequence[str], message: str) -> str:
        """
        Commit these files and nothing else, and return the commit.

        Raises:
            StoreError: Git refuses.
        """
        self._run_checked("add", "-A", "--", *paths)
        self._run_checked(*AUTHOR, "commit", "-q", "--no-verify", "-m", message, "--", *paths)
        return self.head()

    def message(self, commit: str) -> str:
        """Return the message of a commit."""
        done = self._run_checked("show", "-s", "--format=%B", commit)
        return done.stdout.decode("utf-8", "replace").strip()

    def patch(self, commit: str, paths: Sequence[str]) -> bytes:
        """Return the changes of files since a commit, as a patch for ``git apply``."""
        there = [path for path in paths if (self.root / path).is_file()]
        if there:  # so that the patch includes new files
            self._run_checked("add", "--intent-to-add", "--", *there)
        words = ("diff", "--binary", "--no-ext-diff", "--no-textconv", commit, "--", *paths)
        return self._run_checked(*words).stdout

    def put_back(self, commit: str, paths: Sequence[str]) -> None:
        """
        Restore files from a commit; files that it does not contain are removed.

        Raises:
            StoreError: Git refuses.
        """
        known = [path for path in paths if self.knows(commit, path)]
        if known:
            words = ("--staged", "--worktree", "--", *known)
            self._run_checked("restore", f"--source={commit}", *words)
        others = [path for path in paths if path not in known]
        if others:
            self._run_checked("rm", "-q", "--cached", "--ignore-unmatch", "--", *others)
            for path in others:
                (self.root / path).unlink(missing_ok=True)

    def _run_checked(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        done = self._run(*words)
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip()[-400:] or "no reason given"
            raise StoreError(f"git {words[0]} failed in {self.root}: {message}.")
        return done

    def _run(self, *words: str, literal: bool = True) -> subprocess.CompletedProcess[bytes]:
        program = shutil.which("git")
        if program is None:
            raise StoreError("git is not installed.", hint="A refactoring needs it to undo steps.")
        environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "false"}
        # Paths are literal, not patterns; check-ignore does so anyway and rejects the option.
        exact = ("--literal-pathspecs",) if literal else ()
        try:
            return subprocess.run(  # noqa: S603  # git by its path, every word its own argument
                [program, *QUIET, *exact, *words],
                cwd=self.root,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise StoreError(f"git {words[0]} took more than {SECONDS:g} seconds.") from error


OUTPUT_TAIL: Final = 6_000
"""The length in characters of the kept output of a check: its end, with the summary."""

READ: Final = 1 << 20


@frozen
class CheckResult:
    """The result of a check: ``code`` is None if it timed out, ``text`` the end of its output."""

    command: str
    code: int | None
    text: str

    @property
    def ok(self) -> bool:
        """Return True if the check passed."""
        return self.code == 0


def parse_checks(commands: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """
    Split command lines into words; no shell is involved.

    Raises:
        InputError: A line is empty, or a quote is not closed.
    """
    out = []
    for line in commands:
        try:
            words = tuple(shlex.split(line))
        except ValueError as error:
            raise InputError(f"The check {line[:80]!r} cannot be read: {error}") from error
        if not words:
            raise InputError("A check is empty")
        out.append(words)
    return tuple(out)


def run_check(words: Sequence[str], folder: Path, seconds: float) -> CheckResult:
    """
    Run one check for a limited time.

    Args:
        words: The program and its arguments.
        folder: The working directory.
        seconds: The timeout, after which it is stopped with all its child processes.
    """
    command = shlex.join(words)
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(  # noqa: S603  # a command given by the user, without a shell
                list(words),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return CheckResult(command, None, f"It cannot be started: {error.strerror}.")
        try:
            code: int | None = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # Its child processes are ended, too, also if the program itself is stopped.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - READ))
        text = output.read(READ).decode("utf-8", "replace")[-OUTPUT_TAIL:]
    if code is None:
        text += f"\n[stopped after {seconds:g} seconds]"
    return CheckResult(command, code, text)
