"""Several processes, and killed ones, with one memory file."""

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.children import launch

from foldline.memory import Memory

pytestmark = pytest.mark.disk

WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from foldline.memory import Memory

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory.open(path) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        print(memory.add(f"{name} wrote number {number}").item.id, flush=True)
"""


def writer(path, name, count):
    return launch(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.requirement("T10")
def test_two_processes_that_write_hundreds_of_memories_each_lose_none(place):
    children = [writer(place, name, 400) for name in ("ann", "bob")]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    ids = [
        line.strip() for child in children for line in child.communicate(timeout=120)[0].split()
    ]
    assert [child.returncode for child in children] == [0, 0]
    with Memory.open(place) as memory:
        assert memory.stats()["count"] == 800 == len(set(ids))
        assert len(memory.search("bob wrote", limit=1_000)) > 100
        assert memory.search("ann 377")[0].item.content == "ann wrote number 377"
        assert all(memory.get(one) is not None for one in ids[::97])


@pytest.mark.requirement("T10")
@pytest.mark.parametrize("acknowledged", [1, 40, 150])
def test_a_killed_process_loses_at_most_its_current_write(place, acknowledged):
    child = writer(place, "ann", 1_000_000)
    assert child.stdout.readline() == "ready\n"
    child.stdin.write("go\n")
    child.stdin.flush()
    said = [child.stdout.readline() for _ in range(acknowledged)]
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read()
    child.stdin.close()
    child.stdout.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    lines = "".join(said) + rest
    ids = [line.strip() for line in lines.splitlines(keepends=True) if line.endswith("\n")]
    with Memory.open(place) as memory:
        assert all(memory.get(one) is not None for one in ids)
        assert len(ids) <= memory.stats()["count"] <= len(ids) + 1 + lines.count("\n")
        assert memory.add("and on it goes").status == "added"
    if isinstance(place, str):
        return  # the server does the rest
    with sqlite3.connect(place) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_calls_of_threads_are_serialized(place):
    with Memory.open(place) as memory, ThreadPoolExecutor(8) as pool:

        def work(number):
            memory.add(f"thread wrote number {number}")
            return len(memory.search("thread wrote", limit=1_000))

        seen = list(pool.map(work, range(200)))
        assert max(seen) <= 200
        assert memory.stats()["count"] == 200
        assert memory.search("199")[0].item.content == "thread wrote number 199"
