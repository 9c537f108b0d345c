"""The wheel as a user gets it, in an environment with nothing else in it, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def ran(*words: object, cwd: Path, home: Path | None = None) -> str:
    """Run a program that sees neither this checkout nor its environment; return what it says."""
    kept = {"PATH": os.environ["PATH"], "COLUMNS": "100"}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**kept, "HOME": str(home or cwd), "FOLDLINE_HOME": str(home or cwd)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def built(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the sources as ``make dist`` does, and return both."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ndist:")[1].split("\n\n")[0]
    assert "-m hatchling build" in recipe
    ran(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT, home=folder)
    (wheel,), (sources,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sources


def installed(wheel: Path, extra: str, folder: Path) -> Path:
    """
    Install a wheel with an extra into a new environment, and return the folder of its programs.

    What it needs is copied from where the tests run, in the versions of the lock; that pip then
    finds nothing missing, without an index to ask, proves that the wheel names what it needs.
    """
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    (packages,) = (folder / "lib").glob("python*/site-packages")
    for name in sorted(needed("foldline", extra)):
        _copy(name, packages)
    pip = [sys.executable, "-I", "-m", "pip", "--isolated", "--disable-pip-version-check"]
    pip += ["--python", programs / "python"]
    wanted = f"foldline[{extra}] @ {wheel.as_uri()}"
    ran(*pip, "install", "--quiet", "--no-compile", "--no-index", wanted, cwd=folder)
    ran(*pip, "check", cwd=folder)
    return programs


def needed(name: str, extra: str) -> set[str]:
    """Name every distribution that one needs with an extra, and those that they need."""
    seen: set[tuple[str, str]] = set()
    left = [(name, extra), (name, "")]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += _needs(*one)
    return {found for found, _ in seen} - {name}


def _needs(name: str, extra: str) -> Iterator[tuple[str, str]]:
    for line in _distribution(name).requires or ():
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
            for more in ("", *wanted.extras):
                yield canonicalize_name(wanted.name), more


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        pytest.skip(f"the wheel cannot be tried: {name} is not installed where the tests run")


def _copy(name: str, packages: Path) -> None:
    """Copy the files of an installed distribution, but for its programs and what was compiled."""
    found = _distribution(name)
    for file in found.files or ():
        if ".." not in file.parts and not re.search(r"\.pyc$", file.name):
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), target)
