"""Programs that tests start: none outlives the test that started it, however that test ends."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from typing import Any

PATIENCE = 30.0
"""Seconds in which a killed program ends."""

_launched: list[subprocess.Popen[Any]] = []


class Child(subprocess.Popen[Any]):
    """A program that an error in its ``with`` block ends; ``Popen`` would wait for it."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Kill it after an error; then wait for it and close its streams."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


def launch(words: Sequence[Any], **settings: Any) -> Child:
    """
    Start a program that ends with the test at the latest.

    Args:
        words: The program and its arguments.
        settings: What ``subprocess.Popen`` takes.
    """
    child = Child(words, **settings)
    _launched.append(child)
    return child


def end_all() -> None:
    """End every program that still runs, and close what leads to it."""
    while _launched:
        child = _launched.pop()
        if child.poll() is None:
            child.kill()
            child.wait(PATIENCE)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # words that it never read are still in there
                    stream.close()
