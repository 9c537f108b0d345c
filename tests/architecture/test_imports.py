"""Imports point one way, packages of others stay in one file, and importing Foldline is light."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tests.architecture.sources import PACKAGE, ROOT, modules, relative, tree

HEAVY = {"asyncio", "concurrent", "dataclasses", "inspect", "json", "logging", "socket", "sqlite3"}
"""What `import foldline` must not load: each of them takes longer than Foldline itself."""

LIKE_THE_LANGUAGE = {"regex"}
"""Used wherever the module of the standard library that it extends would be."""

SERVING = {"starlette", "uvicorn"}
"""What serves pages and what serves models know each other not: each has its one file."""


PURE = {
    "core", "engine", "outputs", "reinjection", "repair", "snapshot", "strategies",
    "summary", "values",
}  # fmt: skip
"""The packages that decide what a model sees: the standard library, and nothing else."""


def test_every_layer_imports_only_what_lies_below_it():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("import-linter is not installed beside this Python")
    ran = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    assert "0 broken" in ran.stdout


def test_a_package_of_others_is_imported_in_one_file_only():
    files: dict[str, set[str]] = defaultdict(set)
    for path in modules():
        for name in _imported(path):
            if name not in {"foldline", *LIKE_THE_LANGUAGE, *sys.stdlib_module_names}:
                folder = relative(path).split("/")[0]
                key = f"{name} in {folder}" if name in SERVING else name
                files[key].add("cli" if folder == "cli" else relative(path))
    assert files, (
        "no import of a third-party package was found: this test looks in the wrong place"
    )
    assert {name: places for name, places in files.items() if len(places) > 1} == {}


def test_the_pure_middle_imports_no_package_of_others():
    for layer in PURE:
        for path in sorted((PACKAGE / layer).rglob("*.py")):
            strangers = _imported(path) - sys.stdlib_module_names - {"foldline"}
            assert not strangers, f"{relative(path)} imports {strangers}"


def test_importing_foldline_loads_nothing_heavy_and_nothing_of_others():
    loaded = _loaded_by("import foldline")
    assert "foldline" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert loaded <= sys.stdlib_module_names | {"foldline"} | _loaded_by("pass")


def test_compacting_openai_messages_loads_no_network_and_no_other_thread():
    loaded = _loaded_by(
        "import foldline;"
        "turns = [{'role': role, 'content': f'{role} {n} ' * 40} for n in range(20)"
        " for role in ('user', 'assistant')];"
        "assert foldline.compact(turns, budget=900).receipt.status == 'compacted'"
    )
    assert loaded.isdisjoint({"asyncio", "socket", "ssl", "subprocess", "sqlite3"})


def _imported(path: Path) -> set[str]:
    """Name the top-level packages that a module imports, lazily or not."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def _loaded_by(code: str) -> set[str]:
    """Name the top-level modules that a fresh interpreter has after running ``code``."""
    report = f"import sys; {code}; print(*(name.split('.')[0] for name in sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", report], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.split())
