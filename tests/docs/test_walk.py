"""The walk through the code in CONTRIBUTING.md names files that exist and import each other so."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.architecture.sources import PACKAGE, ROOT

SECTION = "## The path of one message"
MOST = 20
"""Files that a newcomer reads to follow one call."""

_ROW = re.compile(r"^([│├└─ ]*)([a-z_/]+\.py)")


def walks() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"```text\n(.*?)```", text.split(SECTION)[1].split("\n## ")[0], re.DOTALL)


def steps(walk: str) -> Iterator[tuple[str, str]]:
    """Yield every file of a walk with the one that it stands under, "" for the first."""
    above: list[str] = []
    for found in map(_ROW.match, walk.splitlines()):
        if found:
            depth = len(found[1]) // 3
            above = [*above[:depth], found[2]]
            yield found[2], above[depth - 1] if depth else ""


@pytest.mark.parametrize("walk", walks(), ids=["compact", "session"])
def test_every_file_of_the_walk_is_imported_by_the_one_it_stands_under(walk: str) -> None:
    found = [*steps(walk)]
    assert 5 < len(found) <= MOST
    for name, above in found:
        assert (PACKAGE / name).is_file()
        if above:
            module = "foldline." + name.removesuffix(".py").removesuffix("/__init__").replace(
                "/", "."
            )
            parent, _, leaf = module.rpartition(".")
            text = (PACKAGE / above).read_text(encoding="utf-8")
            by_name = (
                rf"from {re.escape(module)} import|from {re.escape(parent)} import .*\b{leaf}\b"
            )
            assert re.search(rf'{by_name}|"{re.escape(module)}"', text), f"{above} imports {name}"
