"""The question that a person is asked about a command."""

import pytest

from foldline.tools.approvals import Approvals
from foldline.tools.terminal.asking import LONGEST, NotApproved, approved, request_for
from foldline.tools.terminal.language.grammar import parsed
from foldline.tools.terminal.planning import plan_all
from foldline.tools.terminal.refusal import Refused

pytestmark = pytest.mark.requirement("T7", "E3.2")


def steps(line, place):
    return plan_all(parsed(line), place, confined=True, allow_cd=True)


def test_it_shows_every_word_that_would_be_run(place, project):
    (project / "a b.md").touch()
    asked = request_for(steps("cd src && ls; rm ../*.md | cat", place), 60)
    assert asked.shown.splitlines()[1:] == [
        "/usr/bin/rm ../README.md '../a b.md'",
        "/usr/bin/cat --",
    ]
    assert asked.command[1] == ("/usr/bin/rm", "../README.md", "../a b.md")
    assert (asked.risks, asked.reason) == (("write",), "rm changes files.")
    assert asked.workspace == place.workspace


def test_the_same_words_elsewhere_are_another_question(place, project):
    here = request_for(steps("rm x", place), 60)
    assert here.digest == request_for(steps("rm x", place), 60).digest
    assert here.digest != request_for(steps("rm x", place.moved("src")), 60).digest
    was = here.digest
    (project / "src").rename(project / "other")
    (project / "src").mkdir()
    assert request_for(steps("cd src; rm x", place), 60).digest != was


def test_what_runs_other_programs_is_offered_once_only(place):
    assert request_for(steps("touch x", place), 60).scopes == ("once", "session")
    for line in ("bash -c ls", "git commit -m x", "python3 x.py", "touch x | sh"):
        assert request_for(steps(line, place), 60).scopes == ("once",)


def test_too_long_is_refused_and_nobody_is_a_no(place):
    with pytest.raises(Refused, match="too long"):
        approved(steps("rm " + "x" * LONGEST, place), Approvals(lambda _: True))
    with pytest.raises(NotApproved, match="Nobody is here"):
        approved(steps("rm x", place), None)
    with pytest.raises(NotApproved, match="said no"):
        approved(steps("rm x", place), Approvals(lambda _: False))
    assert approved(steps("rm x", place), Approvals(lambda _: True)).risks == ("write",)
