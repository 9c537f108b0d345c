"""Agents whose process is killed and that another process resumes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.agents.world import FORMATS, Counted, agent_in, talking, texts
from tests.children import launch

from foldline import Session, StoreError
from foldline.agents import RunResumed
from foldline.testing.scripted import Answer
from foldline.testing.scripted import CallTool as Call
from foldline.tools import Workspace, file_tools

pytestmark = pytest.mark.disk

CHILD = """
import sys, time
from pathlib import Path
from foldline.agents import Agent, ToolReturned, RunFinished
from foldline.models import model
from foldline.tools import Tool, ToolOutput

folder, wire, url, hang = sys.argv[1:]
folder = Path(folder)
ANY = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

def act(name):
    def run(given):
        with (folder / "acts").open("a") as file:
            file.write(f"{name} {given['n']}\\n")
        while name == hang and not (folder / "go").exists():
            time.sleep(0.01)
        return ToolOutput(f"{name} {given['n']} was done. " + "It is a long story. " * 40)
    return run

tools = [Tool("look", "Look.", ANY, act("look"), labels={"read"}),
         Tool("write", "Write.", ANY, act("write"), labels={"read", "write"})]
with model(f"{wire}:scripted", base_url=url, api_key="any") as client:
    with Agent.open(folder / "agent.db", "task", client, tools, window=6_000, root=folder,
                    max_tokens=500) as agent:
        task = None if agent.session.messages else "Do it. The ticket is ORD-7."
        for event in agent.stream(task):
            if isinstance(event, ToolReturned):
                print(event.call.name, event.call.arguments, flush=True)
            if isinstance(event, RunFinished):
                print("finished", event.result.status, event.result.spending.steps, flush=True)
"""

PAIRS = 12


def script(request):
    """Read and write in turn, by the content of the request; both at once in the middle."""
    made = [call for message in request.transcript.messages for call in message.calls]
    done = max((json.loads(call.arguments)["n"] for call in made), default=-1) + 1
    if done >= PAIRS:
        return "All done."
    return Answer("", (Call("look", {"n": done}), Call("write", {"n": done})))


def started(folder, server, wire, hang=""):
    url = getattr(server, FORMATS[wire])
    return launch(
        [sys.executable, "-c", CHILD, str(folder), wire, url, hang],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def killed(child):
    """Kill a child and return its output."""
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read()
    child.stdout.close()
    child.wait(60)
    return [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]


def ended(child):
    """Wait for a child to end by itself and return its output."""
    said = child.stdout.read().splitlines(keepends=True)
    child.stdout.close()
    assert child.wait(60) == 0
    return said


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def acts(folder: Path) -> list[str]:
    path = folder / "acts"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.slow
@pytest.mark.requirement("H8", "H9", "J7")
@pytest.mark.parametrize(("wire", "kills"), [*zip(FORMATS, (4, 1, 1), strict=True)])
def test_an_agent_that_is_killed_again_and_again_loses_nothing_and_gets_done(
    tmp_path, wire, kills
):
    chance = random.Random(wire)  # noqa: S311  # when to kill, reproducibly
    acknowledged: list[str] = []
    with talking(script, wire, window=6_000) as (server, _):
        for _ in range(kills):
            child = started(tmp_path, server, wire)
            lines = [child.stdout.readline() for _ in range(chance.randint(0, 4))]
            acknowledged += [*lines, *killed(child)]
        acknowledged += ended(started(tmp_path, server, wire))
    assert server.violations == () == server.errors
    assert acknowledged[-1].split()[:2] == ["finished", "done"]
    assert all("ORD-7" in request.text for request in server.requests)

    with Session.open(tmp_path / "agent.db", "task") as session:
        calls = [call for message in session.messages for call in message.calls]
        results = [result for message in session.messages for result in message.results]
        assert any(receipt.status == "compacted" for receipt in session.receipts)
    # Every call has one result, and the reported events match the records.
    assert [call.id for call in calls] == list(dict.fromkeys(call.id for call in calls))
    assert {call.id for call in calls} == {result.call_id for result in results}
    assert len(results) == len(calls)
    done = {(call.name, json.loads(call.arguments)["n"]) for call in calls}
    assert done == {(name, n) for name in ("look", "write") for n in range(PAIRS)}
    told = {line for line in acknowledged if line.startswith(("look", "write"))}
    assert len(told) == sum(line.startswith(("look", "write")) for line in acknowledged)
    # A call that changes something is never repeated by the program itself.
    writes = [act for act in acts(tmp_path) if act.startswith("write")]
    assert len(writes) == len(set(writes))


@pytest.mark.requirement("H8", "H20")
@pytest.mark.parametrize("name", ["look", "write"])
def test_a_call_that_was_under_way_is_made_again_only_if_it_reads(tmp_path, name):
    with talking(script) as (server, _):
        child = started(tmp_path, server, "openai-chat", hang=name)
        until(lambda: f"{name} 0" in acts(tmp_path))
        killed(child)
        (tmp_path / "go").touch()
        ended(started(tmp_path, server, "openai-chat"))
    assert server.violations == ()
    # The write comes after the read; it is unknown if it was started.
    looks, writes = (2, 0) if name == "look" else (1, 1)
    assert acts(tmp_path).count("look 0") == looks
    assert acts(tmp_path).count("write 0") == writes
    assert "The program ended before the result" in server.requests[1].text
    assert "look 0 was done" in server.requests[1].text


@pytest.mark.requirement("H20")
def test_ctrl_c_ends_the_program_at_once_and_closes_open_calls(tmp_path):
    with talking(script) as (server, _):
        child = started(tmp_path, server, "openai-chat", hang="look")
        until(lambda: "look 0" in acts(tmp_path))
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
        assert child.returncode != 0
        with Session.open(tmp_path / "agent.db", "task") as session:
            results = [result for message in session.messages for result in message.results]
        assert ["This call was cancelled" in result.text for result in results] == [True, True]
        (tmp_path / "go").touch()
        ended(started(tmp_path, server, "openai-chat"))
    assert server.violations == ()


@pytest.mark.requirement("H8")
def test_an_interrupted_answer_is_requested_again(tmp_path):
    gate = threading.Event()

    def slow(request):
        if request.number == 0:
            gate.wait(30)
        return script(request)

    with talking(slow) as (server, _):
        child = started(tmp_path, server, "openai-chat")
        assert server.wait(requests=1, seconds=30)
        killed(child)
        gate.set()
        ended(started(tmp_path, server, "openai-chat"))
    assert server.requests[0].messages == server.requests[1].messages


# --- changed files -------------------------------------------------------------------------


@pytest.mark.requirement("H18", "H20")
def test_a_resumed_agent_is_informed_of_files_changed_meanwhile(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("one\n")
    reads = tuple(Call("read_file", {"path": name}) for name in ("a.txt", "b.txt"))
    with talking([Answer("", reads), Answer("", (Call("stop"),)), "Done."]) as (server, client):
        tools = [*file_tools(Workspace(root)), Counted("stop", "write").tool]
        with agent_in(tmp_path, client, tools, root=root) as agent:
            for event in agent.stream("Read both."):
                if getattr(getattr(event, "call", None), "name", "") == "stop":
                    break
        (root / "b.txt").write_text("two\n")
        with agent_in(tmp_path, client, tools, root=root) as agent:
            events = list(agent.stream())
            assert any("b.txt (changed)" in text for text in texts(agent))
            (resumed,) = (event for event in events if isinstance(event, RunResumed))
            assert resumed.changes.files == (("b.txt", "changed"),)
            assert events[-1].result.spending.steps == 3
    assert "while you were stopped, this changed: b.txt (changed)" in server.requests[2].text
    assert server.violations == ()


def test_resuming_a_finished_run_returns_its_answer(tmp_path):
    with talking(["Done."]) as (server, client):
        with agent_in(tmp_path, client) as agent:
            agent.run("Go.")
        with agent_in(tmp_path, client) as agent:
            assert agent.resume().text == "Done."
    assert len(server.requests) == 1


def test_a_new_task_after_a_kill_closes_the_calls_of_the_old_one(tmp_path):
    with talking([*["Done."] * 2]) as (server, client), agent_in(tmp_path, client) as agent:
        call = {"id": "c1", "type": "function", "function": {"name": "x", "arguments": "{}"}}
        agent.session.append({"role": "user", "content": "Old."})
        agent.session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        assert agent.run("New.").text == "Done."
        assert "The program ended before" in texts(agent)[2]
    assert server.violations == ()


def test_a_broken_checkpoint_is_named_and_left(tmp_path):
    with talking(["Done."]) as (_, client), agent_in(tmp_path, client) as agent:
        agent.run("Go.")
        (path,) = (tmp_path / "agent.db.checkpoints").iterdir()
        path.write_text("{}")
        with pytest.raises(StoreError, match="not a checkpoint"):
            agent.resume()
    assert path.read_text() == "{}"
