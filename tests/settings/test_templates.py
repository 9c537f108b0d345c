from __future__ import annotations

from pathlib import Path

import pytest

from foldline.errors import BudgetError, InputError
from foldline.settings.loading import load
from foldline.settings.templates import read_template, resolve_template

MINE = "List what the user asked for.\nKeep {braces}.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "prompts").mkdir(parents=True)
    (project / "prompts" / "mine.md").write_text(MINE, encoding="utf-8")
    (tmp_path / "secret.md").write_text("A secret of the user.", encoding="utf-8")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    return project


def loaded(folder: Path, text: str = "", **environ: str) -> str:
    if text:
        (folder / "foldline.toml").write_text(text, encoding="utf-8")
    world = {"FOLDLINE_HOME": str(folder / "none"), **environ}
    return load(start=folder, environ=world).config.summary.template


@pytest.mark.requirement("F45")
def test_a_project_names_a_file_or_writes_the_template_itself(folder: Path) -> None:
    assert loaded(folder, '[summary]\ntemplate = "prompts/mine.md"') == MINE.strip()
    assert loaded(folder, '[summary]\ntemplate = """\nList the open items."""') == (
        "List the open items."
    )
    assert loaded(folder, '[summary]\ntemplate = "nine_sections"') == "nine_sections"


def test_the_environment_and_arguments_name_a_file_too(folder: Path) -> None:
    assert loaded(folder, FOLDLINE_SUMMARY__TEMPLATE="prompts/mine.md") == MINE.strip()
    arguments = {"summary": {"template": str(folder / "prompts" / "mine.md")}}
    environ = {"FOLDLINE_HOME": str(folder / "none")}
    found = load(arguments, start=folder, environ=environ).config.summary.template
    assert found == MINE.strip()


@pytest.mark.parametrize("path", ["../secret.md", "link.md", "/etc/hostname.txt"])
def test_a_project_reads_no_file_from_elsewhere(folder: Path, path: str) -> None:
    with pytest.raises(BudgetError, match="outside of the project"):
        loaded(folder, f'[summary]\ntemplate = "{path}"')


def test_the_user_may_name_any_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text(
        f'[summary]\ntemplate = "{folder}/prompts/mine.md"', encoding="utf-8"
    )
    found = load(start=tmp_path / "x", environ={"FOLDLINE_HOME": str(tmp_path)})
    assert found.config.summary.template == MINE.strip()


@pytest.mark.parametrize("name", ["missing.md", "empty.txt", "word.txt", "binary.txt", "long.md"])
def test_a_file_that_is_no_template_is_refused_by_name(folder: Path, name: str) -> None:
    (folder / "empty.txt").touch()
    (folder / "word.txt").write_text("account", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00 \x81")
    (folder / "long.md").write_text("Say it. " * 3_000, encoding="utf-8")
    with pytest.raises(InputError, match=name):
        read_template(folder / name)


@pytest.mark.parametrize("value", ["account", "Write it down.\nRead notes.md", "x\0.md", 7, None])
def test_what_names_no_file_is_left_as_it_is(folder: Path, value: object) -> None:
    assert resolve_template(value, folder) is value


def test_a_sentence_that_ends_like_a_file_is_a_template(folder: Path) -> None:
    text = "Write what stands in notes.txt"
    assert resolve_template(text, folder) is text


def test_a_name_that_nothing_has_is_an_error(folder: Path) -> None:
    with pytest.raises(BudgetError, match="no summary template"):
        loaded(folder, '[summary]\ntemplate = "acount"')
