"""
Every snippet of the pages runs as it is printed.

The programs of a page are one program from top to bottom, in a folder of their own. Where they ask
a provider, a scripted one on this machine answers, by the environment variables that people set.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.agents.maintainer.world import codebase

from foldline.models import Catalogue
from foldline.retrieval.minilm import PACKAGE
from foldline.settings import load
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer

pytestmark = pytest.mark.disk  # terminals have no workspace in memory

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def having(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def commands(page: Path) -> list[str]:
    return re.findall(r"^\$ foldline (.+)$", "".join(blocks(page, "console")), re.MULTILINE)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A folder with a project in it, and a provider that always has an answer."""
    place = tmp_path / "work"
    place.mkdir()
    for name in ("docs", "src"):
        (place / name).symlink_to(ROOT / name)
    codebase(place)
    (place / "project").mkdir()
    (place / "project" / "notes.txt").write_text("class UserService: pass\n")
    with ScriptedServer(lambda _: Answer("It is done.")) as server:
        yield {
            **os.environ,
            "FOLDLINE_HOME": str(tmp_path / "home"),
            "OPENAI_API_KEY": "any",
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "ANTHROPIC_API_KEY": "any",
            "ANTHROPIC_BASE_URL": server.url,
        }


def run(
    command: list[str], world: dict[str, str], tmp_path: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command in its world, with its errors in its output."""
    return subprocess.run(
        command,
        cwd=tmp_path / "work",
        env=world,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=180,
    )


@pytest.mark.parametrize("page", having("python"), ids=lambda page: page.stem)
def test_the_programs_of_a_page_run(page: Path, world: dict[str, str], tmp_path: Path) -> None:
    programs = blocks(page, "python")
    if find_spec(PACKAGE) is None:  # the one part that no extra brings
        programs = [program for program in programs if "MiniLM" not in program]
    script = tmp_path / "program.py"
    script.write_text("\n".join(programs), encoding="utf-8")
    ran = run([sys.executable, "-W", "ignore", str(script)], world, tmp_path)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("page", [*filter(commands, PAGES)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, world: dict[str, str], tmp_path: Path) -> None:
    for line in commands(page):
        ran = run([sys.executable, "-m", "foldline", *shlex.split(line)], world, tmp_path)
        assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("page", having("toml"), ids=lambda page: page.stem)
def test_the_settings_of_a_page_are_settings(page: Path, tmp_path: Path) -> None:
    for number, settings in enumerate(blocks(page, "toml")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "foldline.toml").write_text(settings, encoding="utf-8")
        for template in re.findall(r'template = "(.+)"', settings):
            (folder / template).parent.mkdir()
            (folder / template).write_text("Say what happened.", encoding="utf-8")
        assert any(origin != "default" for origin in load(start=folder).origins.values())


def test_the_catalogue_of_the_page_about_models_is_one(tmp_path: Path) -> None:
    (page,) = (page for page in PAGES if page.stem == "models")
    (own,) = blocks(page, "json")
    file = tmp_path / "models.json"
    file.write_text(own, encoding="utf-8")
    assert Catalogue.load(file).find("house").window == 131_072
