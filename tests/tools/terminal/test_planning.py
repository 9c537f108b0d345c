"""From a pipeline to stages: what is run in a place, and what a cd does to it."""

import pytest

from foldline.tools.terminal.language.grammar import parsed
from foldline.tools.terminal.planning import plan_all
from foldline.tools.terminal.refusal import Refused

pytestmark = pytest.mark.requirement("T7")


def plan(line, place, **changes):
    return plan_all(parsed(line), place, **{"confined": True, "allow_cd": True, **changes})


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
    assert second.place.shown == "src"
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
