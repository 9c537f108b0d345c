from __future__ import annotations

from pathlib import Path

import pytest

from foldline.errors import BudgetError
from foldline.settings.files import said_in_files


def test_a_project_names_a_folder_of_its_own_for_files(tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text('[files]\nroot = "src"\n', encoding="utf-8")
    [(place, said)] = said_in_files(tmp_path, {"FOLDLINE_HOME": str(tmp_path / "none")})
    assert place == str(tmp_path / "foldline.toml")
    assert said == {"files.root": str(tmp_path / "src")}


@pytest.mark.parametrize("root", ["/", "..", "src/../../x", "link"])
def test_a_project_that_came_with_somebody_elses_code_gets_no_files_from_elsewhere(
    root: str, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "foldline.toml").write_text(f'[files]\nroot = "{root}"\n', encoding="utf-8")
    with pytest.raises(BudgetError, match="outside of the project"):
        list(said_in_files(folder, {"FOLDLINE_HOME": str(tmp_path / "none")}))


@pytest.mark.parametrize(
    "said", ['summarizer = "light"', "[limits]\nusd = 9.0", "[files]\nnever = []"]
)
def test_a_project_does_not_decide_who_is_paid_or_which_files_are_private(
    said: str, tmp_path: Path
) -> None:
    (tmp_path / "foldline.toml").write_text(said, encoding="utf-8")
    with pytest.raises(BudgetError, match="for the user to decide"):
        list(said_in_files(tmp_path, {"FOLDLINE_HOME": str(tmp_path / "none")}))
    assert list(said_in_files(tmp_path / "x", {"FOLDLINE_HOME": str(tmp_path)}))


def test_the_user_may_name_any_folder(tmp_path: Path) -> None:
    (tmp_path / "foldline.toml").write_text('[files]\nroot = "/"\n', encoding="utf-8")
    found = list(said_in_files(tmp_path / "elsewhere", {"FOLDLINE_HOME": str(tmp_path)}))
    assert found[0][1] == {"files.root": "/"}
