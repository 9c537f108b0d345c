"""How often each file was changed, as git tells; it is run by the confined terminal only."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from foldline.tools.terminal.terminal import Terminal

_ROW: Final = re.compile(r"(\d+|-)\t(\d+|-)\t(.+)")
_COMMIT: Final = re.compile(r"commit ([0-9a-f]{7,64}) (\d+) (.*)")


@dataclass(frozen=True, slots=True)
class FileHistory:
    """
    What git tells about the last commits.

    ``commits`` counts by path the commits that touched a file, ``lines`` those that were added or
    removed, ``authors`` how many people touched it. ``seen`` is the number of commits that were
    looked at; ``trouble`` says why there are none.
    """

    commits: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    authors: Mapping[str, int] = field(default_factory=dict)
    seen: int = 0
    newest: int = 0
    trouble: str = ""


def read_history(terminal: Terminal, most: int, below: str = ".") -> FileHistory:
    """
    Ask git about the newest commits.

    Args:
        terminal: Confined, and opened on the top folder of the repository.
        most: Commits.
        below: The folder of the codebase in it; paths are relative to that.
    """
    command = (
        f"git -C {shlex.quote(below)} log -n {most} --no-merges --no-renames --numstat "
        "--relative --format='commit %h %ct %aN' -- ."
    )
    ran = terminal.run(command)
    if ran.status != "ok":
        why = ran.reason or ran.stderr.strip().splitlines()[-1:] or ["git said nothing"]
        return FileHistory(trouble=why if isinstance(why, str) else why[0][:200])
    return parse_log(ran.stdout)


def parse_log(text: str) -> FileHistory:
    """Read what ``git log --numstat`` said."""
    commits: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    people: dict[str, set[str]] = {}
    seen, newest, author = 0, 0, ""
    for line in text.splitlines():
        head = _COMMIT.fullmatch(line)
        if head is not None:
            seen, newest, author = seen + 1, max(newest, int(head[2])), head[3]
            continue
        row = _ROW.fullmatch(line)
        if row is not None:
            path = row[3]
            commits[path] += 1
            lines[path] += sum(int(number) for number in row.group(1, 2) if number != "-")
            people.setdefault(path, set()).add(author)
    authors = {path: len(names) for path, names in people.items()}
    return FileHistory(dict(commits), dict(lines), authors, seen, newest)
