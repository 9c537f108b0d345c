"""What the page about knowledge shows can be run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldline.memory.chunk import ChunkSettings
from foldline.memory.documents import CODE, CODE_NAMES, ReadLimits
from foldline.memory.knowledge.knowledge_base import THRESHOLD
from foldline.memory.knowledge.search import POSTINGS
from foldline.memory.knowledge.search_index import LOOKED_AT, POOL
from foldline.tools import RAGTool

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "knowledge.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_every_block_runs(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102  # our own page
    assert "decisions, line 1" in capsys.readouterr().out
    tool = names.get("rag_tool")
    if isinstance(tool, RAGTool):
        tool.knowledge.close()


def test_the_figures_are_the_real_ones() -> None:
    sizes, limits = ChunkSettings(), ReadLimits()
    assert f"at most {sizes.target} tokens, and repeats at most {sizes.overlap} of" in PAGE
    assert f"larger than {limits.bytes // 10**6} MB" in PAGE
    assert f"the `threshold` of {THRESHOLD}" in PAGE
    assert f"yields {POOL} candidates" in PAGE
    assert f"at most {POSTINGS:,}" in PAGE
    assert f"the {LOOKED_AT} nearest" in PAGE
    assert f"about {round(len(CODE | CODE_NAMES), -1)} endings" in PAGE
