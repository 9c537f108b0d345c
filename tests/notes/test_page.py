"""The documentation of notes: its code runs, and its numbers are the actual ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from foldline.notes import KINDS, LEVELS, RELEVANCE, LevelSettings, NoteLimits
from foldline.notes.catalog import COMPARE_ALL, TURN

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "notes.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/notes.md", "exec"), names)  # noqa: S102  # our own page
    assert len(names["report"].done) == 3
    assert [packet.metadata["note_type"] for packet in names["packets"]][:2] == ["blocker"] * 2


def test_the_numbers_of_the_page_are_the_defaults() -> None:
    levels, limits = LevelSettings(), NoteLimits()
    for said in (
        f"When {levels.threshold} temporary notes",
        f"at a score of {levels.promote_at}",
        f"for {levels.expire_days:g} days",
        f"{limits.most:,}",
        f"Up to {COMPARE_ALL:,} files",
        f"each search checks {TURN:,}",
        f"blocker {RELEVANCE['blocker']}",
        ", ".join(KINDS),
        ", ".join(LEVELS),
    ):
        assert said in PAGE
