"""
The outputs that the README quotes: ``make quotes`` renews them, and a test compares them.

A line is found among the printed ones by its words; ``…`` stands for lines that are left out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
README: Final = ROOT / "README.md"
LEFT_OUT: Final = "…"
CHANGED: Final = 1_795_287_180
"""Time of the bundled session in the quotes, in seconds since 1970."""

_PROGRAM: Final = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
_CONSOLE: Final = re.compile(r"(?<=^```console\n)(?:.*?)(?=^```$)", re.M | re.S)
_COMMAND: Final = re.compile(r"^\$ foldline (.+)$", re.M)


def without_figures(text: str) -> str:
    """Leave out numbers, handles and rungs: they differ with the counter that is installed."""
    return re.sub(r"\b[0-9a-f]{6}\b|<?\d[\d,]*|(?<=messages, by )[a-z, ]+", "#", text)


def run_program(page: str) -> str:
    """Run the first program of a page, and return what it prints."""
    words = [sys.executable, "-c", _first_program(page)[1]]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout


def run_commands(page: str, folder: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run the commands of a page in a folder with the bundled session; return their results."""
    session = folder / "examples" / "session.json"
    session.parent.mkdir()
    shutil.copy(ROOT / "examples" / "session.json", session)
    os.utime(session, (CHANGED, CHANGED))
    environment = {**os.environ, "FOLDLINE_HOME": str(folder), "COLUMNS": "92", "TZ": "UTC"}
    return {
        line: subprocess.run(
            [sys.executable, "-m", "foldline", *shlex.split(line)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        for line in _COMMAND.findall(page)
    }


def printed_by(done: subprocess.CompletedProcess[str], folder: Path) -> str:
    """Return the output of a command, its notes last, with paths relative to the folder."""
    return (done.stdout + done.stderr).replace(f"{folder}{os.sep}", "")


def renew(page: str, program: str, commands: Mapping[str, str]) -> str:
    """
    Return a page with its quotes renewed.

    Args:
        page: Its Markdown.
        program: The output of its first program.
        commands: The output of each of its commands.

    Raises:
        LookupError: A quoted line is not printed any more.
    """
    quoted = _first_program(page)
    page = page[: quoted.start(2)] + program + page[quoted.end(2) :]
    return _CONSOLE.sub(lambda block: "\n".join(_renew_block(block[0], commands)), page)


def _first_program(page: str) -> re.Match[str]:
    found = _PROGRAM.search(page)
    assert found is not None
    return found


def _renew_block(block: str, commands: Mapping[str, str]) -> Iterator[str]:
    rest: Iterator[str] | None = None
    for line in block.split("\n"):
        command = _COMMAND.match(line)
        if command is not None:
            rest = iter(commands[command[1]].splitlines())
        is_quoted = command is None and rest is not None and line not in ("", LEFT_OUT)
        yield _find(line, rest or ()) if is_quoted else line


def _find(quoted: str, printed: Iterable[str]) -> str:
    """Return the next printed line with the words of a quoted one."""
    words = without_figures(quoted).split()
    for line in printed:
        if without_figures(line).split() == words:
            return line.rstrip()
    raise LookupError(f"{quoted!r} is not printed any more; correct it by hand.")


def main() -> None:
    """Renew the quotes of the README."""
    page = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        ran = run_commands(page, Path(name))
        outputs = {line: printed_by(done, Path(name)) for line, done in ran.items()}
    README.write_text(renew(page, run_program(page), outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
