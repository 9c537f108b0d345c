"""The source files of this checkout, parsed, for the tests of its architecture."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "foldline"


def modules() -> list[Path]:
    """List every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def relative(path: Path) -> str:
    """Name a module by its path inside the package, such as ``values/view.py``."""
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def kept_files() -> tuple[Path, ...]:
    """List the files that belong to the project: what git knows or would take in."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.split("\0") if listed.returncode == 0 else _walked()
    return tuple(path for name in names if name and (path := ROOT / name).is_file())


def _walked() -> list[str]:
    """List files where there is no git, as in an unpacked archive of the sources."""
    return [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*")
        if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    ]
