from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.commands import (
    LONGEST_PATH,
    MOST_FILES,
    changed_files,
    command_of,
    commit_message,
    ends_itself,
    only_shows,
    run_key,
)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "make test"}, "make test"),
        ({"cmd": ["bash", "-lc", "make test"]}, "make test"),
        ({"cmd": ["pytest", "a b.py", "-q"]}, "pytest 'a b.py' -q"),
        ({"command": "npm run build", "files": []}, "npm run build"),
        ({"prompt": 'run exec_command({cmd: "ls x"}) and mend it'}, ""),
        ({"command": 7}, ""),
        ({"command": "create", "path": "a.py"}, ""),
        ({}, ""),
        (["make"], ""),
        ({"input": 'await tools.exec_command({cmd: "make test"})'}, "make test"),
        ({"input": 'exec_command({"cmd": "a \\"b\\""}); exec_command({"cmd": "c"})'}, 'a "b"; c'),
        ({"input": "exec_command(build)"}, ""),
        (None, ""),
    ],
)
def test_the_command_of_a_call_is_what_its_shell_runs(arguments, command):
    assert command_of(arguments) == command


@pytest.mark.parametrize(
    "command",
    [
        'rg -n "failed|FAILED" src',
        "grep -E '^(a|b);c' a.txt | head -3",
        "nl -ba a.sh | sed -n '1,12p;142,153p'",
    ],
)
def test_a_command_only_shows_whatever_signs_of_a_shell_it_looks_for(command):
    assert only_shows(command)


@pytest.mark.parametrize(
    "command",
    [
        'grep "$(make; ls)" a.txt',
        'grep "`make; ls`" a.txt',
        'grep "a|b" a.txt | xargs rm',
        "find . -name '*.pyc' -delete",
        "find . -name '*.pyc' -exec rm {} \\;",
    ],
)
def test_a_command_that_also_runs_something_does_more_than_show(command):
    assert not only_shows(command)


def test_a_command_that_only_prints_files_only_shows():
    assert only_shows("cd /app && cat a.txt")
    assert only_shows("sed -n 1,9p a.txt; git log -n 3 && wc -l b.txt | sort")


@pytest.mark.parametrize(
    "command",
    [
        "cat a.txt && ./run; cat b.txt",
        "cat a; cat b\npytest",
        "ls tests; ls src || pytest",
        "cat a 2>/dev/null; rm b",
        "ls | xargs rm",
        "cat a.sh | sh",
    ],
)
def test_a_command_that_runs_something_as_well_does_not_only_show(command):
    assert not only_shows(command)
    assert not only_shows("cat a.txt; make")


@pytest.mark.parametrize(
    "command",
    [
        "make test 2>&1 | tail -5",
        "make test &> log.txt",
        "make test >> log.txt 2>&1",
        "make test 2>/dev/null | tee log.txt | head -3",
        "time timeout 60 make test",
        "nice timeout -k 5s 2m make test",
    ],
)
def test_how_an_output_is_cut_and_how_long_it_may_take_is_no_part_of_what_runs(command):
    assert run_key(command) == "make test"


def test_a_limit_is_left_out_anywhere_in_a_chain():
    assert run_key("cd /r && timeout 60 make; time ls") == "cd /r && make; ls"


def test_a_commit_is_the_same_whatever_its_message():
    command = "git add a && git commit {} --no-verify && git push"
    for message in ("-m 'x'", '-m "y; z"', '-am "$(cat <<E\nx -m y\nE\n)"', "--message='z'"):
        assert run_key(command.format(message)) == command.replace(" {}", "")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git commit -qm 'fix it'", "fix it"),
        ("git -C x commit -m 'a' -m \"b\" && git tag -m 'c'", "a\n\nb"),
        ("git commit -m \"$(cat <<'E'\nfix it\n\nbecause\nE\n)\"", "fix it\n\nbecause"),
        ("cat > a <<'E'\nx = 1\nE\ngit commit -F- <<'F'\nadd a\nF", "add a"),
        ("docker run -m '5g' x && git commit --amend --no-edit", ""),
        ("git log --grep='git commit' -m 'z'", ""),
        ("python -m 'http.server' # git commit", ""),
        ("cat > hook.sh <<E\ngit commit -m 'wip'\nE", ""),
        ('git commit -m "$MSG"', ""),
    ],
)
def test_the_message_of_a_commit_is_what_git_takes_for_it(command, message):
    assert commit_message(command) == message


@pytest.mark.parametrize(
    "command",
    [
        "cat d.csv | awk -F, '{print $1 > \"out.txt\"}'",
        "sed -n '1p;w out.txt' a",
        "cat a; sed -n -i 's/a;b/c/p' f",
        "find . -name 'a|b' \"-exec\" rm {} \\;",
        "cat [[ x; rm -rf y ]]",
        "rg 'a|b' x > y",
    ],
)
def test_a_command_that_acts_in_what_is_quoted_does_more_than_show(command):
    assert not only_shows(command)


@pytest.mark.parametrize(
    "command",
    [
        "git tag -m 'x -> y'",
        'python -c "print(1>2)"',
        'psql -c "select \\"a\\" > 1"',
        "make check | grep lint",
        "> f",
        "time ",
        "pytest $(git diff --name-only | head -5) -k A",
        "echo $((1>2))",
        "(make; pytest | tail -5)",
        "cat <<E | python\nprint(1 > 2)\nE",
        "make " + "x" * 3_000 + " | tail",
    ],
)
def test_quoted_text_and_what_selects_lines_are_part_of_what_runs(command):
    assert run_key(command) == command


@pytest.mark.parametrize(
    "command", ["make", "cd a && make 2>&1", "git commit -m 'a; b | c'", 'echo "a; b" \\\n -q']
)
def test_the_exit_code_of_a_command_that_stops_at_a_failure_tells_of_all_of_it(command):
    assert ends_itself(command)


@pytest.mark.parametrize("command", ["make | tail", "make; ls", "make || true", "make &", "a\nb"])
def test_the_exit_code_of_the_last_of_several_commands_tells_of_that_alone(command):
    assert not ends_itself(command)


@pytest.mark.parametrize(
    "piece",
    [
        " ",
        "2>&1 ",
        "| tail ",
        "> a",
        ">a",
        "1>a",
        "| head",
        "'",
        '"',
        "\\",
        "time ",
        "a && time ",
        "| tail" + " " * 99,
    ],
)
def test_any_command_has_a_key_in_linear_time(piece):
    started = process_time()
    for size, times in ((10**6, 1), (1_980, 100), (280, 1_000)):
        command = f"make{piece * (size // len(piece))};a"
        for _ in range(times):
            run_key(command)
            ends_itself(command)
            only_shows(f"cat {command}")
    assert process_time() - started < 2


def files(command):
    return list(changed_files(command))


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sed -i 's/a;b/c/g' setup.cfg", [("setup.cfg", "edited")]),
        ("sed -i '' -e 's/a/b/' x.py y.py", [("x.py", "edited"), ("y.py", "edited")]),
        ("perl -0pi -e 's/a/b/' 'a b.py'", [("a b.py", "edited")]),
        ("make 2>&1 | tee out.log", [("out.log", "written")]),
        ("git rm a.py && git mv b c", [("a.py", "deleted"), ("b", "deleted"), ("c", "written")]),
        ("rm -rf app .kamal", [("app", "deleted"), (".kamal", "deleted")]),
        ("cp a.py b.py; touch c", [("b.py", "written"), ("c", "written")]),
        ("echo x >> a.txt", [("a.txt", "edited")]),
        ("make &> log.txt", [("log.txt", "written")]),
        ("if [ -e a ]; then rm a; fi", [("a", "deleted")]),
        (
            "cd /r && cat > a.py << 'EOF'\nrm x > y\nEOF\nrm b",
            [("/r/a.py", "written"), ("/r/b", "deleted")],
        ),
        ("cd sub && rm y; cd /a; rm ./z", [("sub/y", "deleted"), ("/a/z", "deleted")]),
        ("rm a.log  # see b.py and 'c\nrm d", [("a.log", "deleted"), ("d", "deleted")]),
        (
            "grep -q x <<<word\ncat > a.sh <<EOF\nrm b\nEOF\necho $((1<<3))\nrm c",
            [("a.sh", "written"), ("c", "deleted")],
        ),
        ("sed -i -e 's/a/b/' -e 's#x#/etc/y#g' a.py", [("a.py", "edited")]),
        ("sed -i --expression='s/a/b/' a.py", [("a.py", "edited")]),
    ],
)
def test_the_files_that_a_command_changes_are_found(command, found):
    assert files(command) == found


@pytest.mark.parametrize(
    "command",
    [
        "sed -n 1,5p a.py",
        "python -c 'print(1 > 2)'",
        "make > /dev/null 2>&1",
        "make 2> err.txt",
        "diff <(sort a) <(sort b)",
        'grep x *.py > "$OUT"',
        "f = (a) => b",
        "cp a.py folder/",
        "rm -rf *.pyc",
        "perl -MList::Util=sum -ne 'print' a.txt",
        "perl -Ilib t/run.pl a.txt",
        "git rm --cached .env",
        "echo $((a>b))",
        "[[ a > b ]] && echo c",
        "cd $DIR && rm a; cd; rm b",
        "rm",
        "",
    ],
)
def test_what_changes_no_file_or_names_none_is_left_alone(command):
    assert files(command) == []


def test_no_more_files_are_believed_than_a_command_can_mean():
    assert len(files("rm " + " ".join(f"f{n}" for n in range(9_000)))) == MOST_FILES
    assert files("rm " + "f" * (LONGEST_PATH + 1)) == []


@given(st.text(alphabet="rm >ct'\"$&|;\n<<EOF-i/", max_size=200))
def test_whatever_a_command_is_its_files_are_short_single_lines(command):
    for path, done in changed_files(command):
        assert 0 < len(path) <= LONGEST_PATH
        assert "\n" not in path
        assert done in ("written", "edited", "deleted")
