"""Which files shell commands change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.changed_files import LONGEST_PATH, MOST_FILES, changed_files


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
