from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.children import launch
from tests.cli.sample import foldline
from tests.inspector.sample import NAME, make_archive

from foldline.archive import Archive


def test_one_file_is_written_that_needs_nothing_else(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = foldline("inspect", session, "-o", out)
    assert done.exit_code == 0, done.stderr
    assert "needs no network" in done.stderr
    text = out.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "session.json" in text
    assert foldline("inspect", session, "-o", "-").stdout[:2_000] == text[:2_000]


def test_a_session_of_an_archive_is_written_by_its_name(tmp_path: Path) -> None:
    archive, out = make_archive(tmp_path), tmp_path / "report.html"
    done = foldline("inspect", archive, "--session", NAME, "-o", out, "--json")
    assert json.loads(done.stdout)["bytes"] == out.stat().st_size
    assert "Compaction 1" in out.read_text("utf-8")


def test_the_input_is_never_written_over(session: Path) -> None:
    before = session.read_bytes()
    assert foldline("inspect", session, "-o", session).exit_code == 2
    assert session.read_bytes() == before


@pytest.mark.parametrize("what", ["nothing.jsonl", "abcdef"])
def test_a_missing_name_is_reported(what: str) -> None:
    done = foldline("inspect", what)
    assert done.exit_code == 3
    assert what in done.stderr


def test_a_folder_is_not_a_single_session(tmp_path: Path) -> None:
    assert foldline("inspect", tmp_path, "-o", tmp_path / "r.html").exit_code == 3


def test_the_link_opens_the_named_session_and_ctrl_c_stops_the_server(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    with Archive.open(archive) as opened:
        number = opened.messages(NAME)[3].id
    words = ["inspect", number[:12], "--archive", archive, "--json"]
    command = [sys.executable, "-m", "foldline", *map(str, words)]
    with launch(command, stdout=subprocess.PIPE) as child:
        text = b""
        while not text.rstrip().endswith(b"}"):
            text += child.stdout.readline()
        link = json.loads(text)["link"]
        assert f"/messages/{number}?token=" in link
        with urllib.request.urlopen(link, timeout=20) as answer:  # noqa: S310  # of this machine
            assert "set-cookie" in answer.headers
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(link.partition("?")[0], timeout=20)  # noqa: S310
        child.send_signal(signal.SIGINT)
        assert child.wait(30) in (0, 130)


def test_without_its_extra_it_names_the_package_to_install(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "foldline.inspector.web", None)
    done = foldline("inspect", session)
    assert done.exit_code != 0
    assert "foldline[inspect]" in done.stderr
