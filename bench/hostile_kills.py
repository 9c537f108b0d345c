"""Kills: a process that appends, compacts and undoes is killed with SIGKILL repeatedly."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from foldline.errors import FoldlineError
from foldline.session import Session
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import apply

EACH: Final = 20
"""Number of successive processes on one archive."""

SECONDS: Final = 60
"""Maximum seconds until a process is killed."""

CHILD: Final = """
import sys
from foldline.tokens.estimate import EstimatedCounter
from foldline.session import Session

session = Session.open(sys.argv[1], "s", window=4000, policy=sys.argv[2], format="openai-chat",
                       counter=EstimatedCounter("o200k"))
start = len(session.messages)
for number in range(start, start + 10_000):
    role = "user" if number % 2 else "assistant"
    wire = {"role": role, "content": f"{number} " + "some words to fill it " * 15}
    print("appended", session.append(wire), flush=True)
    session.view()
    if number % 9 == 0:
        session.compact()
        session.undo()
"""


def kill(path: Path, policy: str, acknowledged: int) -> list[str]:
    """Run a process until it has acknowledged some messages, kill it, and return their ids."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), policy], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(acknowledged)]
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    finally:
        child.kill()
        child.wait(timeout=SECONDS)
        if child.stdout is not None:
            child.stdout.close()
    return [line.split()[1] for line in lines if line.endswith("\n")]


def lost(path: Path, policy: str, acknowledged: list[str]) -> tuple[list[str], list[str]]:
    """Return the faults of an archive after a kill, and the ids of its messages."""
    wrong: list[str] = []
    with Session.open(
        path, "s", window=4_000, policy=policy, counter=EstimatedCounter("o200k")
    ) as session:
        numbers = [message.id for message in session.messages]
        if numbers[: len(acknowledged)] != acknowledged:
            wrong.append("an acknowledged message is lost")
        if len(numbers) - len(acknowledged) not in (0, 1):
            wrong.append("there are messages that were never sent")
        edits = session._state.history.edits()  # the log and its view
        view = tuple(session._state.current_view.messages.values())
        if apply(session.messages, edits) != view:
            wrong.append("the view is inconsistent")
        for receipt in session.receipts:
            for handle in receipt.recall:
                session.recall(handle)
    return wrong, numbers


def fuzz(count: int, seed: int = 1) -> tuple[int, list[str]]:
    """
    Kill ``count`` processes.

    Returns:
        The number of acknowledged messages, and the faults.
    """
    draw, wrong, total = random.Random(seed), [], 0  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        acknowledged: list[str] = []
        for number in range(count):
            policy = ("default", "window", "salient")[number // EACH % 3]
            path = Path(folder) / f"{number // EACH}.db"
            if number % EACH == 0:
                acknowledged = []
            ids = kill(path, policy, draw.randint(1, 25))
            total += len(ids)
            try:
                found, acknowledged = lost(path, policy, acknowledged + ids)
            except FoldlineError as error:
                found = [str(error)]
            wrong += [f"kill {number}: {one}" for one in found]
    return total, wrong
