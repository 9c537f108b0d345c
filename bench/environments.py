"""
One environment per peer, created on first use from its lock file.

    python bench/environments.py               make all that are missing
    python bench/environments.py --lock        renew the lock files (needs an index)
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDER = CHECKOUT / ".venv-peers"
REQUIREMENTS = Path(__file__).parent / "peers" / "requirements"
MOST_SECONDS = 900.0
"""Timeout of one installation, in seconds."""

INSTALL = (
    *("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"),
    *("--require-hashes", "-r"),
)
COMPILE = (
    *("pip", "compile", "--universal", "--python-version", "3.11", "--upgrade", "--quiet"),
    *("--generate-hashes", "--no-annotate"),
    *("--custom-compile-command", "python bench/environments.py --lock"),
)

PYTHONS = ((3, 11), (3, 13))
"""First and last supported Python version of the lock files."""


def names() -> list[str]:
    """Return the names of all environments."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.in"))


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, which may not exist."""
    return FOLDER / name / "bin" / "python"


def is_ready(name: str) -> bool:
    """Return True if an environment matches its current lock file."""
    mark, lock = FOLDER / name / ".lock", REQUIREMENTS / f"{name}.lock"
    return mark.is_file() and lock.is_file() and mark.read_bytes() == lock.read_bytes()


def prepare(name: str) -> str:
    """
    Create an environment unless it exists.

    Returns:
        A sentence on why it could not be created; "" on success.
    """
    if is_ready(name):
        return ""
    if sys.version_info[:2] < PYTHONS[0] or sys.version_info[:2] > PYTHONS[1]:
        first, last = (".".join(map(str, version)) for version in PYTHONS)
        return f"its lock file is for Python {first} to {last}"
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f".{name}.busy").open("w") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        return "" if is_ready(name) else _make(name)


def _make(name: str) -> str:
    print(f"making the environment of {name} in .venv-peers", file=sys.stderr, flush=True)
    lock, place = REQUIREMENTS / f"{name}.lock", FOLDER / name
    log = FOLDER / f"{name}.log"
    shutil.rmtree(place, ignore_errors=True)
    try:
        venv.create(place, symlinks=True, with_pip=True)
        with log.open("wb") as out:
            subprocess.run(
                [python_of(name), *INSTALL, lock],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=MOST_SECONDS,
                check=True,
            )
    except (subprocess.SubprocessError, OSError) as error:
        what = type(error).__name__
        return f"its packages could not be installed ({what}; see .venv-peers/{log.name})"
    shutil.copy(lock, place / ".lock")
    return ""


def renew(name: str) -> None:
    """Renew the lock file of an environment, with hashes and without addresses."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        sys.exit("uv is not installed: run this in the environment that `make check` makes.")
    subprocess.run(
        [uv, *COMPILE, f"{name}.in", "--output-file", f"{name}.lock"],
        cwd=REQUIREMENTS,
        check=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=names())
    parser.add_argument("--lock", action="store_true", help="renew the lock files instead")
    options = parser.parse_args()
    problems = 0
    for name in options.names:
        if options.lock:
            renew(name)
            continue
        problem = prepare(name)
        problems += bool(problem)
        print(f"{name:20} {problem or 'ready'}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
