"""Three days, five processes, two of them killed, and a window that is exceeded repeatedly."""

from __future__ import annotations

import threading

import pytest
from tests.agents.maintainer.days import QUESTIONS, Model, command, ended, kill, shop, until

from foldline import Session
from foldline.agents.maintainer.maintainer import CONVERSATION
from foldline.notes import Notes
from foldline.testing import ScriptedServer

SERVED = 14_000
"""The window that the server really has, in tokens; the command line is told 24,000."""


@pytest.mark.slow
@pytest.mark.requirement("T15", "E4.1", "E4.2", "E5.1")
def test_three_days_with_two_kills_and_a_crossed_window_lose_no_note_and_send_nothing_invalid(
    tmp_path,
):
    root, home, model = shop(tmp_path), tmp_path / "home", Model()
    arrived, go_on = threading.Event(), threading.Event()

    def stop_once(day, step):
        if (day, step) == ("explore", 4) and not arrived.is_set():
            arrived.set()
            go_on.wait(60)

    model.reached = stop_once
    with ScriptedServer(model, window=SERVED) as server:

        def start(*words):
            return command(root, home, server.openai_url, *words)

        # Day one, killed while it waits for an answer.
        child = start(QUESTIONS["explore"], "--mode", "explore")
        assert arrived.wait(60)
        kill(child)
        go_on.set()
        assert ended(start("--resume"))["answer"]["status"] == "done"
        first = {note.title: note.id for note in Notes.open(home / "notes").list()}
        assert set(first) == {"The shop is a chain of parts", "Rebates are a fraction"}

        # Day two, killed as soon as its note is on the disk: recorded, or not known to be.
        child = start(QUESTIONS["analyze"], "--mode", "analyze")
        until(lambda: len(Notes.open(home / "notes").list()) == 3)
        kill(child)
        assert ended(start("--resume"))["answer"]["status"] == "done"

        # The line is repaired before day three.
        (root / "app" / "price.py").write_text("def price(total, rebate):\n    return total\n")
        last = ended(start(QUESTIONS["plan"], "--mode", "plan"))

    assert server.violations == () == server.errors
    refused = [one for one in server.requests if one.tokens > SERVED]
    with Session.open(home / "sessions.db", CONVERSATION) as session:
        compacted = [one for one in session.receipts if one.status == "compacted"]
        calls = [call.id for message in session.messages for call in message.calls]
        results = [one.call_id for message in session.messages for one in message.results]
    assert len(compacted) >= 4
    # The window was exceeded repeatedly, including the one known only to the server.
    assert len(refused) >= 2
    # Every call has exactly one result, in any process.
    assert sorted(calls) == sorted(results)
    assert len(set(calls)) == len(calls)

    # No note is lost or duplicated, and the plan cites day one.
    notes = Notes.open(home / "notes").list()
    assert len({note.title for note in notes}) == len(notes) == 4
    assert {note.id for note in notes} >= set(first.values())
    assert set(first.values()) <= set(last["answer"]["notes"])
    plan = next(note for note in notes if note.type == "task_state")
    assert all(one in plan.content for one in first.values())
    # The note about the repaired line is marked; the others are not.
    assert model.stale == ["A rebate above 1 makes the price negative"]
    assert last["report"]["conflicts"][0]["right"] == "workspace"
    assert next(n for n in notes if n.title == "Rebates are a fraction").level == "project"
