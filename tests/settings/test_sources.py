from __future__ import annotations

import re
from pathlib import Path

import pytest

import foldline
from foldline.core.config import Config
from foldline.core.settings_codec import leaves
from foldline.errors import BudgetError, InputError
from foldline.settings import load
from foldline.settings.sources import (
    NO_SETTINGS,
    environment_settings,
    file_settings,
    read_template,
    resolve_template,
    variable,
)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("no", "enabled", False),
        ("TRUE", "enabled", True),
        ("0.25", "thresholds.target", 0.25),
        ("12", "clearing.keep", 12),
        ("none", "room.window", None),
        ("", "limits.usd", None),
        ("a, b,,c", "clearing.never", ("a", "b", "c")),
        ("salient", "outputs.style", "salient"),
    ],
)
def test_a_text_is_parsed_as_the_type_of_its_setting(text: str, name: str, value: object) -> None:
    assert dict(environment_settings({variable(name): text})) == {name: value}


@pytest.mark.parametrize("name", ["thresholds.target", "clearing.keep", "enabled"])
def test_a_value_of_another_type_is_an_error_that_does_not_repeat_it(name: str) -> None:
    with pytest.raises(BudgetError, match=variable(name)) as caught:
        list(environment_settings({variable(name): "sk-ant-secret-0123456789"}))
    assert "secret" not in str(caught.value)


def test_every_setting_has_a_variable_and_other_variables_are_ignored() -> None:
    names = {variable(leaf.key) for leaf in leaves(Config)}
    assert len(names) == len(list(leaves(Config)))
    assert names.isdisjoint(NO_SETTINGS)
    assert load(environ=dict.fromkeys(NO_SETTINGS, "/nowhere")).config == Config()


def test_every_other_variable_of_the_package_is_listed_as_not_a_setting() -> None:
    source = Path(foldline.__file__).parent.rglob("*.py")
    variable = re.compile(r'"(FOLDLINE_[A-Z_]+[A-Z])"')
    read = {name for file in source for name in variable.findall(file.read_text())}
    assert read == set(NO_SETTINGS)


def test_an_unknown_foldline_variable_is_an_error_that_names_its_key() -> None:
    with pytest.raises(BudgetError, match=r"'thresholds\.acts_at', in environment.*act_at"):
        load(environ={"FOLDLINE_HOME": "/nowhere", "FOLDLINE_THRESHOLDS__ACTS_AT": "0.7"})


def test_a_project_names_a_folder_of_its_own_for_files(tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text('[files]\nroot = "src"\n', encoding="utf-8")
    [(place, said)] = file_settings(tmp_path, {"FOLDLINE_HOME": str(tmp_path / "none")})
    assert place == str(tmp_path / "foldline.toml")
    assert said == {"files.root": str(tmp_path / "src")}


@pytest.mark.parametrize("root", ["/", "..", "src/../../x", "link"])
def test_a_project_cannot_name_a_folder_outside_of_it(root: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "foldline.toml").write_text(f'[files]\nroot = "{root}"\n', encoding="utf-8")
    with pytest.raises(BudgetError, match="outside of the project"):
        list(file_settings(folder, {"FOLDLINE_HOME": str(tmp_path / "none")}))


@pytest.mark.parametrize(
    "said", ['summarizer = "light"', "[limits]\nusd = 9.0", "[files]\nnever = []"]
)
def test_a_project_cannot_set_payees_or_private_files(said: str, tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text(said, encoding="utf-8")
    with pytest.raises(BudgetError, match="set only by the user"):
        list(file_settings(tmp_path, {"FOLDLINE_HOME": str(tmp_path / "none")}))
    assert list(file_settings(tmp_path / "x", {"FOLDLINE_HOME": str(tmp_path)}))


def test_the_user_may_name_any_folder(tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text('[files]\nroot = "/"\n', encoding="utf-8")
    found = list(file_settings(tmp_path / "elsewhere", {"FOLDLINE_HOME": str(tmp_path)}))
    assert found[0][1] == {"files.root": "/"}


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
def test_a_project_cannot_name_a_template_outside_of_it(folder: Path, path: str) -> None:
    with pytest.raises(BudgetError, match="outside of the project"):
        loaded(folder, f'[summary]\ntemplate = "{path}"')


def test_the_user_may_name_any_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text(
        f'[summary]\ntemplate = "{folder}/prompts/mine.md"', encoding="utf-8"
    )
    found = load(start=tmp_path / "x", environ={"FOLDLINE_HOME": str(tmp_path)})
    assert found.config.summary.template == MINE.strip()


@pytest.mark.parametrize("name", ["missing.md", "empty.txt", "word.txt", "binary.txt", "long.md"])
def test_a_file_that_is_not_a_template_is_rejected_by_name(folder: Path, name: str) -> None:
    (folder / "empty.txt").touch()
    (folder / "word.txt").write_text("account", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00 \x81")
    (folder / "long.md").write_text("Say it. " * 3_000, encoding="utf-8")
    with pytest.raises(InputError, match=name):
        read_template(folder / name)


@pytest.mark.parametrize("value", ["account", "Write it down.\nRead notes.md", "x\0.md", 7, None])
def test_a_value_that_names_no_file_is_unchanged(folder: Path, value: object) -> None:
    assert resolve_template(value, folder) is value


def test_a_sentence_that_ends_like_a_file_is_a_template(folder: Path) -> None:
    text = "Write what stands in notes.txt"
    assert resolve_template(text, folder) is text


def test_an_unknown_template_name_is_an_error(folder: Path) -> None:
    with pytest.raises(BudgetError, match="no summary template"):
        loaded(folder, '[summary]\ntemplate = "acount"')
