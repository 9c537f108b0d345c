"""What the pages name exists: every dotted name of the library can be imported."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.sources import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]

NO_PYTHON = {
    *re.findall(r"(?m)^\| `([\w.]+)` \|", (ROOT / "docs" / "configuration.md").read_text("utf-8")),
    "foldline.toml",
    "mcp_servers.foldline.command",
}
"""Names of OpenTelemetry and of settings, the settings file, a setting of an agent."""

_NAME = re.compile(r"(?<![\w/])[\w.]*\bfoldline(?:\.[a-zA-Z_]\w*)+")


def resolved(name: str) -> Any:
    """Return what a dotted name means, importing modules as needed."""
    first, *rest = name.split(".")
    found, path = import_module(first), first
    for part in rest:
        path = f"{path}.{part}"
        found = getattr(found, part) if hasattr(found, part) else import_module(path)
    return found


def exists(name: str) -> bool:
    """Return True if a dotted name can be imported."""
    try:
        resolved(name)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_dotted_name_on_a_page_can_be_imported(page: Path) -> None:
    names = set(_NAME.findall(page.read_text(encoding="utf-8"))) - NO_PYTHON
    assert [name for name in sorted(names) if not exists(name)] == []


def test_a_name_that_does_not_exist_is_found() -> None:
    with pytest.raises(ImportError):
        resolved("foldline.compaction.nothing")
