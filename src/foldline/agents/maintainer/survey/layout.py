"""How the tests lie beside the code: which files are tests, and which modules have none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from foldline.agents.maintainer.survey.files import Source
from foldline.agents.maintainer.survey.languages import is_code

_FOLDERS: Final = frozenset(("test", "tests", "spec", "specs", "__tests__"))
_NAMES: Final = re.compile(
    r"test_.+|.+_tests?|.+[.-](test|spec)|.+(Test|Tests|Spec)|conftest", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Layout:
    """
    Tests and code, in files and lines.

    ``without`` are code files of some size that no test file is named for, the largest first. A
    name is a hint and no proof: something else may test them.
    """

    test_files: int = 0
    test_lines: int = 0
    code_files: int = 0
    code_lines: int = 0
    folders: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """Lines of tests for each line of code."""
        return self.test_lines / self.code_lines if self.code_lines else 0.0


def is_test(path: str) -> bool:
    """Tell whether a file is a test, by its name and folders."""
    whole = PurePosixPath(path)
    in_folder = any(part.lower() in _FOLDERS for part in whole.parts[:-1])
    return is_code(path) and (in_folder or _NAMES.fullmatch(whole.stem) is not None)


def layout(sources: Iterable[Source], *, least: int = 20, most: int = 200) -> Layout:
    """
    Look at tests and code.

    Args:
        sources: The files of the codebase.
        least: Lines below which a code file is not expected to have a test.
        most: So many files without a test are named.
    """
    code = [one for one in sources if is_code(one.path)]
    tests = [one for one in code if is_test(one.path)]
    rest = [one for one in code if not is_test(one.path)]
    named = {_subject(one.path) for one in tests}
    without = [one for one in rest if one.lines >= least and not _names(one.path) & named]
    without.sort(key=lambda one: (-one.lines, one.path))
    folders = sorted({str(PurePosixPath(one.path).parent) for one in tests})
    return Layout(
        len(tests),
        sum(one.lines for one in tests),
        len(rest),
        sum(one.lines for one in rest),
        tuple(folders[:50]),
        tuple(one.path for one in without[:most]),
    )


def _subject(path: str) -> str:
    stem = PurePosixPath(path).stem.lower()
    stem = re.sub(r"^test_|[._-](tests?|spec)$", "", stem)
    return re.sub(r"(tests?|spec)$", "", stem) or stem


def _names(path: str) -> set[str]:
    whole = PurePosixPath(path)
    return {whole.stem.lower(), *([whole.parent.name.lower()] if whole.stem == "__init__" else [])}
