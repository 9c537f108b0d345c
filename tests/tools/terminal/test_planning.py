"""Planning of pipelines: stages, directories, and approvals."""

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
    assert step.violations == ()


def test_an_input_redirection_becomes_a_separate_stage(place):
    (step,) = plan("wc -l < README.md", place)
    assert [stage.arguments[0] for stage in step.stages] == ["/usr/bin/cat", "/usr/bin/wc"]
    for line in ("wc < *", "rm x < README.md"):
        with pytest.raises(Refused):
            plan(line, place)


def test_commands_after_a_cd_are_planned_in_its_directory(place):
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


def test_a_command_that_needs_approval_is_planned_as_it_would_run(place):
    (step,) = plan("rm *.md", place)
    assert step.violations[0].risk == "write"
    assert step.stages[0].arguments == ("/usr/bin/rm", "README.md")
    assert step.stages[0].profile.writes
    (step,) = plan("git commit -m x", place)
    assert step.stages[0].profile.git
    (step,) = plan("cat ../outside/secret.txt", place)
    profile = step.stages[0].profile
    assert (profile.writes, len(profile.outside)) == (False, 1)


def test_without_a_sandbox_commands_that_need_one_are_refused(place):
    with pytest.raises(Refused, match="kernel"):
        plan("git log", place, confined=False)
    assert plan("cat README.md", place, confined=False)[0].stages


@pytest.mark.parametrize("line", ["l* x", "'' x", "/usr/bin/t?uch x", "nosuchprogram"])
def test_a_program_name_is_literal_and_exists(line, place):
    with pytest.raises(Refused):
        plan(line, place)


def steps(line, place):
    return plan_all(parse_line(line), place, confined=True, allow_cd=True)


def test_the_request_shows_every_word_of_the_command(place, project):
    (project / "a b.md").touch()
    asked = approval_request(steps("cd src && ls; rm ../*.md | cat", place), 60)
    assert asked.shown.splitlines()[1:] == [
        "/usr/bin/rm ../README.md '../a b.md'",
        "/usr/bin/cat --",
    ]
    assert asked.command[1] == ("/usr/bin/rm", "../README.md", "../a b.md")
    assert (asked.risks, asked.reason) == (("write",), "rm changes files.")
    assert asked.workspace == place.workspace


def test_the_same_command_in_another_directory_is_another_request(place, project):
    here = approval_request(steps("rm x", place), 60)
    assert here.digest == approval_request(steps("rm x", place), 60).digest
    assert here.digest != approval_request(steps("rm x", place.move_to("src")), 60).digest
    was = here.digest
    (project / "src").rename(project / "other")
    (project / "src").mkdir()
    assert approval_request(steps("cd src; rm x", place), 60).digest != was


def test_a_program_that_runs_others_is_never_approved_for_a_session(place):
    assert approval_request(steps("touch x", place), 60).scopes == ("once", "session")
    for line in ("bash -c ls", "git commit -m x", "python3 x.py", "touch x | sh"):
        assert approval_request(steps(line, place), 60).scopes == ("once",)


def test_a_too_long_request_is_refused_and_no_approver_denies(place):
    with pytest.raises(Refused, match="too long"):
        request_approval(steps("rm " + "x" * LONGEST, place), Approvals(lambda _: True))
    with pytest.raises(NotApproved, match="Nobody is available"):
        request_approval(steps("rm x", place), None)
    with pytest.raises(NotApproved, match="said no"):
        request_approval(steps("rm x", place), Approvals(lambda _: False))
    assert request_approval(steps("rm x", place), Approvals(lambda _: True)).risks == ("write",)
