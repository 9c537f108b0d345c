from __future__ import annotations

from pathlib import Path

from foldline.settings import config_folder, data_folder


def test_one_variable_moves_all_folders() -> None:
    environ = {"FOLDLINE_HOME": "/somewhere"}
    assert data_folder(environ) == config_folder(environ) == Path("/somewhere")


def test_the_default_folders_are_those_of_the_user(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("FOLDLINE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert tmp_path in data_folder().parents
    assert tmp_path in config_folder({}).parents
