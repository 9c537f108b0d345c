"""Knowledge as a tool: the reference calls, and those of a model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.core.asks import Ask
from foldline.errors import StoreError
from foldline.tools import RAGTool

GUIDE = "# Guide\n\n## Retries\n\nA failed request is tried again three times.\n"


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[RAGTool]:
    with RAGTool(tmp_path / "kb", rag_namespace="mine") as opened:
        yield opened


@pytest.mark.requirement("T14")
def test_the_reference_calls_run_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project/app").mkdir(parents=True)
    Path("project/app/pandas_notes.py").write_text("def optimise():\n    '''Pandas 内存优化'''\n")
    Path("project/readme.md").write_text(GUIDE)
    rag_tool = RAGTool(knowledge_base_path="./knowledge_base")
    assert rag_tool.add_document("./project/**/*.py").startswith("Added ")
    assert "1 documents" in rag_tool.execute("stats")
    rag_tool.execute("add_document", file_path="./project/readme.md", document_id="readme")
    rag_tool.execute(
        "add_text", text="Pandas 的 category 类型可以减少内存占用。", document_id="tip"
    )
    results = rag_tool.execute("search", query="如何优化Pandas的内存占用?", limit=5, min_score=0.3)
    assert "减少内存占用" in results
    assert "pandas_notes.py, lines 1-2" in results
    asked = rag_tool.run({"action": "ask", "question": "How often is a request tried again?"})
    assert "three times" in asked
    assert (tmp_path / "knowledge_base" / "knowledge.db").exists()


@pytest.mark.requirement("T14")
def test_every_action_can_be_called(tool: RAGTool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(GUIDE)
    added = tool.output("add_document", file_path=str(tmp_path / "a.md"), document_id="a")
    assert added.data.items() >= {"document": "a", "outcome": "added", "chunks": 1}.items()
    assert "has not changed" in tool.execute(
        "add_document", file_path=str(tmp_path / "a.md"), document_id="a"
    )
    done = tool.output("add_texts", texts=["one boat", "two boats"], document_ids=["1", "2"])
    assert done.data["documents"] == ["1", "2"]
    nameless = tool.output("add_text", text="a car").data["document"]
    assert tool.output("add_text", text="a car").data["outcome"] == "unchanged"
    found = tool.output("search", query="boats", limit=1)
    assert [row["document"] for row in found.data["results"]] in (["1"], ["2"])
    assert not tool.output("search", query="zebra").data["evidence"]
    rows = tool.output("list").data["documents"]
    assert [row["document"] for row in rows] == sorted(["1", "2", "a", nameless])
    assert tool.output("remove", document_id="1").ok
    assert tool.output("remove", document_id="1").code == "not_found"
    assert tool.output("add_text", text="other", namespace="theirs").ok
    assert tool.output("clear", confirm=False).code == "needs_approval"
    assert tool.output("clear", confirm=True).data == {"count": 3}
    assert tool.output("stats").data["documents"] == 0
    assert tool.output("stats", namespace="theirs").data["documents"] == 1


@pytest.mark.requirement("T14")
def test_a_model_answers_only_ask_calls_with_evidence(tmp_path: Path) -> None:
    asked: list[Ask] = []

    def model(ask: Ask) -> str:
        asked.append(ask)
        return "Three times [1]."

    with RAGTool(tmp_path / "kb.db", model=model) as tool:
        tool.add_text(GUIDE, document_id="guide", kind="markdown")
        tool.search("retries", enable_mqe=False, enable_hyde=False)
        tool.ask("zebra?")
        assert asked == []
        told = tool.ask("How often is a failed request tried again?")
        assert told.startswith("Three times [1].")
        assert "Sources:\n[1] guide, lines 1-5 (Guide)" in told
        assert len(asked) == 1
    assert tool.output("search", query="x").code == "execution"


def test_ignored_arguments_are_reported(tool: RAGTool) -> None:
    done = tool.output("search", query="x", enable_mqe=False, max_chars=300)
    assert done.data["without_effect"] == ["enable_mqe", "max_chars"]


@pytest.mark.parametrize("name", ["enable_mqe", "enable_hyde"])
def test_query_expansion_by_a_model_is_refused(tool: RAGTool, name: str) -> None:
    refused = tool.output("search", query="x", **{name: True})
    assert refused.code == "invalid_arguments"
    assert name in refused.text


@pytest.mark.requirement("T14")
def test_sizes_of_chunks_are_given_call_by_call(tool: RAGTool) -> None:
    text = "\n\n".join(["word " * 700, "word " * 50, "word " * 790])
    small = tool.output("add_text", text=text, document_id="a", chunk_size=100, chunk_overlap=20)
    usual = tool.output("add_text", text=text, document_id="b", chunk_size=800)
    assert small.data["chunks"] > 10 > usual.data["chunks"]
    wrong = tool.output("add_text", text="x", chunk_size=100, chunk_overlap=90)
    assert (wrong.ok, "half" in wrong.text) == (False, True)


@pytest.mark.parametrize(
    ("action", "arguments", "word"),
    [
        ("serch", {}, "Known: add_text"),
        ("search", {}, "query: missing"),
        ("search", {"query": "x", "limit": 0}, "at least 1"),
        ("search", {"query": "x", "depth": 3}, "unknown"),
        ("search", {"query": ["x"]}, "string expected"),
        ("add_document", {"file_path": "/nowhere/at/all"}, "cannot be read"),
        ("add_texts", {"texts": ["a"], "document_ids": []}, "1 texts have 0 names"),
        ("stats", {"namespace": " "}, "not a name"),
        ("clear", {}, "confirm: missing"),
    ],
)
def test_a_wrong_call_is_reported_and_never_raises(
    tool: RAGTool, action: str, arguments: dict[str, object], word: str
) -> None:
    done = tool.output(action, **arguments)
    assert not done.ok
    assert word in done.text


@pytest.mark.requirement("T14")
def test_a_model_reads_no_files_and_removes_nothing(tool: RAGTool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(GUIDE)
    schema = tool.tool.schema("anthropic")["input_schema"]
    assert schema["properties"]["action"]["enum"] == ["search", "list", "stats", "add_text"]
    assert "file_path" not in schema["properties"]
    for wrong in ({"action": "add_document", "file_path": "a"}, {"action": "clear"}):
        assert tool.tool.run(wrong).code == "invalid_arguments"
    assert tool.tool.run({"action": "add_text", "text": GUIDE, "document_id": "a"}).ok
    assert "three times" in tool.tool.run({"action": "search", "query": "retries"}).text


def test_a_folder_of_documents_is_reported(tool: RAGTool, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(GUIDE)
    (folder / "b.bin").write_bytes(b"\0\1" * 100)
    done = tool.output("add_document", file_path=str(folder))
    assert done.status == "partial"
    assert done.text == "1 documents added, 0 replaced, 0 unchanged, 1 skipped."


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be created"):
        RAGTool(tmp_path / "file" / "kb")


def test_every_action_has_its_method() -> None:
    for action in RAGTool.described.actions:
        assert inspect.isfunction(getattr(RAGTool, f"_{action}"))
