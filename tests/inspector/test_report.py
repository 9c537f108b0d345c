from __future__ import annotations

import re
from pathlib import Path

from tests.inspector.sample import claude_code, from_our_archive, from_our_file

from foldline.inspector.report import report


def test_a_report_has_every_view_and_loads_nothing(tmp_path: Path) -> None:
    trace = from_our_archive(tmp_path)
    text = report(trace, 1e9)
    for words in ("Over time", "What it forgot", "Compaction 1", "Where the tokens are", "Cost"):
        assert f"<h1>{words}" in text
    assert "<script" not in text
    assert not re.search(r"""(?:href|src|action)=["'](?!#)""", text)
    assert "default-src &#x27;none&#x27;" in text


def test_every_place_that_is_linked_exists(tmp_path: Path) -> None:
    text = report(from_our_archive(tmp_path), 1e9)
    places = set(re.findall(r' id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= places


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    nasty = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>"
    path = claude_code(tmp_path / "s.jsonl", [("user", nasty), ("assistant", nasty)])
    text = report(from_our_file(path), 1e9)
    assert "<script" not in text
    assert "<img" not in text
    assert text.count("</style>") == 1


def test_a_large_session_stays_a_small_file(tmp_path: Path) -> None:
    turns = [("user", "x" * 3_000), ("assistant", "y" * 2_000)] * 1_000
    path = claude_code(tmp_path / "s.jsonl", turns)
    assert path.stat().st_size > 5_000_000
    assert len(report(from_our_file(path), 1e9)) <= 5_000_000
