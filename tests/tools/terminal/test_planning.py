"""From a pipeline to stages: what is run in a place, and what a cd does to it."""

import pytest

from foldline.tools.approvals import Approvals
from foldline.tools.terminal.language import parse_line
from foldline.tools.terminal.planning import (
    LONGEST,
    NotApproved,
    approval_request,
    plan_all,
    request_approval,
)
from foldline.tools.terminal.refusal import Refused

pytestmark = pytest.mark.requirement("T7", "E3.2")


def plan(line, place, **changes):
    return plan_all(parse_line(line), place, **{"confined": True, "allow_cd": True, **changes})


def test_stages_have_absolute_programs_and_expanded_words(place):
    (step,) = plan("cat *.md | head -n 1 2>/dev/null", place)
    first, second = step.stages
    assert first.arguments == ("/usr/bin/cat", "--", "README.md")
    assert second.arguments == ("/usr/bin/head", "-n", "1", "--")
    assert (second.out, second.err) == ("out", "null")
    assert not first.profile.forks
    assert step.beyond == ()


def test_a_file_that_is_read_with_a_sign_comes_from_a_stage_of_its_own(place):
    (step,) = plan("wc -l < README.md", place)
    assert [stage.arguments[0] for stage in step.stages] == ["/usr/bin/cat", "/usr/bin/wc"]
    for line in ("wc < *", "rm x < README.md"):
        with pytest.raises(Refused):
            plan(line, place)


def test_what_follows_a_cd_is_planned_in_its_directory(place):
    first, second = plan("cd src && cat app.py", place)
    assert first.moves == second.place
    assert second.place.relative_path == "src"
    (failing, after) = plan("cd nowhere; ls", place)
    assert "nowhere" in failing.fails
    assert after.place == place
    with pytest.raises(Refused):
        plan("cd src; cat ../../outside/secret.txt; cd ../..", place)
    with pytest.raises(Refused, match="not allowed"):
        plan("cd src", place, allow_cd=False)


def test_what_goes_beyond_is_planned_as_it_would_be_run(place):
    (step,) = plan("rm *.md", place)
    assert step.beyond[0].risk == "write"
    assert step.stages[0].arguments == ("/usr/bin/rm", "README.md")
    assert step.stages[0].profile.writes
    (step,) = plan("git commit -m x", place)
    assert step.stages[0].profile.git
    (step,) = plan("cat ../outside/secret.txt", place)
    profile = step.stages[0].profile
    assert (profile.writes, len(profile.outside)) == (False, 1)


def test_where_nothing_is_confined_what_only_the_kernel_decides_is_refused(place):
    with pytest.raises(Refused, match="kernel"):
        plan("git log", place, confined=False)
    assert plan("cat README.md", place, confined=False)[0].stages


@pytest.mark.parametrize("line", ["l* x", "'' x", "/usr/bin/t?uch x", "nosuchprogram"])
def test_the_name_of_a_program_is_written_out_and_exists(line, place):
    with pytest.raises(Refused):
        plan(line, place)


def steps(line, place):
    return plan_all(parse_line(line), place, confined=True, allow_cd=True)


def test_it_shows_every_word_that_would_be_run(place, project):
    (project / "a b.md").touch()
    asked = approval_request(steps("cd src && ls; rm ../*.md | cat", place), 60)
    assert asked.shown.splitlines()[1:] == [
        "/usr/bin/rm ../README.md '../a b.md'",
        "/usr/bin/cat --",
    ]
    assert asked.command[1] == ("/usr/bin/rm", "../README.md", "../a b.md")
    assert (asked.risks, asked.reason) == (("write",), "rm changes files.")
    assert asked.workspace == place.workspace


def test_the_same_words_elsewhere_are_another_question(place, project):
    here = approval_request(steps("rm x", place), 60)
    assert here.digest == approval_request(steps("rm x", place), 60).digest
    assert here.digest != approval_request(steps("rm x", place.move_to("src")), 60).digest
    was = here.digest
    (project / "src").rename(project / "other")
    (project / "src").mkdir()
    assert approval_request(steps("cd src; rm x", place), 60).digest != was


def test_what_runs_other_programs_is_offered_once_only(place):
    assert approval_request(steps("touch x", place), 60).scopes == ("once", "session")
    for line in ("bash -c ls", "git commit -m x", "python3 x.py", "touch x | sh"):
        assert approval_request(steps(line, place), 60).scopes == ("once",)


def test_too_long_is_refused_and_nobody_is_a_no(place):
    with pytest.raises(Refused, match="too long"):
        request_approval(steps("rm " + "x" * LONGEST, place), Approvals(lambda _: True))
    with pytest.raises(NotApproved, match="Nobody is here"):
        request_approval(steps("rm x", place), None)
    with pytest.raises(NotApproved, match="said no"):
        request_approval(steps("rm x", place), Approvals(lambda _: False))
    assert request_approval(steps("rm x", place), Approvals(lambda _: True)).risks == ("write",)
