"""Several processes, and killed ones, with one knowledge store."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.children import launch

from foldline.memory.knowledge import Knowledge

Place: TypeAlias = Path | str
Rows: TypeAlias = Callable[[], dict[str, int]]

pytestmark = pytest.mark.disk

WRITER = """
import sys
from foldline.memory.knowledge import Knowledge

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Knowledge.open(path) as knowledge:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):  # from the 200th on, each replaces a document
        words = f"{name} wrote number{number} here. " * 400
        print(knowledge.add_text(f"{name}-{number % 200}", words).document, flush=True)
"""


def writer(place: Place, name: str, count: int) -> subprocess.Popen[str]:
    child = launch(
        [sys.executable, "-c", WRITER, str(place), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


@pytest.mark.requirement("T14")
def test_two_processes_that_write_at_once_lose_no_document(place: Place, rows: Rows) -> None:
    children = [writer(place, name, 100) for name in ("ann", "bob")]
    for child in children:
        go(child)
    said = [line for child in children for line in child.communicate(timeout=120)[0].split()]
    assert [child.returncode for child in children] == [0, 0]
    with Knowledge.open(place) as knowledge:
        assert sorted(one.name for one in knowledge.documents()) == sorted(said)
        assert len(said) == 200
        assert knowledge.search("bob number77").passages[0].document == "bob-77"
    assert rows()


@pytest.mark.requirement("T14")
@pytest.mark.parametrize("acknowledged", [0, 3, 60, 260])
def test_a_killed_process_loses_at_most_the_document_in_flight(
    place: Place, rows: Rows, acknowledged: int
) -> None:
    child = writer(place, "ann", 1_000_000)
    go(child)
    assert child.stdout is not None
    said = [child.stdout.readline() for _ in range(acknowledged)]
    child.send_signal(signal.SIGKILL)
    said += child.communicate(timeout=60)[0].splitlines(keepends=True)
    names = {line.strip() for line in said if line.endswith("\n")}
    assert rows()
    with Knowledge.open(place) as knowledge:
        stored = {one.name for one in knowledge.documents()}
        assert names <= stored
        assert len(stored) <= len(names) + 2
        knowledge.add_text("after", "a zeppelin goes on")
        assert knowledge.search("zeppelin").passages[0].document == "after"
