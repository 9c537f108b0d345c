import asyncio
import json
import threading

import pytest
from tests.agents.world import FORMATS, Counted, agent_in, talking, texts

from foldline import BudgetError, ModelError, Session
from foldline.agents import AgentLimits, SubagentReport, Subagents
from foldline.agents.subagents import tail
from foldline.stores.memory import MemoryStore
from foldline.testing.scripted import Answer, Status
from foldline.testing.scripted import CallTool as Call
from foldline.tools import FULL, CombinedToolset, Permissions, ToolRegistry


def roles(parent, child):
    """Return a script for a parent and its sub-agents, distinguished by their tasks."""

    def script(request):
        asked = next(m.text for m in request.transcript.messages if m.role == "user")
        steps = child if "SUB:" in asked else parent
        return steps(request) if callable(steps) else steps.pop(0)

    return script


@pytest.fixture
def registry():
    return ToolRegistry([Counted("look", "read").tool, Counted("write", "read", "write").tool])


@pytest.mark.requirement("H14")
@pytest.mark.parametrize("wire", FORMATS)
def test_a_sub_agent_works_in_its_own_session_and_brings_back_a_report(tmp_path, registry, wire):
    noise = Counted("pages", "read", text="a long page of a log\n" * 400)
    registry.add(noise.tool)
    pages = [Call("pages", {"n": n}) for n in range(6)]
    script = roles(
        [Call("delegate", {"task": "SUB: find the port."}), "Thanks."],
        [*pages, "It is 48113, see a.toml:3."],
    )
    store = MemoryStore()
    with talking(script, wire) as (server, client):
        helpers = Subagents(client, registry, window=16_000, store=store)
        tools = CombinedToolset(registry, helpers.toolset)
        with agent_in(tmp_path, client, tools) as agent:
            result = agent.run("What is the port?")
            # The parent has its question, one call, the report and its answer: nothing else.
            assert len(agent.session.messages) == 4
            report = texts(agent)[2]
            assert agent.session.tokens < 500
    assert "It is 48113, see a.toml:3." in report
    assert "status 'done', 7 steps" in report
    assert (result.spending.steps, result.spending.calls) == (2, 1)
    (info,) = store.sessions()
    assert info.messages == 1 + 2 * 6 + 1
    assert info.head.name.startswith("sub-agent-")
    assert server.violations == () == server.errors


@pytest.mark.requirement("H14", "H13")
def test_a_sub_agent_may_only_read_unless_it_was_allowed_more(registry):
    script = [Call("write", {}), "Done."]
    with talking(script * 2) as (server, client):
        Subagents(client, registry, window=16_000).run("SUB: write.")
        assert "You may not use write" in server.requests[1].last
        report = Subagents(client, registry, window=16_000, permissions=FULL).run("SUB: write.")
        assert server.requests[3].last == "fine"
    assert report.calls == 1
    names = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert names == {"look", "recall", "compact"}
    assert len(registry) == 2


@pytest.mark.requirement("H14")
def test_the_end_of_long_findings_is_kept_and_not_their_beginning(registry):
    lines = "".join(f"finding {n}\n" for n in range(2_000))
    with talking([lines]) as (_, client):
        report = Subagents(client, registry, window=64_000, longest=1_000).run("SUB: go.")
    assert len(report.findings) <= 1_000
    assert report.findings.endswith("finding 1999")
    assert report.findings.startswith("[… the beginning was omitted …]\nfinding ")
    assert json.loads(json.dumps(report.to_dict()))["status"] == "done"
    assert tail("short", 200) == "short"
    assert len(tail("x" * 900, 200)) == 200


@pytest.mark.requirement("H14")
def test_it_has_its_own_budget_and_its_cost_counts_for_the_parent(tmp_path, registry):
    script = roles(
        [Call("delegate", {"task": "SUB: look around."}), "I see."],
        lambda request: Answer("Not yet.", (Call("look", {"n": request.number}),)),
    )
    with talking(script) as (_, client):
        limits = AgentLimits(steps=3)
        helpers = Subagents(client, registry, window=16_000, limits=limits)
        with agent_in(tmp_path, client, CombinedToolset(registry, helpers.toolset)) as agent:
            result = agent.run("Look.")
            assert "ended with the status 'steps'" in texts(agent)[2]
            assert "Not yet." in texts(agent)[2]
    assert result.status == "done"
    output = asyncio.run(_paid(helpers))
    assert output.stats["steps"] == 3
    assert output.status == "partial"


async def _paid(helpers):
    async def arun(task):
        return SubagentReport("steps", "x", "s", 3, 2, 0.5)

    helpers.arun = arun
    return await helpers.tool.arun({"task": "x"})


@pytest.mark.requirement("H14")
def test_sub_agents_send_no_others_unless_that_was_allowed_and_never_deeper(registry):
    deep = [Call("delegate", {"task": "SUB: go deeper."})] * 2
    with talking([*deep[:1], "No."]) as (server, client):
        helpers = Subagents(client, registry, window=16_000)
        registry.add(helpers.tool)
        helpers.run("SUB: go.")
        assert "may not use delegate" in server.requests[1].last
    with talking([*deep, "I cannot.", "It cannot."]) as (server, client):
        helpers = Subagents(client, registry, window=16_000, depth=2)
        assert helpers.run("SUB: go.").findings == "It cannot."
    assert "may not use delegate" in server.requests[2].last
    with pytest.raises(BudgetError, match="depth"):
        Subagents(client, registry, depth=0)


@pytest.mark.requirement("H14", "H20")
def test_sub_agents_that_only_read_work_side_by_side(tmp_path, registry):
    both = threading.Barrier(2)

    def child(_):
        both.wait(10)
        return "Found."

    tasks = tuple(Call("delegate", {"task": f"SUB: part {n}."}) for n in range(2))
    with talking(roles([Answer("", tasks), "Done."], child)) as (server, client):
        helpers = Subagents(client, registry, window=16_000)
        with agent_in(tmp_path, client, CombinedToolset(registry, helpers.toolset)) as agent:
            assert agent.run("Look.").text == "Done."
    assert server.errors == ()


@pytest.mark.requirement("H14")
def test_a_sub_agent_that_fails_is_an_error_that_the_parent_reads(tmp_path, registry):
    with talking([Call("delegate", {"task": "SUB: go."}), Status(401), "A pity."]) as (_, client):
        helpers = Subagents(client, registry, window=16_000)
        with agent_in(tmp_path, client, CombinedToolset(registry, helpers.toolset)) as agent:
            assert agent.run("Go.").text == "A pity."
            assert "The sub-agent failed" in texts(agent)[2]
    with talking([Status(401)]) as (_, client), pytest.raises(ModelError):
        Subagents(client, registry, window=16_000).run("SUB: go.")


def test_the_session_of_a_sub_agent_can_be_read_afterwards(registry):
    store = MemoryStore()
    with talking(["Found."]) as (_, client):
        report = Subagents(client, registry, window=16_000, store=store).run("SUB: go.")
    with Session.open(None, report.session, store=store) as session:
        assert [message.text for message in session.messages] == ["SUB: go.", "Found."]


def test_delegate_has_the_labels_of_all_allowed_tools_even_of_later_ones():
    registry = ToolRegistry([Counted("look", "read").tool])
    with talking([]) as (_, client):
        helpers = Subagents(client, registry, permissions=Permissions({"read", "write"}))
        delegate = helpers.tool
        registry.add(Counted("change", "write").tool)
    assert "change" in helpers.tools
    assert delegate.labels == {"delegate", "read", "write"}
