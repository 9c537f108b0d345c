"""Agents over real connections: what they record, what they survive, and how they end."""

import asyncio

import pytest
from tests.agents.world import ANY, FORMATS, Counted, agent_in, talking, texts

from foldline import ContextOverflow, FoldlineError, InputError, ModelError, Session
from foldline.agents import (
    Agent,
    AgentLimits,
    ModelAnswered,
    ModelRetried,
    RunFinished,
    ToolCalled,
    ToolReturned,
    pinned_in,
)
from foldline.models import Catalogue, Delta
from foldline.stores.memory import MemoryStore
from foldline.testing.scripted import (
    Answer,
    Capped,
    CutOff,
    Nothing,
    Overflow,
    Refuse,
    Stall,
    Status,
)
from foldline.testing.scripted import CallTool as Call
from foldline.tools import Skills, Tool, ToolOutput, ToolRegistry, ToolSettings
from foldline.values.messages import Usage

wires = pytest.mark.parametrize("wire", FORMATS)


@wires
@pytest.mark.requirement("H8", "H20")
def test_an_agent_works_through_its_calls_and_records_all_as_it_goes(tmp_path, wire):
    look, write = Counted("look", "read"), Counted("write", "write")
    script = [
        Answer("I look.", (Call("look", {"at": 1}), Call("look", {"at": 2}), Call("nothing"))),
        Call("write", {"x": "é\n"}),
        "All is well.",
    ]
    with (
        talking(script, wire) as (server, client),
        agent_in(tmp_path, client, [look.tool, write.tool], system="Be brief.") as agent,
    ):
        recorded = []
        for event in agent.stream("Look and write."):
            if isinstance(event, ToolReturned):
                recorded.append(len(agent.session.messages))
        assert event.result.status == "done"
        assert event.result.text == "All is well."
        assert (event.result.spending.steps, event.result.spending.calls) == (3, 4)
        assert [run["at"] for run in look.runs] == [1, 2]
        assert write.runs == [{"x": "é\n"}]
        assert texts(agent)[-1] == "All is well."
    assert recorded == sorted(set(recorded))
    assert server.violations == () == server.errors
    assert "Be brief." in server.requests[0].text
    assert "There is no tool 'nothing'" in server.requests[1].text
    # The next process reads the same.
    with Session.open(tmp_path / "agent.db", "task") as session:
        assert session.messages[0].text == "Look and write."


@wires
def test_events_come_in_order_and_the_pieces_of_an_answer_as_they_arrive(tmp_path, wire):
    script = [Answer("I look.", (Call("look"),)), "Done."]
    with (
        talking(script, wire) as (_, client),
        agent_in(tmp_path, client, [Counted("look", "read").tool]) as agent,
    ):
        events = list(agent.stream("Go."))
    kinds = [type(event) for event in events if not isinstance(event, Delta)]
    assert kinds == [ModelAnswered, ToolCalled, ToolReturned, ModelAnswered, RunFinished]
    said = "".join(e.text for e in events if isinstance(e, Delta) and e.kind == "text")
    assert said == "I look.Done."


@wires
@pytest.mark.requirement("H8", "H2", "H7")
def test_a_long_run_is_compacted_on_the_way_and_every_request_is_accepted(tmp_path, wire):
    noise = Counted("read", "read", text="one more line of a long log\n" * 200)
    steps = [Call("read", {"page": n}) for n in range(24)]
    with (
        talking([*steps, "Read."], wire, window=8_000) as (server, client),
        agent_in(tmp_path, client, [noise.tool], window=8_000, max_tokens=500) as agent,
    ):
        assert agent.run("Read 24 pages. The ticket is ORD-7.").status == "done"
        assert any(receipt.status == "compacted" for receipt in agent.session.receipts)
        assert len(agent.session.messages) == 1 + 2 * 24 + 1
    assert server.violations == () == server.errors
    assert all("ORD-7" in request.text for request in server.requests)


def test_the_agent_can_recall_and_compact(tmp_path):
    with (
        talking([Call("compact", {"focus": "x"}), "Done."]) as (server, client),
        agent_in(tmp_path, client) as agent,
    ):
        agent.run("Go.")
        assert [tool.name for tool in agent.tools] == ["recall", "compact"]
    assert "Compaction requested" in server.requests[1].last


# --- errors of providers -------------------------------------------------------------------


@wires
@pytest.mark.requirement("J7", "H8")
def test_a_broken_off_or_empty_answer_is_requested_again(tmp_path, wire):
    script = [CutOff(60), Nothing(), Status(529, retry_after=0.0), "Here I am."]
    with talking(script, wire) as (server, client), agent_in(tmp_path, client) as agent:
        events = list(agent.stream("Hello?"))
    assert events[-1].result.status == "done"
    assert sum(isinstance(event, ModelRetried) for event in events) == 2
    assert texts(agent) == ["Hello?", "Here I am."]
    assert server.violations == ()


@wires
@pytest.mark.requirement("J7")
def test_a_persistent_error_is_typed_and_the_run_can_resume(tmp_path, wire):
    look = Counted("look", "read")
    script = [Call("look"), Status(401), "Done."]
    with (
        talking(script, wire) as (server, client),
        agent_in(tmp_path, client, [look.tool]) as agent,
    ):
        with pytest.raises(ModelError, match="401"):
            agent.run("Look.")
        result = agent.resume()
    assert (result.status, result.text, result.spending.steps) == ("done", "Done.", 2)
    assert len(look.runs) == 1
    assert server.requests[1].messages == server.requests[2].messages


@wires
@pytest.mark.requirement("J7", "F54")
def test_an_overflow_is_followed_by_one_smaller_request(tmp_path, wire):
    noise = Counted("read", "read", text="one more line of a long log\n" * 100)
    script = [*[Call("read", {"page": n}) for n in range(8)], Overflow(), "Done."]
    with (
        talking(script, wire) as (server, client),
        agent_in(tmp_path, client, [noise.tool]) as agent,
    ):
        assert agent.run("Read.").text == "Done."
    rejected, smaller = server.requests[-2:]
    assert smaller.tokens < rejected.tokens


@pytest.mark.requirement("J7", "F54")
def test_a_second_overflow_is_a_typed_error(tmp_path):
    noise = Counted("read", "read", text="one more line of a long log\n" * 100)
    script = [*[Call("read", {"page": n}) for n in range(8)], Overflow(), Overflow()]
    with (
        talking(script) as (_, client),
        agent_in(tmp_path, client, [noise.tool]) as agent,
        pytest.raises(ContextOverflow),
    ):
        agent.run("Read.")


# --- how a run ends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([Nothing()] * 3, "silent"),
        ([Refuse()], "refused"),
        ([Capped()], "length"),
        ([Answer("over and over " * 80)] * 3, "loop"),
    ],
)
def test_useless_answers_end_the_run(tmp_path, script, status):
    with talking(script) as (server, client), agent_in(tmp_path, client) as agent:
        result = agent.run("Go.")
    assert result.status == status
    assert len(server.requests) == len(script)


@pytest.mark.requirement("H8")
def test_calls_in_a_loop_get_one_warning_and_then_end_the_run(tmp_path):
    look = Counted("look", "read")
    with (
        talking(lambda _: Call("look", {"at": 1})) as (server, client),
        agent_in(tmp_path, client, [look.tool]) as agent,
    ):
        result = agent.run("Look.")
        assert "made 5 times with the same result" in texts(agent)[-3]
    assert result.status == "loop"
    assert len(look.runs) == len(server.requests) == 6


def test_a_model_that_heeds_the_warning_continues(tmp_path):
    script = [*[Call("look", {"at": 1})] * 5, Call("look", {"at": 2}), "Done."]
    with (
        talking(script) as (_, client),
        agent_in(tmp_path, client, [Counted("look", "read").tool]) as agent,
    ):
        assert agent.run("Look.").status == "done"


@pytest.mark.parametrize(
    ("limits", "status", "steps"),
    [
        (AgentLimits(steps=3), "steps", 3),
        (AgentLimits(seconds=0.0), "time", 0),
        (AgentLimits(usd=1.0), "money", 1),
    ],
)
def test_a_limit_ends_the_run_and_the_conversation_can_continue(tmp_path, limits, status, steps):
    with talking(lambda r: Call("look", {"at": r.number})) as (server, client):
        look = Counted("look", "read")
        with agent_in(tmp_path, client, [look.tool], limits=limits) as agent:
            result = agent.run("Look.")
            assert (result.status, result.spending.steps) == (status, steps)
            assert agent.resume().status == status
        with agent_in(tmp_path, client, [look.tool], limits=AgentLimits(steps=steps + 2)) as agent:
            assert agent.resume().spending.steps == steps + 2
    assert server.violations == ()


def test_the_money_of_a_model_with_a_price_is_limited(tmp_path):
    dear = Answer("x", (Call("look"),), usage=Usage(1_000_000, 0))
    with talking(lambda _: dear, "anthropic") as (server, client):
        priced = type(client)("claude-sonnet-4-5", _info("claude-sonnet-4-5"), client._sender)
        limits = AgentLimits(usd=5.0)
        tools = [Counted("look", "read").tool]
        with agent_in(tmp_path, priced, tools, limits=limits, window=2_000_000) as agent:
            result = agent.run("Look.")
    assert result.status == "money"
    assert 5.0 <= result.spending.usd < 5.0 + result.spending.usd / len(server.requests) + 0.01


def _info(name):
    return Catalogue.load().find(name)


@pytest.mark.requirement("H20")
def test_a_model_that_stalls_ends_the_run_in_time(tmp_path):
    limits = AgentLimits(seconds=0.3)
    with talking([Stall()]) as (_, client), agent_in(tmp_path, client, limits=limits) as agent:
        assert agent.run("Go.").status == "time"


@wires
def test_a_call_that_was_cut_off_is_not_run_and_the_model_is_informed(tmp_path, wire):
    cut = Answer("", (Call("write", {"n": 1}), Call("write", {"n": 2})), stop="length")
    write = Counted("write", "write")
    with (
        talking([cut, "Done."], wire) as (server, client),
        agent_in(tmp_path, client, [write.tool]) as agent,
    ):
        assert agent.run("Write.").status == "done"
    assert write.runs == [{"n": 1}]
    assert "in the middle of it" in server.requests[1].text
    assert server.violations == ()


# --- pinned results ------------------------------------------------------------------------


@wires
@pytest.mark.requirement("H15")
def test_a_skill_stays_in_view_in_a_long_run(tmp_path, wire):
    place = tmp_path / "skills" / "release"
    place.mkdir(parents=True)
    told = "---\nname: release\ndescription: How.\n---\nThe port is 48113."
    (place / "SKILL.md").write_text(told)
    noise = Counted("read", "read", text="one more line of a long log\n" * 200)
    pages = [Call("read", {"page": n}) for n in range(20)]
    script = [
        Call("skill", {"name": "release"}),
        *pages,
        Call("skill", {"name": "release"}),
        "Done.",
    ]
    tools = ToolRegistry([noise.tool])
    with (
        talking(script, wire) as (server, client),
        agent_in(tmp_path, client, tools, window=8_000) as agent,
    ):
        tools.add(Skills(tmp_path / "skills", is_pinned=pinned_in(agent.session)).tool)
        agent.run("Release it.")
        assert any(receipt.status == "compacted" for receipt in agent.session.receipts)
    assert all("48113" in request.text for request in server.requests[1:])
    assert "already loaded above" in server.requests[-1].text


# --- cancellation --------------------------------------------------------------------------


def cancelled_at(tmp_path, wire, script, when):
    """Cancel a run at a matching event, and return the messages of the session."""

    async def slow(_):
        await asyncio.sleep(30)
        return ToolOutput("too late")

    tools = [
        Tool("slow", "A tool.", ANY, lambda _: ToolOutput(""), slow, frozenset({"read"})),
        Counted("quick", "read").tool,
    ]

    async def main(agent):
        async def watch():
            async for event in agent.astream("Go."):
                if when(event):
                    reached.set()

        reached = asyncio.Event()
        task = asyncio.create_task(watch())
        await asyncio.wait_for(reached.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await agent.aresume()

    with talking(script, wire) as (server, client), agent_in(tmp_path, client, tools) as agent:

        async def whole():
            try:
                return await main(agent)
            finally:
                await client.aclose()

        result = asyncio.run(whole())
        return server, result, texts(agent)


@wires
@pytest.mark.requirement("H20", "H8")
@pytest.mark.parametrize("kind", [Delta, ModelAnswered, ToolCalled, ToolReturned])
def test_a_cancellation_at_any_point_leaves_a_session_that_can_continue(tmp_path, wire, kind):
    script = [Answer("I look.", (Call("quick"), Call("slow"))), *["Done."] * 2]
    server, result, said = cancelled_at(
        tmp_path, wire, script, lambda event: isinstance(event, kind)
    )
    assert (result.status, result.text) == ("done", "Done.")
    assert server.violations == ()
    if kind is ToolReturned:
        assert "fine" in said
    if kind in (ToolCalled, ToolReturned):
        assert any("This call was cancelled" in text for text in said)


def test_closing_a_stream_cancels_the_run(tmp_path):
    script = [Call("look"), "Done."]
    with (
        talking(script) as (_, client),
        agent_in(tmp_path, client, [Counted("look", "read").tool]) as agent,
    ):
        for event in agent.stream("Go."):
            if isinstance(event, ToolCalled):
                break
        assert agent.resume().text == "Done."


def test_an_agent_runs_one_task_at_a_time(tmp_path):
    with talking(["Done."] * 3) as (_, client), agent_in(tmp_path, client) as agent:
        events = agent.stream("Go.")
        next(events)
        with pytest.raises(FoldlineError, match="already running"):
            agent.run("Go.")
        events.close()
        assert agent.run("Go.").status == "done"


# --- refusals -----------------------------------------------------------------------------


def test_a_session_in_another_format_and_empty_tasks_are_refused(tmp_path):
    with talking([]) as (_, client), agent_in(tmp_path, client) as agent:
        with pytest.raises(InputError, match="empty"):
            agent.run("  ")
        with pytest.raises(InputError, match="nothing to resume"):
            agent.resume()
    with talking([], "anthropic") as (_, client):
        session = Session.open(None, "s", store=MemoryStore(), format="openai-chat")
        with pytest.raises(InputError, match="uses anthropic"):
            Agent(session, client)


@pytest.mark.requirement("H7")
def test_a_giant_output_is_cut_when_it_is_recorded_and_can_be_recalled(tmp_path):
    giant = Counted("read", "read", text="".join(f"line {n} of many\n" for n in range(200_000)))
    tools = ToolRegistry([giant.tool], settings=ToolSettings(longest=5_000_000))
    with (
        talking([Call("read"), "Done."]) as (server, client),
        agent_in(tmp_path, client, tools, window=64_000) as agent,
    ):
        agent.run("Read.")
        (handle,) = agent.session.receipts[0].recall
        assert (
            agent.session.recall(handle, lines="100001:100001").text.strip()
            == "line 100000 of many"
        )
    assert server.requests[1].tokens < 32_000


@pytest.mark.parametrize("wire", FORMATS)
def test_calls_that_share_an_id_are_requested_again_and_never_recorded(tmp_path, wire):
    look = Counted("look", "read")
    twins = Answer("", (Call("look", {"n": 1}, id="x"), Call("look", {"n": 2}, id="x")))
    script = [twins, Answer("", (Call("look", {"n": 3}),)), "Done."]
    with talking(script, wire) as (_, client), agent_in(tmp_path, client, [look.tool]) as agent:
        assert agent.run("Look.").status == "done"
        assert look.runs == [{"n": 3}]
        assert all(len(message.calls) < 2 for message in agent.session.messages)
