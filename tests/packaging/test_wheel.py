"""What ``make dist`` builds is installed without the checkout, and works there."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import zipfile

import pytest
from tests.packaging.installing import ROOT, built, installed, ran

import foldline

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def programs(files, tmp_path_factory):
    return installed(files[0], "tokens", tmp_path_factory.mktemp("empty") / "environment")


def test_an_installed_wheel_compacts_counts_and_recalls_outside_the_checkout(programs, tmp_path):
    shutil.copy(ROOT / "examples" / "session.json", tmp_path)
    command = programs / "foldline"
    place = ran(
        programs / "python", "-c", "import foldline; print(foldline.__file__)", cwd=tmp_path
    )
    assert place.startswith(str(programs.parent))

    words = ("session.json", "--budget", "10%", "-o", "smaller.json", "--receipt", "receipt.json")
    assert "compacted:" in ran(command, "compact", *words, cwd=tmp_path)
    assert (tmp_path / "smaller.json").stat().st_size < 50_000

    shown = ran(command, "stats", "smaller.json", cwd=tmp_path)
    assert "counter splintr:o200k_base" in shown, "the extra is not used"

    recall = json.loads((tmp_path / "receipt.json").read_text("utf-8"))["recall"]
    found = (ran(command, "recall", handle, "--grep", "48113", cwd=tmp_path) for handle in recall)
    assert any("The staging archive answers on port 48113" in text for text in found)


def test_the_wheel_holds_the_package_and_nothing_else(files):
    names = zipfile.ZipFile(files[0]).namelist()
    packed = {name for name in names if name.startswith("foldline/")}
    kept = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "foldline").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == kept
    assert {name.split("/")[0] for name in names} == {
        "foldline",
        f"foldline-{foldline.__version__}.dist-info",
    }


def test_the_sources_hold_what_a_build_and_the_tests_need(files):
    with tarfile.open(files[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {
        "pyproject.toml",
        "Makefile",
        "LICENSE",
        "README.md",
        "requirements/run.lock",
        "src/foldline/__init__.py",
        "tests/conftest.py",
        "examples/session.json",
    }
    assert not any(re.match(r"\.venv|dist/|.*__pycache__|\.git/", name) for name in names)


def test_the_readme_names_the_wheel_that_is_built(files):
    named = re.findall(r"dist/(foldline-[\w.-]+\.whl)", (ROOT / "README.md").read_text("utf-8"))
    assert set(named) == {files[0].name}
