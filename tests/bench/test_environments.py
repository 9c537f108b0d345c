"""An environment is created from its lock file once, or the reason is reported."""

import subprocess
import sys
import venv

import pytest

import environments


@pytest.fixture
def folders(tmp_path, monkeypatch):
    requirements = tmp_path / "requirements"
    requirements.mkdir()
    monkeypatch.setattr(environments, "REQUIREMENTS", requirements)
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "made")
    (requirements / "one.in").write_text("no-such-package\n", encoding="utf-8")
    lock = requirements / "one.lock"
    lock.write_text(f"no-such-package==1 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    return tmp_path


def test_without_an_index_the_reason_is_reported_and_the_log_is_kept(folders, monkeypatch):
    def create(place, **_):
        python = place / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\necho found no version of no-such-package\nexit 1\n")
        python.chmod(0o755)

    monkeypatch.setattr(venv, "create", create)
    problem = environments.prepare("one")
    assert problem == (
        "its packages could not be installed (CalledProcessError; see .venv-peers/one.log)"
    )
    assert "no-such-package" in (folders / "made" / "one.log").read_text(encoding="utf-8")
    assert not environments.is_ready("one")


def test_an_environment_is_recreated_after_a_change_of_its_lock_file(folders, monkeypatch):
    made = []

    def create(place, **_):
        made.append(place.name)
        place.mkdir(parents=True)

    monkeypatch.setattr(venv, "create", create)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    lock = environments.REQUIREMENTS / "one.lock"
    assert [environments.prepare("one"), environments.prepare("one")] == ["", ""]
    assert made == ["one"]
    lock.write_text(lock.read_text(encoding="utf-8") + "# newer\n", encoding="utf-8")
    assert not environments.is_ready("one")
    assert environments.prepare("one") == ""
    assert made == ["one", "one"]


@pytest.mark.usefixtures("folders")
def test_an_unsupported_python_is_reported_before_anything_is_created(monkeypatch):
    monkeypatch.setattr(environments, "PYTHONS", ((2, 6), (2, 7)))
    assert environments.prepare("one") == "its lock file is for Python 2.6 to 2.7"
    assert not environments.FOLDER.exists()


@pytest.mark.usefixtures("folders")
def test_every_environment_has_its_name_from_its_file():
    assert environments.names() == ["one"]
    assert environments.python_of("one").parts[-3:] == ("one", "bin", "python")
    assert sys.version_info[:2] >= (3, 11)
