"""The documentation as a site: every page is in its navigation, and what is generated is whole."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tests.architecture.sources import ROOT

import foldline
from foldline.cli.main import SUMMARIES

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages() -> Any:
    spec = importlib.util.spec_from_file_location("pages", DOCS / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _named(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav if isinstance(nav, list) else nav.values():
            yield from _named(item)


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page(pages: Any) -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    generated = {"reference/cli.md", "reference/library.md", *pages.FROM_THE_ROOT.values()}
    assert set(_named(site["nav"])) == written | generated


def test_the_help_of_every_command_is_a_section(pages: Any) -> None:
    text = pages.command_line()
    for name in SUMMARIES:
        assert f"\n## foldline {name}\n" in text
        assert f"Usage: foldline {name}" in text


def test_every_public_name_is_described(pages: Any) -> None:
    text = pages.library()
    for name in foldline.__all__:
        assert f"::: foldline.{name}\n" in text
