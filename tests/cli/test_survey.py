from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import conversation

from foldline import count
from foldline.cli.agent_homes import Candidate
from foldline.cli.survey import project, survey
from foldline.core.budget import Amount
from foldline.engine.policies import policy
from foldline.errors import InputError


def found(path: Path) -> Candidate:
    return Candidate(path, path.stat().st_size, 0.0)


def test_what_compaction_would_save_is_measured(session: Path) -> None:
    before = session.read_bytes()
    goal = Amount("20%", share=0.2)
    measured = survey(found(session), goal, policy("default"), window=False)
    assert measured.tokens == count(conversation())
    assert 0 < measured.after <= 0.2 * measured.tokens
    assert measured.saved == measured.tokens - measured.after
    assert session.read_bytes() == before


def test_a_goal_that_cannot_be_reached_is_no_error(session: Path) -> None:
    measured = survey(found(session), Amount("3", tokens=3), policy("default"), window=False)
    assert (measured.status, measured.saved) == ("failed", 0)
    tiny = survey(found(session), Amount("2", tokens=2), policy("default"), window=True)
    assert tiny.saved == 0


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("no")
    with pytest.raises(InputError):
        survey(found(tmp_path / "x.json"), Amount("9k", tokens=9_000), policy(), window=False)


@pytest.mark.parametrize(
    ("head", "folder"),
    [
        ('{"cwd": "/srv/app", "x": 1}', "/srv/app"),
        ('{"payload": {"cwd" : "C:\\\\code\\\\caf\\u00e9"}}', "C:\\code\\café"),
        ('{"cwd": "\\ud800bad \\x"}', None),
        ("{}", None),
    ],
)
def test_the_project_is_the_folder_that_a_session_names(
    tmp_path: Path, head: str, folder: str | None
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(head)
    assert project(found(path)) == (folder or str(tmp_path))
