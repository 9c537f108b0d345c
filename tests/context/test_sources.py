from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from foldline.context.gathering import gather
from foldline.context.packets import ContextPacket, HistoryMessage
from foldline.context.sources import (
    ContextSource,
    files,
    history,
    knowledge_source,
    memory_source,
    references,
    source,
)
from foldline.errors import InputError
from foldline.tools import MemoryTool, NoteTool
from foldline.values.messages import Message as Recorded
from foldline.values.messages import Text


class Tool:
    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def execute(self, action: str, **settings: Any) -> list[str]:
        self.asked.append((action, settings))
        return ["found"]


class Store:
    def search(self, query: str) -> list[str]:
        return [f"about {query}"]


def fetched(one: ContextSource, query: str = "q") -> tuple[ContextPacket, ...]:
    return asyncio.run(gather(query, [one])).packets


@pytest.mark.requirement("T2")
def test_the_tools_of_the_book_are_called_as_in_the_book():
    memory, knowledge = Tool(), Tool()
    assert fetched(memory_source(memory), "q")[0].type == "memory"
    assert fetched(knowledge_source(knowledge), "q")[0].type == "rag_result"
    assert memory.asked == [("search", {"query": "q", "limit": 10, "min_importance": 0.3})]
    assert knowledge.asked == [("search", {"query": "q", "limit": 5, "min_score": 0.3})]


def test_stores_and_functions_are_sources_too():
    def own(query: str) -> str:
        return query.upper()

    assert [p.content for p in fetched(source(Store()))] == ["about q"]
    assert [p.content for p in fetched(memory_source(Store()))] == ["about q"]
    assert [p.content for p in fetched(source(own))] == ["Q"]
    assert (source(own).name, source(Store(), "mine").name) == ("own", "mine")
    assert source(one := source(own)) is one
    with pytest.raises(InputError, match="cannot be a source"):
        source(42)


@pytest.mark.requirement("T2")
def test_every_message_of_a_conversation_is_a_packet_of_its_own():
    said = history(
        [
            HistoryMessage("one", "user", datetime(2025, 1, 1, tzinfo=UTC)),
            {"role": "assistant", "content": [{"type": "text", "text": "two"}, {"type": "image"}]},
            {"role": "assistant", "content": None},
            Recorded("user", (Text("three"),)),
        ]
    )
    assert [p.content for p in said] == ["user: one", "assistant: two", "user: three"]
    assert [p.metadata["position"] for p in said] == [0, 1, 3]


def test_a_message_may_be_any_object_with_a_role_and_a_content_also_a_named_tuple():
    class Said(NamedTuple):
        role: str
        content: str

    said = history([Said("user", "one"), SimpleNamespace(role="assistant", content="two")])
    assert [p.content for p in said] == ["user: one", "assistant: two"]


@pytest.mark.parametrize("bad", ["text", 3, None, {"content": "no role"}])
def test_an_invalid_message_is_refused_by_its_position(bad: Any):
    with pytest.raises(InputError, match="message 1"):
        history([HistoryMessage("fine"), bad])


def test_files_are_loaded_except_hidden_binary_and_linked_ones(tmp_path: Path):
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("secret")
    (folder / "a.py").write_text("print('你好')\n", encoding="utf-8")
    (folder / "b.bin").write_bytes(b"\0\1")
    (tmp_path / "outside.txt").write_text("outside")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    found = fetched(files([folder]))
    assert [(p.metadata["path"], p.type) for p in found] == [(str(folder / "a.py"), "file")]
    assert found[0].content == "print('你好')\n"


def test_references_cost_a_line_each_regardless_of_file_size(tmp_path: Path):
    deep = tmp_path / ("a-folder-with-a-long-name-" * 4)
    deep.mkdir()
    (deep / "big.txt").write_text("first line\n" + "x" * 100_000)
    (packet,) = fetched(references([tmp_path]))
    assert packet.content == f"{deep / 'big.txt'} (100,011 bytes): first line"


def test_a_missing_file_is_reported_and_does_not_end_the_build(tmp_path: Path):
    gathered = asyncio.run(gather("q", [files([tmp_path / "none"])]))
    assert "is not a readable file" in gathered.sources[0].error


@pytest.mark.requirement("T2")
def test_our_own_tools_give_their_records_and_not_a_text_about_them(tmp_path: Path):
    memory = MemoryTool(user_id="ann", path=tmp_path / "memory.db")
    memory.execute("add", content="用户喜欢喝咖啡", memory_type="semantic", importance=0.8)
    notes = NoteTool(workspace=str(tmp_path / "notes"))
    notes.run({"action": "create", "title": "Deploy", "content": "stuck", "note_type": "blocker"})
    (remembered,) = fetched(memory_source(memory), "喝咖啡")
    assert (remembered.content, remembered.type) == ("用户喜欢喝咖啡", "memory")
    assert remembered.seconds is not None
    (noted,) = fetched(source(notes), "anything")
    assert (noted.metadata["note_type"], noted.relevance_score) == ("blocker", 0.9)
    memory.memory.close()
