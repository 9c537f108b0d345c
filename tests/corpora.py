"""Small deterministic corpora, and an operation that kills its own process."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from foldline.corpus import Scan
from foldline.corpus.operation import Row, Work
from foldline.formats.recording import Recording

DEADLY = "this one is deadly"


def write_corpus(folder: Path, sessions: int = 80) -> Path:
    """Write sessions in folders, one of them deadly to `Killing`, and files that fail."""
    for number in range(sessions):
        path = folder / f"day-{number % 7}" / f"session-{number:03}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        messages = _conversation(1 + number % 5)
        messages[1]["content"] = f"Task {number}: find the heron in build {number * 7}."
        if number == 44:
            messages[1]["content"] += DEADLY
        path.write_text(json.dumps(messages))
    (folder / "broken.json").write_text('{"messages": [')
    (folder / "cut.json.gz").write_bytes(gzip.compress(b"[" + b"1," * 5_000)[:40])
    (folder / "notes.txt").write_text("no transcript by its name")
    return folder


def write_lines(path: Path, count: int) -> Path:
    """Write a file with a conversation in every line, the last but one of them broken."""
    lines = [json.dumps({"messages": _conversation(n % 3)}) for n in range(count)]
    lines[-2] = "{"
    path.write_text("\n".join(lines) + "\n")
    return path


def _conversation(steps: int) -> list[dict[str, Any]]:
    # Workers import this module for what kills them: they need nothing of the command line.
    from tests.cli.sample import conversation

    return conversation(steps)


def content(out: Path) -> dict[str, bytes]:
    """Return every file of an output, by its name."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


@dataclass(frozen=True)
class Killing(Scan):
    """
    Scans, but kills a process at the deadly session.

    Args:
        victim: The number of a process; 0 for the worker, -1 for its parent.
        marker: A file that is made before, so that it happens once; "" for every time.
    """

    victim: int = 0
    marker: str = ""

    name: ClassVar[str] = "scan"

    def start(self) -> Work:
        """Return what scans and kills."""
        scan = super().start()

        def rows(recording: Recording) -> Iterator[Row]:
            if any(DEADLY in str(m.parts) for m in recording.current.transcript.messages):
                self._kill()
            yield from scan(recording)

        return rows

    def _kill(self) -> None:
        if self.marker:
            if Path(self.marker).exists():
                return
            Path(self.marker).touch()
        victim = {0: os.getpid(), -1: os.getppid()}.get(self.victim, self.victim)
        os.kill(victim, signal.SIGKILL)


@dataclass(frozen=True)
class Signing(Scan):
    """Scans, and writes the number of its process for every part."""

    book: str = ""

    name: ClassVar[str] = "scan"

    def start(self) -> Work:
        """Sign, and return what scans."""
        with Path(self.book).open("a") as book:
            book.write(f"{os.getpid()}\n")
        return super().start()
