"""The tests mirror the tree: what proves a module is found by its path, or imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tests.architecture.sources import PACKAGE, ROOT, modules, relative

TESTS = ROOT / "tests"

PROVED_IN = {
    "agents/maintainer/test_maintainer.py": "agents/maintainer/folder.py "
    "agents/maintainer/questions.py agents/maintainer/reports.py",
    "agents/test_loop.py": "agents/run_state.py",
    "formats/test_detect.py": "formats/dialect.py",
    "formats/test_files.py": "formats/recording.py",
    "inspector/test_browser.py": "inspector/pages/compaction.py inspector/pages/messages.py "
    "inspector/pages/overview.py",
    "inspector/test_site.py": "inspector/pages/layout.py",
    "memory/test_chunk.py": "memory/cut_points.py",
    "memory/test_item_store.py": "memory/item_rows.py memory/user_index.py",
    "memory/test_memory.py": "memory/term_index.py",
    "postgres/test_database.py": "sql.py",
    "stores/test_store.py": "stores/sql.py",
    "tools/terminal/test_running.py": "tools/terminal/launcher.py",
    "tools/test_workspace.py": "tools/backups.py",
    "values/test_frames.py": "values/frame_tags.py",
    # The pure middle runs whole, under every policy, on generated histories of every wire.
    "properties/test_promises.py": "values/provider_rules.py",
    "properties/test_plain_versions.py": "repair/untangle.py",
}
"""
Modules that are proved by the test of what they are a part of: protocols, tables of words or
statements, pieces that several modules share.
"""

OF_THE_WHOLE = [
    "architecture",
    "bench",
    "clients",
    "docs",
    "failure_modes",
    "packaging",
    "properties",
]
"""Folders of tests that prove the whole, not one package."""


def test_every_module_has_its_test():
    names = [relative(path) for path in modules() if path.name != "__init__.py"]
    assert len(names) > 100
    assert [name for name in names if not any(_tests_of(name))] == []


def test_the_exceptions_are_still_exceptions():
    for test, names in PROVED_IN.items():
        assert (TESTS / test).is_file(), f"{test} is gone"
        for name in names.split():
            assert (PACKAGE / name).is_file(), f"{name} is gone"
            assert not any(_by_path(name)), f"{name} has its own test"
            assert not _imported(name), f"{name} is imported by a test"


def test_the_tests_of_a_package_lie_in_a_folder_of_its_name():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    packages = {Path(relative(path)).parent for path in modules()}
    own = {Path(name) for name in OF_THE_WHOLE}
    assert {str(folder) for folder in folders if folder not in packages | own} == set()


def _tests_of(name: str) -> Iterator[Path]:
    """Yield what proves a module: by its path, by an import, or by the table above."""
    yield from _by_path(name)
    if _imported(name):
        yield TESTS / PurePosixPath(name).parts[0]
    yield from (TESTS / test for test, names in PROVED_IN.items() if name in names.split())


def _by_path(name: str) -> Iterator[Path]:
    """Yield the tests of a module, of its subject (its first words), and of its package."""
    path = PurePosixPath(name)
    words = path.stem.split("_")
    stems = ["_".join(words[:length]) for length in range(len(words), 0, -1)]
    wanted = [TESTS / path.parent / f"test_{stem}.py" for stem in stems]
    wanted += [TESTS / one.parent / f"test_{one.name}.py" for one in list(path.parents)[:-1]]
    yield from (test for test in wanted if test.is_file())


def _imported(name: str) -> bool:
    """Return True if a test imports a module."""
    return "foldline." + name.removesuffix(".py").replace("/", ".") in _imports()


@cache
def _imports() -> frozenset[str]:
    """Return the modules that the tests import from."""
    trees = (ast.parse(path.read_text("utf-8")) for path in TESTS.rglob("test_*.py"))
    lines = (node for tree in trees for node in ast.walk(tree))
    return frozenset(
        name
        for node in lines
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    )
