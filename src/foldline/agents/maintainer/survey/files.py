"""The text files of a codebase: their languages, their text within bounds, and marked comments."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from foldline.errors import FoldlineError
from foldline.rooted_files import Root
from foldline.tools.files.sensitive import is_sensitive

_TABLE: Final = """
Python py pyi | JavaScript js jsx mjs cjs | TypeScript ts tsx | Java java | Kotlin kt kts | Go go
Rust rs | C c h | C++ cc cpp cxx hpp hh | C# cs | Ruby rb | PHP php | Swift swift | Scala scala
Lua lua | Perl pl pm | R r | Dart dart | Elixir ex exs | Erlang erl | Haskell hs | Objective-C m mm
Shell sh bash zsh | SQL sql | Vue vue | HTML html htm | CSS css scss less | Markdown md
reStructuredText rst | YAML yml yaml | TOML toml | JSON json | XML xml | Protobuf proto | Text txt
"""

LANGUAGES: Final = {
    ending: " ".join(word for word in row.split() if word[0].isupper())
    for row in _TABLE.replace("\n", "|").split("|")
    for ending in row.split()
    if not ending[0].isupper()
}
"""Languages by the ending of a file name."""

NAMES: Final = {"makefile": "Make", "dockerfile": "Docker", "cmakelists.txt": "CMake"}

PROSE: Final = frozenset(
    ("Markdown", "reStructuredText", "YAML", "TOML", "JSON", "XML", "Text", "HTML", "CSS")
)
"""Text and data: counted, but no code."""


def language(path: str) -> str:
    """Return the language of a file, "" where its name does not tell."""
    name = PurePosixPath(path).name.lower()
    return NAMES.get(name) or LANGUAGES.get(name.rpartition(".")[2] if "." in name else "", "")


def is_code(path: str) -> bool:
    """Return True if a file is code, as far as its name tells."""
    found = language(path)
    return bool(found) and found not in PROSE


_TOOLS: Final = """
.git .hg .svn .foldline .venv venv .tox .nox __pycache__ .mypy_cache .ruff_cache .pytest_cache
.hypothesis .cache node_modules bower_components dist build target .gradle .idea .vscode .eggs
"""

SKIPPED: Final = frozenset(_TOOLS.split())
"""Folders of tools, of what was built, and of what others wrote."""

LONGEST_LINE: Final = 5_000
"""A file with a longer line was written by a program, such as minified code."""


@dataclass(frozen=True, slots=True)
class SurveyedFile:
    """A text file: its path in the codebase, its language ("" unknown), its text, its hash."""

    path: str
    language: str
    text: str
    hash: str

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + (not self.text.endswith("\n") and bool(self.text))

    @property
    def generated(self) -> bool:
        """Whether a program must have written it, by the length of its lines."""
        return any(len(line) > LONGEST_LINE for line in self.text.split("\n"))


def list_paths(root: Path, most: int) -> Iterator[str]:
    """Yield the paths of at most so many files, in the order of their names."""
    count = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED and not name.endswith(".egg-info")
        )
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > most:
                return
            yield path.relative_to(root).as_posix()


def read_files(root: Root, most: int, largest: int) -> Iterator[SurveyedFile]:
    """
    Yield the text files of a codebase, but for those that may hold secrets by their names.

    Args:
        root: Its folder.
        most: Files that are looked at.
        largest: Bytes of a file; larger ones are left out, as are binary ones.
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
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One of them: the word, what follows it, and where."""

    kind: str
    path: str
    line: int
    text: str


def find_markers(source: SurveyedFile) -> Iterator[Marker]:
    """Yield what was left for later in a file."""
    for number, line in enumerate(source.text.splitlines(), 1):
        found = _MARKER.search(line[:LONGEST])
        if found is not None:
            text = found[2].strip().removesuffix("*/").removesuffix("-->").strip()
            yield Marker(found[1], source.path, number, text)
