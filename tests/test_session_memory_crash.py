"""Sessions that prepare their compactions in the background, killed at any moment, for real."""

import json
import random
import signal
import subprocess
import sys

import pytest
from tests.children import launch

from foldline import Config, Session
from foldline.core.prepared import MemorySettings
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import apply

pytestmark = pytest.mark.disk

CHILD = """
import sys, time
from foldline import Config, Session
from foldline.core.prepared import MemorySettings
from foldline.tokens.estimate import EstimatedCounter
from foldline.stores.sqlite import SqliteStore

path, pause = sys.argv[1], float(sys.argv[2])

def summarize(ask):
    time.sleep(pause)  # a model takes its time; the turns go on meanwhile
    return "The agent counts upwards."

session = Session.open(None, "s", store=SqliteStore(path, durability="process"), window=3000,
                       policy="salient", format="openai-chat",
                       counter=EstimatedCounter("o200k"), summarizer=summarize,
                       config=Config(memory=MemorySettings(enabled=True, every=150)))
start = len(session.messages)
print("open", start, flush=True)
memory = None
for number in range(start, start + 100_000):
    role = "user" if number % 5 == 0 else "assistant"
    wire = {"role": role, "content": f"{number} " + "some words to fill it " * 15}
    print("appended", session.append(wire), flush=True)
    if session.memory is not memory and session.memory is not None:
        memory = session.memory
        print("prepared", memory.at, flush=True)
    before = session.receipt_count
    session.view()
    if session.receipt_count > before and session.receipt().status == "compacted":
        print("compacted", session.receipt().reason.replace(" ", "_"), flush=True)
        if number % 7 == 0:
            print("undone", session.undo().tokens_after, flush=True)
"""


def reopened(path):
    return Session.open(
        path,
        "s",
        window=3_000,
        policy="salient",
        counter=EstimatedCounter("o200k"),
        config=Config(memory=MemorySettings(enabled=True, every=10**6)),
    )


def killed(path, steps, pause):
    """Run a child until it has printed some lines, kill it, and return all of its output."""
    child = launch(
        [sys.executable, "-c", CHILD, str(path), str(pause)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = [child.stdout.readline().split() for _ in range(steps)]
    child.send_signal(signal.SIGKILL)
    rest, errors = child.stdout.read(), child.stderr.read()
    child.stdout.close()
    child.stderr.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    assert errors == ""
    # The last line may be cut; every whole line was acknowledged.
    return lines + [line.split() for line in rest.splitlines(keepends=True) if line.endswith("\n")]


def examined(path, acknowledged):
    """Check that an archive is of one moment, and return the ids of its messages."""
    with reopened(path) as session:
        numbers = [message.id for message in session.messages]
        state, wires = session._state, OpenAIChatDialect()
        shown = state.current_view.wires(wires)
        replayed = wires.messages(apply(session.messages, state.history.edits()))
        memory = session.memory
        handles = {handle for receipt in session.receipts for handle in receipt.recall}
        recalled = {session.recall(handle).message_id for handle in handles}
        all_shown = tuple(state.current_view.messages.values())
        misfit = memory.misfit(all_shown, "openai-chat") if memory else ""

    # At most the one append that was under way is there without having been acknowledged.
    assert numbers[: len(acknowledged)] == acknowledged
    assert len(numbers) - len(acknowledged) in (0, 1)
    assert json.dumps(shown) == json.dumps(replayed)
    assert wires.validate(shown) == []
    assert len(recalled) == len(handles)
    assert misfit == ""
    return numbers


def crashed(folder, kills, longest, seed):
    """Kill sessions repeatedly, a new one every fourth time, and return their whole output."""
    chance = random.Random(seed)  # noqa: S311  # when to kill, reproducibly
    said, acknowledged = [], []
    for kill in range(kills):
        path = folder / f"{kill // 4}.db"
        acknowledged = acknowledged if path.exists() else []
        lines = killed(path, chance.randint(2, longest), chance.choice((0.0, 0.002, 0.02)))
        said += lines
        acknowledged += [line[1] for line in lines if line[0] == "appended"]
        acknowledged = examined(path, acknowledged)
    return said


@pytest.mark.requirement("F91", "F93", "K28", "J3")
def test_a_killed_session_has_the_old_or_the_new_state_and_recalls_every_handle(tmp_path):
    said = crashed(tmp_path, 20, 60, seed=1)
    words = [line[0] for line in said]
    assert words.count("prepared") > 3
    assert words.count("compacted") > 10
    assert ["compacted", "session_memory"] in said


@pytest.mark.slow
@pytest.mark.requirement("F91", "F93", "K28")
def test_two_hundred_compactions_survive_a_kill_at_any_moment(tmp_path):
    said = crashed(tmp_path, 24, 300, seed=2)
    assert [line[0] for line in said].count("compacted") >= 200
