"""What the examples say of themselves is so."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))

homes = cache(packages_distributions)
"""By the name of a package that is imported, the distributions that bring it."""


def closure(name: str, extras: frozenset[str]) -> set[str]:
    """Return the packages that an installation of one brings along."""
    found: set[str] = set()
    waiting = [(name.lower(), extras)]
    while waiting:
        package, wanted = waiting.pop()
        if package in found and not wanted:
            continue
        found.add(package)
        try:
            needs = [Requirement(line) for line in requires(package) or ()]
        except PackageNotFoundError:
            continue
        for need in needs:
            marked = [{"extra": extra} for extra in wanted or {""}]
            if need.marker is None or any(map(need.marker.evaluate, marked)):
                key = re.sub(r"[-_.]+", "-", need.name).lower()
                if key not in found or need.extras:
                    waiting.append((key, frozenset(need.extras)))
    return found


def imported(program: Path) -> set[str]:
    tree = ast.parse(program.read_text("utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    own = {file.stem for file in PROGRAMS}
    return {name.split(".")[0] for name in names} - own - {"foldline"} - sys.stdlib_module_names


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_what_an_example_says_to_install_is_all_that_it_imports(program: Path) -> None:
    doc = ast.get_docstring(ast.parse(program.read_text("utf-8"))) or ""
    said = re.search(r"pip install '?(foldline\[[\w,-]+\])'?((?: [\w-]+)*)", doc)
    brought = closure("foldline", frozenset())
    if said:
        first = Requirement(said[1])
        brought |= closure(first.name, frozenset(first.extras))
        for name in said[2].split():
            brought |= closure(name, frozenset())
    for name in imported(program):
        there = {re.sub(r"[-_.]+", "-", home).lower() for home in homes().get(name, ())}
        assert there & brought, f"{program.name} imports {name}, which nothing it names brings"


def test_a_recording_overwrites_nothing(tmp_path: Path) -> None:
    there = tmp_path / "session.json"
    there.write_text("mine")
    for words in ([str(there)], [str(EXAMPLES / "session.json")]):
        before = Path(words[0]).read_bytes()
        ran = subprocess.run(
            [sys.executable, EXAMPLES / "record_session.py", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, "is not overwritten" in ran.stderr) == (1, True)
        assert Path(words[0]).read_bytes() == before
