"""What git and the library lizard tell: how often files change, how tangled functions are."""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.agents.maintainer.survey.files import SurveyedFile, is_code
from foldline.errors import MissingExtra
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


LONGEST: Final = 200_000
"""Characters of a file that is measured."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its cyclomatic complexity (McCabe 1976), its lines without blanks."""

    path: str
    name: str
    line: int
    complexity: int
    lines: int
    parameters: int


@dataclass(frozen=True, slots=True)
class ComplexityReport:
    """Functions, the most complex first; ``files`` were measured, ``left`` were not, in time."""

    functions: tuple[Function, ...] = ()
    files: int = 0
    left: int = 0
    trouble: str = ""


def measure_complexity(
    sources: Iterable[SurveyedFile],
    seconds: float,
    *,
    keep: int = 500,
    clock: Callable[[], float] = time.monotonic,
) -> ComplexityReport:
    """
    Measure the functions of files, until the time is over.

    Args:
        sources: The files, what matters most first.
        seconds: The time for all of them.
        keep: So many functions are returned.
        clock: Returns seconds.
    """
    try:
        analyze = _lizard()
    except MissingExtra as error:
        return ComplexityReport(trouble=str(error))
    until, found, files, left = clock() + seconds, list[Function](), 0, 0
    for source in sources:
        if not is_code(source.path) or len(source.text) > LONGEST or source.generated:
            continue
        if clock() > until:
            left += 1
            continue
        files += 1
        found += _functions(analyze, source)
    found.sort(key=lambda one: (-one.complexity, -one.lines, one.path, one.line))
    return ComplexityReport(tuple(found[:keep]), files, left)


def _functions(analyze: Callable[[str, str], Any], source: SurveyedFile) -> list[Function]:
    try:
        result = analyze(source.path, source.text)
    except Exception:  # noqa: BLE001  # code that its parser cannot read is left out
        return []
    return [
        Function(
            source.path,
            str(one.name)[:200],
            int(one.start_line),
            int(one.cyclomatic_complexity),
            int(one.nloc),
            int(one.parameter_count),
        )
        for one in result.function_list
    ]


def _lizard() -> Callable[[str, str], Any]:
    try:
        import lizard  # type: ignore[import-untyped]  # it has no types
    except ImportError as error:
        raise MissingExtra("lizard", "maintain") from error
    analyze: Callable[[str, str], Any] = lizard.analyze_file.analyze_source_code
    return analyze
