"""The sessions of a corpus, and the operations on them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest
from tests.cli.sample import conversation
from tests.corpora import write_corpus, write_lines

from foldline.corpus import (
    BuildIndex,
    Compact,
    CorpusReport,
    MeasureRetention,
    Scan,
    planning,
    run,
    search,
    worker,
)
from foldline.corpus.filesystem import list_files
from foldline.corpus.operation import Operation
from foldline.corpus.output import read_footer, read_rows
from foldline.errors import BudgetError, FoldlineError, InputError, StoreError


def made(operation: Operation, out: Path, *patterns: object) -> CorpusReport:
    """Run in threads of this process, where patches of a test apply."""
    with ThreadPoolExecutor(1) as pool:
        return run(operation, [str(pattern) for pattern in patterns], str(out), client=pool)


def rows(out: Path, column: str, *values: str) -> list[dict]:
    return [
        row
        for part in sorted((out / "parts").iterdir())
        for row in read_rows(str(part), column, values)
    ]


def test_a_search_loads_no_modules_for_counting_or_compacting() -> None:
    code = (
        "import sys; from foldline.corpus import search;"
        "print({'foldline.api', 'foldline.engine', 'foldline.snapshot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_folders_patterns_and_files_are_listed_once_and_sorted(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", 20)
    (corpus / ".git").mkdir()
    (corpus / ".git" / "x.json").write_text("[]")
    (corpus / "loop").symlink_to(corpus)
    found = [
        f.path for f in list_files([str(corpus), f"{corpus}/**/s*.json"], str(tmp_path / "o"))
    ]
    assert found == sorted(set(found))
    assert len(found) == 22
    assert list_files([f"{corpus}/day-1/*-00[0-9].json"], "o")[0].path.endswith("session-001.json")


@pytest.mark.parametrize("pattern", ["/nowhere", "nowhere/*.json", "foo://x/*"])
def test_a_pattern_without_matches_is_an_error(pattern, tmp_path):
    with pytest.raises(InputError):
        made(Scan(), tmp_path, pattern)


def test_the_output_is_not_part_of_the_corpus(tmp_path):
    write_corpus(tmp_path, 5)
    first = made(Scan(), tmp_path / "out", tmp_path)
    again = made(Scan(), tmp_path / "out", tmp_path)
    assert (again.sessions, again.resumed) == (first.sessions, first.parts)


def test_statistics_add_up(tmp_path):
    write_corpus(tmp_path / "corpus", 10)
    report = made(Scan(), tmp_path / "out", tmp_path / "corpus")
    totals = report.totals
    kinds = ("system", "user", "assistant", "tool_calls", "tool_results")
    assert totals["conversations"] == 10
    assert sum(totals[f"{kind}_tokens"] for kind in kinds) == totals["tokens"] > 1_000
    assert totals["tool_calls"] == sum(1 + n % 5 for n in range(10))


def test_compaction_keeps_the_budget_and_returns_a_receipt(tmp_path):
    write_corpus(tmp_path / "corpus", 10)
    made(Compact(budget=0.5), tmp_path / "out", tmp_path / "corpus")
    found = rows(tmp_path / "out", "status", "compacted")
    assert found
    for row in found:
        receipt = json.loads(row["receipt"])
        assert receipt["tokens_after"] == row["tokens_after"] <= row["tokens_before"] / 2
        assert len(json.loads(row["messages"])) == row["messages_after"]


def test_invalid_settings_are_refused_before_any_work():
    for wrong in (
        lambda: Compact(),
        lambda: Compact(budget=0.5, window=9_000),
        lambda: Compact(budget=-1),
        lambda: Compact(budget=0.5, policy="nonsense"),
        lambda: MeasureRetention(budgets=()),
        lambda: MeasureRetention(model="of nobody"),
    ):
        with pytest.raises((BudgetError, FoldlineError)):
            wrong()


def test_retention_and_price_are_measured(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps(conversation(40)))
    report = made(MeasureRetention(budgets=(0.2,)), tmp_path / "out", path)
    prices = rows(tmp_path / "out", "kind", "price")
    assert {row["method"] for row in prices} >= {"no compaction", "Foldline default"}
    assert report.totals["price/no compaction/usd"] == prices[0]["usd"] > 0
    for row in rows(tmp_path / "out", "kind", "retention"):
        assert 0 <= row["need"] <= 1


def test_a_search_finds_the_session_that_has_the_rarest_words(tmp_path):
    write_corpus(tmp_path / "corpus", 30)
    made(BuildIndex(), tmp_path / "out", tmp_path / "corpus")
    best, *others = search(str(tmp_path / "out"), "the heron in build 147")
    assert best.path.endswith("session-021.json")
    assert best.message == 1
    assert all(best.score > other.score for other in others)
    assert len(search(str(tmp_path / "out"), "heron", 3)) == 3
    with pytest.raises(InputError):
        search(str(tmp_path / "out"), " … ")
    with pytest.raises(StoreError, match="no complete index"):
        search(str(tmp_path), "heron")


def test_a_large_file_of_conversations_is_divided_and_every_line_read_once(tmp_path, monkeypatch):
    path = write_lines(tmp_path / "many.jsonl", 60)
    whole = made(Scan(), tmp_path / "whole", path)
    monkeypatch.setattr(planning, "RANGE_BYTES", 10_000)
    ranges = made(Scan(), tmp_path / "ranges", path)
    assert (whole.parts, whole.sessions, whole.failed) == (1, 60, 1)
    assert ranges.parts > 5
    assert (ranges.sessions, ranges.failed, ranges.totals) == (60, 1, whole.totals)
    (failed,) = ranges.failures
    assert failed[1] == path.read_bytes().rindex(b"\n{\n") + 1


def test_a_session_is_never_divided(tmp_path, monkeypatch):
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(json.dumps(m) for m in conversation(30)))
    monkeypatch.setattr(planning, "RANGE_BYTES", 1_000)
    report = made(Scan(), tmp_path / "out", path)
    assert (report.parts, report.sessions, report.totals["conversations"]) == (1, 1, 1)


def test_a_too_large_file_is_refused_packed_and_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "MAX_BYTES", 1_000_000)
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(b" " * 50_000_000))
    (tmp_path / "large.json").write_text(json.dumps(["x" * 2_000_000]))
    lines = [json.dumps([{"role": "user", "content": text}]) for text in ("a", "b" * 2_000_000)]
    (tmp_path / "lines.jsonl").write_text("\n".join([lines[0], lines[0]]))
    report = made(Scan(), tmp_path / "out", tmp_path)
    assert (report.sessions, report.failed) == (4, 2)
    assert all("larger than" in why for _, _, why in report.failures)


def test_names_that_point_elsewhere_stay_names(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("..%2f..%2fx.json", "a\nb.json", "-rf.json", "$(id).json", "\udcff.json"):
        (corpus / name).write_text('[{"role": "user", "content": "hello \\ud800"}]')
    report = made(Scan(), tmp_path / "out", corpus)
    assert (report.sessions, report.failed) == (5, 0)
    assert {p.name for p in tmp_path.iterdir()} == {"corpus", "out"}
    names = {p.name for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert all(name.startswith("part-") for name in names - {"manifest.json", ".lock"})


def test_a_store_is_read_and_written_like_a_folder(tmp_path):
    store = fsspec.filesystem("memory")
    for number in range(5):
        store.pipe_file(f"/logs/{number}.json", json.dumps(conversation(number)).encode())
    patterns = ["memory://logs"]
    with ThreadPoolExecutor(1) as pool:
        first = run(BuildIndex(), patterns, "memory://found", client=pool)
        again = run(BuildIndex(), patterns, "memory://found", client=pool)
    assert (first.sessions, first.failed, again.resumed) == (5, 0, again.parts)
    assert search("memory://found", "heron")[0].path.startswith("memory://")
    store.rm("/", recursive=True)


def test_a_footer_is_distinguished_from_similar_text(tmp_path):
    (tmp_path / "part").write_bytes(b"PAR1 no table PAR1")
    assert read_footer(str(tmp_path / "part")) is None
