"""What must not be in any file of the project: addresses, machines, unfinished places."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT, kept_files, modules, relative

# Brackets keep these patterns from finding themselves.
OUT_OF_PLACE = {
    "address of a package registry": r"pypi[.]org|python[h]osted|npm[j]s|index[-]url",
    "path of one machine": r"/[r]oot/|/[w]ork/|/[h]ome/(?!user\b|me\b)|/[U]sers/(?!me\b)",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE [K]EY",
}
LEFT_FOR_LATER = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
UNFINISHED = re.compile(r"raise NotImplementedError|not implemented yet")


@pytest.mark.parametrize("what", OUT_OF_PLACE)
def test_no_file_holds_what_belongs_to_one_machine(what):
    pattern = re.compile(OUT_OF_PLACE[what])
    files = kept_files()
    assert len(files) > 100, "the list of files is too short to be the project"
    assert {
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in files
        if (found := pattern.search(path.read_text(encoding="utf-8", errors="replace")))
    } == set()


def test_nothing_in_the_package_is_unfinished():
    assert [relative(p) for p in modules() if UNFINISHED.search(p.read_text("utf-8"))] == []


def test_no_comment_leaves_something_for_later():
    assert {
        f"{relative(path)}: {comment}"
        for path in modules()
        if LEFT_FOR_LATER.search(path.read_text("utf-8"))
        for comment in _comments(path)
        if LEFT_FOR_LATER.search(comment)
    } == set()


def _comments(path: Path) -> list[str]:
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def test_the_locks_name_a_version_and_a_hash_for_every_package():
    for name in ("run", "dev"):
        lock = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
        entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE))
        assert len(entries) > 5
        assert [
            entry[:60] for entry in entries if "==" not in entry or "--hash=" not in entry
        ] == []
