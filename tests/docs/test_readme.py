"""What the README says is so: its programs run, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs import quotes

from foldline.engine.policies import POLICIES
from foldline.formats.files import FILE_FORMATS
from foldline.formats.registry import DIALECTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    "docs/compaction.md",
    "docs/formats.md",
    "docs/configuration.md",
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The results of the commands in the README, by command line."""
    folder = tmp_path_factory.mktemp("readme")
    return folder, quotes.run_commands(README, folder)


def test_every_program_runs_from_top_to_bottom(tmp_path):
    programs = blocks("python")
    assert len(programs) >= 2
    script = tmp_path / "readme.py"
    script.write_text("\n".join(programs), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr


def test_the_first_program_prints_what_stands_below_it():
    shown = blocks("text")[0]
    assert quotes.without_figures(quotes.run_program(README)) == quotes.without_figures(shown)


def test_every_quoted_figure_is_the_printed_one(printed):
    pytest.importorskip("splintr", reason="the README quotes counts of a real vocabulary")
    folder, results = printed
    outputs = {line: quotes.printed_by(ran, folder) for line, ran in results.items()}
    renewed = quotes.renew(README, quotes.run_program(README), outputs)
    assert renewed == README, "make quotes renews them"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_inside_the_project_leads_to_a_file(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_every_file_of_the_project_that_is_named_exists(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"\b((?:src|tests|bench|docs|examples|requirements)/[\w/.-]*\w)", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_that_is_named_exists(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)", text, re.MULTILINE)) <= {
        pair for name in targets for pair in ((name, ""), ("", name))
    }


def test_every_command_that_is_named_is_one_of_the_command_line():
    shown = subprocess.run(
        [sys.executable, "-m", "foldline", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = set(re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE))
    named = set(re.findall(r"(?:^\$ |`)foldline ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= commands
    assert commands <= named, "a command is not in the README"


def test_every_command_line_does_what_stands_below_it(printed):
    folder, results = printed
    assert len(results) >= 4
    for line, ran in results.items():
        assert ran.returncode == 0, f"{line}: {ran.stderr}"
        first = README.split(f"$ foldline {line}\n")[1].splitlines()[0]
        words = quotes.without_figures(quotes.printed_by(ran, folder))
        assert quotes.without_figures(first).strip() in words, f"{line} prints {words}"


def test_every_policy_is_described():
    assert [name for name in POLICIES if f"`{name}`" not in README] == []


def test_the_list_of_formats_is_the_list_of_the_code():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == [*DIALECTS, *FILE_FORMATS]


def test_every_test_that_proves_a_promise_exists():
    page = (ROOT / "docs" / "compaction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]+) \|.*`(tests/[\w/.]+)::(\w+)` \|$", page, re.MULTILINE)
    assert len(rows) == 11
    for promise, path, name in rows:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {name}(" in source, f"{promise} names a test that does not exist"
