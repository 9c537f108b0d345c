"""Git, as far as a refactoring changes it: a commit for each step, and files put back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.errors import InputError, StoreError

SECONDS: Final = 60.0

QUIET: Final = (
    "--no-pager",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0",
    "-c", "log.showSignature=false",
)  # fmt: skip
"""Nothing that the repository configures is run: no hooks, no monitor, no signing."""

AUTHOR: Final = ("-c", "user.name=foldline maintain", "-c", "user.email=maintain@localhost")


@dataclass(frozen=True, slots=True)
class Git:
    """
    The repository of a codebase.

    Args:
        root: The folder of the codebase; its own top folder, or one inside of it.
    """

    root: Path

    def head(self) -> str:
        """
        Return the commit that is checked out.

        Raises:
            InputError: There is no repository, or no commit.
        """
        done = self._run("rev-parse", "--verify", "HEAD^{commit}")
        if done.returncode:
            raise InputError(
                f"{self.root} has no commit to go back to",
                hint="Run git init, git add and git commit first.",
            )
        return done.stdout.decode("ascii", "replace").strip()

    def dirty(self) -> tuple[str, ...]:
        """Return the paths that differ from the commit, files that git does not know included."""
        done = self._checked("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", ".")
        rows = [row for row in done.stdout.split(b"\0") if row]
        return tuple(os.fsdecode(row[3:]) for row in rows if row[:2].strip())

    def knows(self, commit: str, path: str) -> bool:
        """Tell whether a commit has a file."""
        return self._run("cat-file", "-e", f"{commit}:./{path}").returncode == 0

    def ignores(self, path: str) -> bool:
        """Tell whether git leaves a file out, so that it could not be put back."""
        done = self._run("check-ignore", "-q", "--", path, literal=False)
        if done.returncode > 1:
            raise StoreError(f"git cannot tell whether it keeps {path[:200]!r}.")
        return done.returncode == 0

    def commit(self, paths: Sequence[str], message: str) -> str:
        """
        Commit these files, and nothing else, and return the commit.

        Raises:
            StoreError: Git says no.
        """
        self._checked("add", "-A", "--", *paths)
        self._checked(*AUTHOR, "commit", "-q", "--no-verify", "-m", message, "--", *paths)
        return self.head()

    def message(self, commit: str) -> str:
        """Return what a commit says."""
        done = self._checked("show", "-s", "--format=%B", commit)
        return done.stdout.decode("utf-8", "replace").strip()

    def patch(self, commit: str, paths: Sequence[str]) -> bytes:
        """Return what files have become since a commit, as a patch that ``git apply`` takes."""
        there = [path for path in paths if (self.root / path).is_file()]
        if there:  # so that new files are in it
            self._checked("add", "--intent-to-add", "--", *there)
        words = ("diff", "--binary", "--no-ext-diff", "--no-textconv", commit, "--", *paths)
        return self._checked(*words).stdout

    def put_back(self, commit: str, paths: Sequence[str]) -> None:
        """
        Make files what they are in a commit; those that it does not have are removed.

        Raises:
            StoreError: Git says no.
        """
        known = [path for path in paths if self.knows(commit, path)]
        if known:
            self._checked("restore", f"--source={commit}", "--staged", "--worktree", "--", *known)
        others = [path for path in paths if path not in known]
        if others:
            self._checked("rm", "-q", "--cached", "--ignore-unmatch", "--", *others)
            for path in others:
                (self.root / path).unlink(missing_ok=True)

    def _checked(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        done = self._run(*words)
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip()[-400:]
            raise StoreError(f"git {words[0]} failed in {self.root}: {told or 'no reason given'}.")
        return done

    def _run(self, *words: str, literal: bool = True) -> subprocess.CompletedProcess[bytes]:
        program = shutil.which("git")
        if program is None:
            raise StoreError("There is no git here.", hint="A refactoring needs it to go back.")
        environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "false"}
        # A path is a path and no pattern; check-ignore does so anyway, and knows no such word.
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
