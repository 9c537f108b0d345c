"""The tests mirror the tree: what proves a package lies in the folder of its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import PACKAGE, ROOT, modules, relative

TESTS = ROOT / "tests"


def test_every_package_has_its_tests():
    packages = {path.parent.relative_to(PACKAGE) for path in modules()} - {Path()}
    outermost = {Path(package.parts[0]) for package in packages}
    assert len(outermost) > 20
    assert {str(name) for name in outermost if not any(_tests_of(name))} == set()


def _tests_of(package: Path) -> Iterator[Path]:
    yield from (TESTS / package).rglob("test_*.py")
    yield from TESTS.glob(f"test_{package}*.py")


def test_every_module_of_its_own_has_its_test():
    alone = [path.stem for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert [name for name in alone if not any(TESTS.rglob(f"test_{name}*.py"))] == []


def test_the_tests_of_a_package_lie_in_a_folder_of_its_name():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    packages = {Path(relative(path)).parent for path in modules()}
    own = {Path(name) for name in OF_THE_WHOLE}
    assert {str(folder) for folder in folders if folder not in packages | own} == set()


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
