"""Measures of a codebase: its files, their change frequency, the complexity of functions."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final

from foldline.errors import FoldlineError, MissingExtra
from foldline.frozen import field, frozen
from foldline.rooted_files import Root
from foldline.tools.description import read_tables
from foldline.tools.sensitive import is_sensitive
from foldline.tools.terminal.terminal import Terminal

_NAMES: Final = read_tables("foldline.agents.maintainer", "languages.toml")

PROSE: Final = frozenset(_NAMES["prose"])
"""Text and data formats: counted, but not as code."""

LANGUAGES: Final[Mapping[str, str]] = {
    ending: name
    for kind in ("code", "prose")
    for name, endings in _NAMES[kind].items()
    for ending in endings.split()
}
"""Languages by file name extension."""

SKIPPED: Final = frozenset(_NAMES["folders"]["skipped"].split())
"""Folders of tools, build output and third-party code."""


def language(path: str) -> str:
    """Return the language of a file by its name, "" if unknown."""
    name = PurePosixPath(path).name.lower()
    ending = name.rpartition(".")[2] if "." in name else ""
    return str(_NAMES["names"].get(name) or LANGUAGES.get(ending, ""))


def is_code(path: str) -> bool:
    """Return True if a file is code, by its name."""
    found = language(path)
    return bool(found) and found not in PROSE


LONGEST_LINE: Final = 5_000
"""The line length in characters above which a file counts as generated, such as minified code."""


@frozen
class SurveyedFile:
    """A text file: its path in the codebase, its language ("" if unknown), its text, its hash."""

    path: str
    language: str
    text: str
    hash: str

    @property
    def lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    @property
    def generated(self) -> bool:
        """Return True if the file is generated, by the length of its lines."""
        return any(len(line) > LONGEST_LINE for line in self.text.split("\n"))


def list_paths(root: Path, most: int) -> Iterator[str]:
    """Yield the paths of at most ``most`` files, in the order of their names."""

    def walk() -> Iterator[Path]:
        for folder, folders, names in os.walk(root, followlinks=False):
            kept = {name for name in folders if not name.endswith(".egg-info")} - SKIPPED
            folders[:] = sorted(kept)
            yield from (Path(folder, name) for name in sorted(names))

    files = (path for path in walk() if not path.is_symlink() and path.is_file())
    return (path.relative_to(root).as_posix() for path in islice(files, most))


def read_files(root: Root, most: int, largest: int) -> Iterator[SurveyedFile]:
    """
    Yield the text files of a codebase, except files whose names suggest secrets.

    Args:
        root: The folder of the codebase.
        most: The maximum number of files.
        largest: The maximum size of a file in bytes; larger and binary files are skipped.
    """
    for path in list_paths(root.path, most):
        if is_sensitive(path.split("/")):
            continue
        with suppress(FoldlineError, OSError, UnicodeDecodeError):
            data = root.read(root.parts(path), largest).data
            text = data.decode("utf-8")
            if "\0" not in text:
                yield SurveyedFile(path, language(path), text, hashlib.sha256(data).hexdigest())


_MARKER: Final = re.compile(
    r"(?:#|//|/\*|^\s*\*|--|<!--|;|%).{0,200}?\b(TODO|FIXME|XXX|HACK)\b[ :(\-]{0,3}(.{0,160})"
)

LONGEST: Final = 400
"""The number of characters of a line that are searched."""


@frozen
class Marker:
    """A TODO-like comment: its keyword, the text after it, and its location."""

    kind: str
    path: str
    line: int
    text: str


def find_markers(source: SurveyedFile) -> Iterator[Marker]:
    """Yield the TODO-like comments of a file."""
    for number, line in enumerate(source.text.splitlines(), 1):
        found = _MARKER.search(line[:LONGEST])
        if found is not None:
            text = found[2].strip().removesuffix("*/").removesuffix("-->").strip()
            yield Marker(found[1], source.path, number, text)


_ROW: Final = re.compile(r"(\d+|-)\t(\d+|-)\t(.+)")
_COMMIT: Final = re.compile(r"commit ([0-9a-f]{7,64}) (\d+) (.*)")


@frozen
class FileHistory:
    """
    Statistics of the last commits.

    By path, ``commits`` counts the commits that touched a file, ``lines`` the lines added or
    removed, ``authors`` the authors who touched it. ``seen`` is the number of commits read;
    ``trouble`` is the reason if there are none.
    """

    commits: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    authors: Mapping[str, int] = field(default_factory=dict)
    seen: int = 0
    newest: int = 0
    trouble: str = ""


def read_history(terminal: Terminal, most: int, below: str = ".") -> FileHistory:
    """
    Read statistics of the newest commits.

    Args:
        terminal: A confined terminal, opened on the top folder of the repository.
        most: The maximum number of commits.
        below: The folder of the codebase in the repository; paths are relative to it.
    """
    options = f"-n {most} --no-merges --no-renames --numstat --relative"
    command = f"git -C {shlex.quote(below)} log {options} --format='commit %h %ct %aN' -- ."
    ran = terminal.run(command)
    if ran.status != "ok":
        last = ["git printed no error", *ran.stderr.strip().splitlines()][-1][:200]
        return FileHistory(trouble=ran.reason or last)
    return parse_log(ran.stdout)


def parse_log(text: str) -> FileHistory:
    """Parse the output of ``git log --numstat``."""
    commits: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    names_by_path: dict[str, set[str]] = {}
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
            names_by_path.setdefault(path, set()).add(author)
    authors = {path: len(names) for path, names in names_by_path.items()}
    return FileHistory(dict(commits), dict(lines), authors, seen, newest)


MOST_FUNCTIONS: Final = 500
"""The maximum number of functions that are listed, the most complex."""

LONGEST_MEASURED: Final = 200_000
"""The maximum size in characters of a file that is measured."""


@frozen
class Function:
    """A function: its cyclomatic complexity (McCabe 1976), its number of non-blank lines."""

    path: str
    name: str
    line: int
    complexity: int
    lines: int
    parameters: int


@frozen
class ComplexityReport:
    """Functions, the most complex first; ``files`` were measured, ``left`` ran out of time."""

    functions: tuple[Function, ...] = ()
    files: int = 0
    left: int = 0
    trouble: str = ""


def measure_complexity(sources: Iterable[SurveyedFile], seconds: float) -> ComplexityReport:
    """
    Measure the functions of files, within a time limit.

    Args:
        sources: The files, the most important first.
        seconds: The time limit for all of them.
    """
    try:
        import lizard  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        return ComplexityReport(trouble=str(MissingExtra("lizard", "maintain")))
    analyze = lizard.analyze_file.analyze_source_code
    until, found, files, left = time.monotonic() + seconds, list[Function](), 0, 0
    for source in sources:
        if not is_code(source.path) or len(source.text) > LONGEST_MEASURED or source.generated:
            continue
        if time.monotonic() > until:
            left += 1
            continue
        files += 1
        found += _functions(analyze, source)
    found.sort(key=lambda one: (-one.complexity, -one.lines, one.path, one.line))
    return ComplexityReport(tuple(found[:MOST_FUNCTIONS]), files, left)


def _functions(analyze: Callable[[str, str], Any], source: SurveyedFile) -> list[Function]:
    try:
        result = analyze(source.path, source.text)
    except Exception:  # noqa: BLE001  # code that lizard cannot parse is skipped
        return []
    return [
        Function(
            path=source.path,
            name=str(one.name)[:200],
            line=int(one.start_line),
            complexity=int(one.cyclomatic_complexity),
            lines=int(one.nloc),
            parameters=int(one.parameter_count),
        )
        for one in result.function_list
    ]
