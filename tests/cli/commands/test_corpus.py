from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.cli.sample import foldline, start
from tests.corpora import write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", 20)


def test_a_run_reports_its_sums_and_failures(corpus: Path, tmp_path: Path) -> None:
    done = foldline("corpus", "scan", corpus, "-o", tmp_path / "out", "--workers", 1)
    assert done.exit_code == 0
    assert "conversations" in done.stdout
    assert "22 sessions in" in done.stderr
    assert "broken.json: " in done.stderr


def test_json_has_the_totals_and_the_failures(corpus: Path, tmp_path: Path) -> None:
    words = ("compact", corpus, "-o", tmp_path / "out", "--budget", "50%", "--workers", 2)
    done = foldline("corpus", *words, "--json")
    told = json.loads(done.stdout)
    assert told["schema"] == "foldline.corpus-compact/1"
    assert told["totals"]["tokens_after"] < told["totals"]["tokens_before"]
    assert [Path(failure["path"]).name for failure in told["failures"]] == [
        "broken.json",
        "cut.json.gz",
    ]


def test_an_index_is_searched(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert foldline("corpus", "index", corpus, "-o", out, "--workers", 1).exit_code == 0
    found = json.loads(foldline("corpus", "search", out, "build 77", "--json").stdout)["matches"]
    assert found[0]["path"].endswith("session-011.json")
    assert "build" in foldline("corpus", "search", out, "build", "77").stdout


def test_retention_is_reported_as_a_mean(tmp_path: Path) -> None:
    from tests.cli.sample import write_conversation

    write_conversation(tmp_path / "long.json", 60)
    words = ("measure", tmp_path / "long.json", "-o", tmp_path / "out", "--budgets", "20%")
    shown = foldline("corpus", *words, "--workers", 1).stdout
    assert "price/no compaction/usd" in shown


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("scan", "nowhere", "-o", "out"), 3),
        (("compact", ".", "-o", "out"), 2),
        (("scan", ".", "-o", "out", "--scheduler", "nonsense"), 5),
        (("scan", "-o", "out"), 2),
    ],
)
def test_options_that_cannot_work_are_explained(
    words: tuple[str, ...], code: int, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus)
    done = foldline("corpus", *words)
    assert done.exit_code == code
    assert done.stderr


def test_a_separate_process_ends_with_its_workers(corpus: Path, tmp_path: Path) -> None:
    child = start("corpus", "scan", str(corpus), "-o", str(tmp_path / "out"), "--workers", "2")
    _, errors = child.communicate(timeout=60)  # ends when the last worker has closed its pipes
    assert child.returncode == 0, errors


def test_a_missing_package_is_reported_with_its_install_command(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = foldline("corpus", "scan", corpus, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "pip install 'foldline[cluster]'" in done.stderr
    assert not (tmp_path / "out").exists()
