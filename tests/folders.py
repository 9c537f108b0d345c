"""
The folder of a test, in memory where there is room: a write to a file then waits for no disk.

A test sees the same of its files there: what one process wrote, every other one reads, and what
a process had written when it was killed stays. Only a power cut tells the two apart, and no test
makes one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108  # every folder in it is new and private
ROOM = 1 << 30
"""Minimum free bytes there, many times what concurrent tests write."""

PREFIX = "foldline-tests-"
LEFT = 86_400.0
"""Seconds after which a folder in memory is one that a killed run left."""

NUMBERS = itertools.count()


def in_memory() -> Path | None:
    """The folder for new folders in memory, None without room or if it is mounted noexec."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(MEMORY)
    roomy = found.f_bavail * found.f_frsize >= ROOM
    return MEMORY.resolve() if roomy and not found.f_flag & os.ST_NOEXEC else None


@pytest.fixture(scope="session")
def folder_of_tests() -> Iterator[Path]:
    """A folder in memory for all tests of a process; on a disk where no memory is to be had."""
    memory = in_memory()
    for old in memory.glob(f"{PREFIX}*") if memory else ():
        with contextlib.suppress(OSError):  # another process removes it
            if time.time() - old.stat().st_mtime > LEFT:
                shutil.rmtree(old)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=memory))
    yield folder
    if memory is None:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # what tests left that failed stays in memory for a day
        folder.rmdir()


@pytest.fixture
def disk_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A folder on a disk.

    For programs that are killed at any moment: a kill is to meet them while they wait for a disk,
    too. And for terminals, which have no workspace below ``/dev``.
    """
    return tmp_path_factory.mktemp(_name(request))


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, folder_of_tests: Path) -> Iterator[Path]:
    """
    A folder of the test's own; with the mark ``disk``, it is on a disk.

    It is removed behind a test that passes.
    """
    if request.node.get_closest_marker("disk"):
        yield request.getfixturevalue("disk_folder")
        return
    folder = folder_of_tests / f"{_name(request)}{next(NUMBERS)}"
    folder.mkdir(0o700)
    failed = request.session.testsfailed
    yield folder
    if request.session.testsfailed == failed:
        shutil.rmtree(folder, ignore_errors=True)


def _name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W", "_", request.node.name)[:30]
