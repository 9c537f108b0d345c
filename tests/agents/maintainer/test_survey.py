"""The survey: counted on a small codebase, and on hostile ones."""

from __future__ import annotations

import builtins
import json
from hashlib import sha256

import pytest
from tests.agents.maintainer.world import codebase, git

from foldline import BudgetError, StoreError
from foldline.agents.maintainer.measures import is_code, language, parse_log
from foldline.agents.maintainer.survey import (
    SurveySettings,
    is_test,
    render_survey,
    survey_codebase,
)


@pytest.mark.requirement("T15")
def test_it_counts_languages_hot_spots_markers_complexity_and_tests(tmp_path):
    found = survey_codebase(codebase(tmp_path))
    assert (found.files, next(iter(found.languages))) == (6, "Python")
    hottest = found.spots[0]
    assert (hottest.path, hottest.commits, hottest.score) == ("app/orders.py", 2, 1.0)
    assert found.markers[0].text == "cents are lost here"
    worst = found.complexity.functions[0]
    assert (worst.name, worst.line, worst.complexity) == ("total", 1, 5)
    assert found.layout.test_files == 1
    assert "app/users.py" not in found.layout.without
    assert found.head == git(tmp_path / "shop", "rev-parse", "HEAD").strip()
    assert found.troubles == ()
    assert json.loads(json.dumps(found.to_dict()))["history"]["commits"] == 2


def test_a_folder_inside_a_repository_has_its_own_history(tmp_path):
    found = survey_codebase(codebase(tmp_path) / "app")
    assert {spot.path: spot.commits for spot in found.spots} == {"orders.py": 2, "users.py": 1}


def test_without_git_it_ranks_by_size_and_reports_that(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n" * 30)
    found = survey_codebase(tmp_path)
    assert found.spots[0].score == 1.0
    assert "no history: the folder is not under git" in found.troubles
    assert "## Largest files" in render_survey(found)


def test_without_lizard_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "lizard":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    (tmp_path / "a.py").write_text("def f(): pass\n")
    text = render_survey(survey_codebase(tmp_path))
    assert "pip install 'foldline[maintain]'" in text


def test_links_binaries_giants_generated_code_and_folders_of_tools_are_left_out(tmp_path):
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/x.js").write_text("// TODO never\n")
    (tmp_path / "b.py").write_bytes(b"\0\1")
    (tmp_path / "latin.py").write_bytes(b"# \xe4\n")
    (tmp_path / "big.py").write_text("x\n" * 1_000)
    (tmp_path / "min.js").write_text(f"// TODO {'f' * 9_000}(){{}}\n")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = survey_codebase(tmp_path, SurveySettings(largest=15_000))
    assert set(found.sizes) == set(found.hashes) == {"big.py", "min.js"}
    assert found.markers == ()
    assert survey_codebase(tmp_path, SurveySettings(largest=100)).files == 0
    assert survey_codebase(tmp_path, SurveySettings(files=1)).files <= 1


def test_a_link_to_a_name_that_no_file_can_have_breaks_no_survey(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("a" * 300)
    assert survey_codebase(tmp_path).hashes == {"a.py": sha256(b"x = 1\n").hexdigest()}


def test_functions_are_listed_before_todo_comments(tmp_path):
    text = render_survey(survey_codebase(codebase(tmp_path)))
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Structure", "Hot spots", "Complex functions", "Left for later", "Tests"]


def test_control_characters_in_names_are_escaped(tmp_path):
    (tmp_path / "a\x1b[2J|b.py").write_text("x = 1  # TODO \x1b]0;you\x07 were here\n" * 25)
    text = render_survey(survey_codebase(tmp_path))
    assert "\x1b" not in text
    assert "text files" in text


@pytest.mark.parametrize(
    ("path", "name", "code"),
    [
        ("a/b.py", "Python", True),
        ("Makefile", "Make", True),
        ("x.MD", "Markdown", False),
        ("x.rst", "reStructuredText", False),
        ("x.tsx", "TypeScript", True),
        ("x.mm", "Objective-C", True),
        ("LICENSE", "", False),
        ("py", "", False),
    ],
)
def test_the_name_decides_the_language(path, name, code):
    assert (language(path), is_code(path)) == (name, code)


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/world.py", True),
        ("src/test_a.py", True),
        ("a/order_test.go", True),
        ("a/Order.spec.ts", True),
        ("a/OrderTest.java", True),
        ("src/latest.py", False),
        ("src/contest.py", False),
        ("tests/data.json", False),
    ],
)
def test_a_name_tells_a_test(path, test):
    assert is_test(path) is test


def test_only_valid_lines_of_the_git_log_are_read():
    found = parse_log("commit abc1234 1700000000 Ann\n3\t1\ta.py\n-\t-\timg.png\nnonsense\n")
    assert (found.seen, found.newest) == (1, 1_700_000_000)
    assert found.commits == {"a.py": 1, "img.png": 1}
    assert found.lines == {"a.py": 4, "img.png": 0}


def test_wrong_settings_and_folders_are_named(tmp_path):
    with pytest.raises(BudgetError):
        SurveySettings(files=0)
    with pytest.raises(StoreError):
        survey_codebase(tmp_path / "nothing")


def test_files_that_may_hold_secrets_are_not_read(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / ".env").write_text("TOKEN=heron  # TODO: renew\n")
    found = survey_codebase(tmp_path)
    assert (found.files, found.markers) == (1, ())
    assert "1 that may hold secrets, such as .env" in found.troubles
