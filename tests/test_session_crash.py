"""Sessions whose process is killed at any moment, for real."""

import json
import random
import signal
import subprocess
import sys

import pytest
from tests.children import launch

from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.session import Session
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import apply

pytestmark = pytest.mark.disk

CHILD = """
import sys
from foldline.tokens.estimate import EstimatedCounter
from foldline.session import Session

path, policy = sys.argv[1:]
session = Session.open(path, "s", window=6000, policy=policy, format="openai-chat",
                       counter=EstimatedCounter("o200k"))
start = len(session.messages)
print("open", start, flush=True)
for number in range(start, start + 100_000):
    if number % 2:
        wire = {"role": "user", "content": f"{number} " + "some words to fill it " * 15}
    else:
        wire = {"role": "assistant", "content": f"{number} " + "and some in answer " * 15}
    print("appended", session.append(wire), flush=True)
    before = len(session.receipts)
    session.view()
    if len(session.receipts) > before and session.receipts[-1].status == "compacted":
        print("compacted", session.receipts[-1].tokens_after, flush=True)
        if number % 3 == 0:
            print("undone", session.undo().tokens_after, flush=True)
"""


def killed_after(path, policy, acknowledgements):
    """Run a child until it has acknowledged some steps, kill it, and return its output."""
    child = launch(
        [sys.executable, "-c", CHILD, str(path), policy], stdout=subprocess.PIPE, text=True
    )
    lines = [child.stdout.readline().split() for _ in range(acknowledgements)]
    child.send_signal(signal.SIGKILL)
    # Not communicate(): it would pass over the lines that readline() has buffered.
    rest = child.stdout.read()
    child.stdout.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    # Output before the kill arrived was acknowledged, too; the last line may be cut.
    lines += [line.split() for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    return lines


@pytest.mark.parametrize(("policy", "seed"), [("window", 1), ("default", 2), ("salient", 3)])
def test_nothing_acknowledged_is_lost_and_the_view_is_consistent(place, policy, seed):
    chance = random.Random(seed)  # noqa: S311  # when to kill, reproducibly
    acknowledged = []
    for _ in range(5):
        lines = killed_after(place, policy, chance.randint(2, 160))
        acknowledged += [line[1] for line in lines if line[0] == "appended"]

        with Session.open(
            place, "s", window=6_000, policy=policy, counter=EstimatedCounter("o200k")
        ) as session:
            numbers = [message.id for message in session.messages]
            in_effect = [
                edit
                for batch in session._state.history.batches
                if batch.undone_at is None
                for edit in batch.edits
            ]
            shown = session._state.current_view.wires(OpenAIChatDialect())
            replayed = OpenAIChatDialect().messages(apply(session.messages, in_effect))
            handles = {handle for receipt in session.receipts for handle in receipt.recall}
            recalled = {session.recall(handle).message_id for handle in handles}

        # At most the one append that was under way is there without having been acknowledged.
        assert numbers[: len(acknowledged)] == acknowledged
        assert len(numbers) - len(acknowledged) in (0, 1)
        assert json.dumps(shown) == json.dumps(replayed)
        assert len(recalled) == len(handles)
        acknowledged = numbers

    assert len(acknowledged) > 40


def test_reported_compactions_survive_a_kill(place):
    lines = killed_after(place, "window", 150)
    compacted = [int(line[1]) for line in lines if line[0] == "compacted"]

    with Session.open(
        place, "s", window=6_000, policy="window", counter=EstimatedCounter("o200k")
    ) as session:
        kept = [r.tokens_after for r in session.receipts if r.status == "compacted"]

    assert compacted
    assert kept[: len(compacted)] == compacted
    assert len(kept) - len(compacted) in (0, 1)
