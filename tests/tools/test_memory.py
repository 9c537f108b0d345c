"""The memory as a tool: the reference calls, and those of a model."""

import asyncio
import json

import pytest

from foldline.errors import StoreError
from foldline.tools import MemoryTool


@pytest.fixture
def tool(tmp_path):
    with MemoryTool(user_id="user123", path=tmp_path / "m.db") as opened:
        yield opened


@pytest.mark.requirement("T8")
def test_the_reference_calls_run_unchanged(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    memory_tool = MemoryTool(user_id="user123")
    memory_tool.execute(
        "add",
        content="用户正在开发数据分析工具,使用Python和Pandas",
        memory_type="semantic",
        importance=0.8,
    )
    memory_tool.execute(
        "add", content="已完成CSV读取模块的开发", memory_type="episodic", importance=0.7
    )
    memory_tool.execute(
        "add",
        content="项目结构:\nsrc\n└── app.py",
        memory_type="semantic",
        importance=0.8,
        metadata={"type": "project_structure"},
    )
    results = memory_tool.execute(
        "search", query="如何优化Pandas的内存占用?", limit=10, min_importance=0.3
    )
    assert "用户正在开发数据分析工具" in results
    assert "已完成CSV" in memory_tool.run({"action": "search", "query": "CSV读取"})
    assert "3 memories" in memory_tool.execute("stats")
    assert "3 memories" in memory_tool.execute("summary", limit=5)
    memory_tool.memory.close()
    assert (tmp_path / "home" / "memory.db").exists()


@pytest.mark.requirement("T8")
def test_every_action_of_a_memory_can_be_called(tool):
    added = tool.output("add", content="the red boat", memory_type="working", importance=0.9)
    name = added.data["memory"]["id"]
    assert tool.output("update", memory_id=name, content="the blue boat").ok
    assert tool.output("list").data["results"][0]["content"] == "the blue boat"
    assert tool.output("consolidate").data["memories"][0]["importance"] == pytest.approx(0.99)
    gone = tool.output("forget", strategy="time", max_age_days=0.0, memory_types=["episodic"])
    assert "Forgot 1 memory" in gone.text
    assert tool.output("search", query="boat").data["results"] == []
    assert tool.output("undo", batch=gone.data["batch"]).data["ids"] == gone.data["ids"]
    (found,) = tool.output("search", query="boat").data["results"]
    assert found["strength"] > 0.5
    assert tool.output("remove", memory_id=found["id"]).ok
    assert tool.output("add", content="more").ok
    assert "Erased 1 memory" in tool.execute("clear_all")
    assert tool.execute("summary") == "There are no memories yet."


@pytest.mark.parametrize(
    ("since", "until"), [(50, 150.5), (None, 150), (50, None), (None, None), (150, None)]
)
def test_a_model_searches_and_lists_a_range_of_time(tool, since, until):
    tool.execute("add", content="the red boat", happened=100.0)
    count = int(since != 150)
    for call in ({"action": "search", "query": "boat"}, {"action": "list"}):
        output = tool.tool.run(json.dumps(call | {"time_range": [since, until]}))
        assert output.ok
        assert len(output.data.get("results", ())) == count


def test_an_error_ends_with_one_period_and_arguments_may_have_any_name(tool):
    for name in ("self", 1):
        refused = tool.run({"action": "add", name: 1})
        assert f"content: missing; {name}: unknown. Known: content, " in refused
        assert refused.endswith(", author.")


@pytest.mark.parametrize(
    ("action", "arguments", "told"),
    [
        ("fly", {}, "no action 'fly'"),
        ("add", {}, "content: missing"),
        ("add", {"content": "  "}, "nothing to remember"),
        ("add", {"content": "x", "memory_type": "perceptual"}, "perceptual"),
        ("add", {"content": "x", "file_path": "a.png"}, "file_path: unknown"),
        ("search", {"query": "x", "limit": "many"}, "limit"),
        ("search", {"query": "x", "time_range": [1]}, "time_range"),
        ("search", {"query": 3}, "query: string expected"),
        ("update", {"memory_id": "nobody", "content": "x"}, "nobody"),
        ("forget", {"strategy": "mood"}, "mood"),
        ("forget", {"strategy": "time", "max_age_days": "old"}, "forget"),
    ],
)
def test_errors_are_reported_and_never_raised(tool, action, arguments, told):
    output = tool.output(action, **arguments)
    assert not output.ok
    assert told in output.text
    assert tool.memory.stats()["count"] == 0


def test_a_model_calls_it_with_json_and_cannot_erase_everything(tool):
    memory = tool.tool
    schema = memory.schema("openai-chat")["function"]
    assert schema["name"] == "memory"
    call = {"action": "add", "content": "the launch is in May", "importance": 0.5}
    assert memory.run(json.dumps(call)).ok
    assert "the launch is in May" in memory.run('{"action": "search", "query": "launch"}').text
    assert not memory.run('{"action": "clear_all"}').ok
    assert not memory.run('{"action": "search", "query": "x", "colour": "red"}').ok
    output = asyncio.run(memory.arun({"action": "stats"}))
    assert output.data["count"] == 1


def test_recalled_text_cannot_be_added_again(tool):
    tool.execute("add", content="the launch is in May")
    told = tool.execute("search", query="launch")
    tool.execute("add", content=told.split("\n", 1)[1])
    assert tool.memory.stats()["count"] == 1


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(StoreError, match="cannot be created"):
        MemoryTool()
