"""Checks: the commands that a person named, run after each step; all must end with 0."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.errors import InputError

SHOWN: Final = 6_000
"""Characters of what a check says that are kept: the end, where test runners sum up."""

READ: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Result:
    """How a check ended: ``code`` is None when it was stopped, ``text`` the end of its output."""

    command: str
    code: int | None
    text: str
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it passed."""
        return self.code == 0


def parsed(commands: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """
    Return command lines as words; no shell ever reads them.

    Raises:
        InputError: One is empty, or its quotes do not close.
    """
    out = []
    for line in commands:
        try:
            words = tuple(shlex.split(line))
        except ValueError as error:
            raise InputError(f"the check {line[:80]!r} cannot be read: {error}") from error
        if not words:
            raise InputError("a check is empty")
        out.append(words)
    return tuple(out)


def run(words: Sequence[str], folder: Path, seconds: float) -> Result:
    """
    Run one check, and all that it starts, for at most so many seconds.

    Args:
        words: The program and its arguments.
        folder: Where.
        seconds: After these it is stopped.
    """
    begun, shown = time.monotonic(), shlex.join(words)
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(  # noqa: S603  # what a person named, without a shell
                list(words),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return Result(shown, None, f"It cannot be started: {error.strerror}.", 0.0)
        try:
            code: int | None = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # Whatever it started goes with it, also when the program itself is stopped.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - READ))
        text = output.read(READ).decode("utf-8", "replace")[-SHOWN:]
    if code is None:
        text += f"\n[stopped after {seconds:g} seconds]"
    return Result(shown, code, text, time.monotonic() - begun)
