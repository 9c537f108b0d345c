"""Parsing of words, pipes and lists, and refusals by name."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tools.terminal.globs import MOST_HITS, expand_word
from foldline.tools.terminal.language import (
    LONGEST,
    MOST_COMMANDS,
    ShellWord,
    parse_line,
    tokenize,
)
from foldline.tools.terminal.refusal import NeedsApproval, Refused

pytestmark = pytest.mark.requirement("T7")


def words(line):
    return [token if isinstance(token, str) else token.text for token in tokenize(line)]


def glob(pattern, place):
    return expand_word(tokenize(pattern)[0], place)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls -la src", ["ls", "-la", "src"]),
        ("cat 'a b' \"c d\" e\\ f", ["cat", "a b", "c d", "e f"]),
        ("grep '$5 | a && b' f", ["grep", "$5 | a && b", "f"]),
        ('echo "it costs \\$5" "x\\n"', ["echo", "it costs $5", "x\\n"]),
        ('grep -c "^$" f', ["grep", "-c", "^$", "f"]),
        ("awk '{print $2}' f|head -n1", ["awk", "{print $2}", "f", "|", "head", "-n1"]),
        ("ls;pwd&&ls||ls", ["ls", ";", "pwd", "&&", "ls", "||", "ls"]),
        ("ls x2>/dev/null", ["ls", "x2", ">", "/dev/null"]),
        ("ls x 2>/dev/null", ["ls", "x", "2>", "/dev/null"]),
        ("xargs -I{} cat {}", ["xargs", "-I{}", "cat", "{}"]),
        ("git log HEAD~1 @{1}", ["git", "log", "HEAD~1", "@{1}"]),
        ("tr ',' '\n'\n", ["tr", ",", "\n"]),
        ("echo '' \"\"", ["echo", "", ""]),
        ("cd ~ && ls", ["cd", "&&", "ls"]),
    ],
)
def test_a_line_is_taken_apart_as_a_shell_would(line, expected):
    assert words(line) == expected


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("ls $(id)", "command substitution"),
        ("ls `id`", "command substitution"),
        ('ls "$(id)"', "command substitution"),
        ("echo $HOME", "variable"),
        ('echo "${HOME}"', "variable"),
        ("echo $?", "variable"),
        ("echo $'a'", "quoting"),
        ("(ls)", "subshell"),
        ("ls &", "background"),
        ("ls & id", "background"),
        ("ls <(id)", "process substitution"),
        ("ls > >(id)", "process substitution"),
        ("cat << EOF", "here-document"),
        ("ls |& cat", "|&"),
        ("ls # id", "comment"),
        ("cat ~/x", "home directory"),
        ("cat {a,b}", "brace list"),
        ("echo {1..9}", "brace list"),
        ("ls\nid", "line break"),
        ("ls 'x", "unclosed"),
        ('ls "x', "unclosed"),
        ("ls \\", "backslash"),
        ("for f in a; do id; done", "loop"),
        ("ls \x00", "\\u0000"),
        ("ls \u202e", "\\u202e"),
        ("l\u200bs", "\\u200b"),
        ("ls \ud800", "\\ud800"),
        ("ls\u00a0x", "unusual blank"),
    ],
)
def test_unsupported_syntax_is_refused_by_name(line, named):
    with pytest.raises(Refused) as refused:
        parse_line(line)
    assert named in str(refused.value)
    assert not isinstance(refused.value, NeedsApproval)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "line",
    [
        "ls > f", "ls >> f", "ls >f 2>&1", "ls 2> f", "ls &> f", "> f", "ls 3>/dev/null",
        "ls <&7", "ls >&7", "ls <> f", "ls >| f", "X=1 ls", "X=1", "PATH+=x ls", "| ls", "ls |",
        "ls | | cat", "ls &&", "&& ls", "ls ;; ls", "", "  ", ";", "ls < a | cat < b", "ls >",
    ],
)  # fmt: skip
def test_redirections_assignments_and_gaps_are_refused(line):
    with pytest.raises(Refused):
        parse_line(line)


def test_redirections_apply_in_the_order_of_the_line():
    def sinks(line):
        command = parse_line(line)[0].commands[0]
        return command.out, command.err

    assert sinks("ls") == ("out", "err")
    assert sinks("ls 2>/dev/null") == ("out", "null")
    assert sinks("ls >/dev/null 2>&1") == ("null", "null")
    assert sinks("ls 2>&1 >/dev/null") == ("null", "out")
    assert sinks("ls &>/dev/null") == ("null", "null")
    assert sinks("echo no >&2") == ("err", "err")
    assert parse_line("wc -l < 'a b'")[0].commands[0].source == ShellWord("a b", (False,) * 3)


def test_lists_keep_their_operators():
    assert [one.joint for one in parse_line("a && b || c; d;")] == [";", "&&", "||", ";"]


def test_a_long_line_is_refused_without_asking_for_approval():
    for line in ("ls " + "a" * LONGEST, " | ".join(["cat"] * (MOST_COMMANDS + 1)), "ls;" * 11,
                 "(" * 5_000, "echo " + "''" * 500_000):  # fmt: skip
        with pytest.raises(Refused) as refused:
            parse_line(line)
        assert not isinstance(refused.value, NeedsApproval)


def test_globs_are_expanded_inside_the_workspace(place):
    assert glob("*.md", place) == ["README.md"]
    assert glob("src/*.py", place) == ["src/app.py"]
    assert glob("s*/*/[tu]til.??", place) == ["src/deep/util.py"]
    assert glob("src/*/", place) == ["src/deep/"]
    assert glob(f"{place.workspace}/[D-d]ata.csv", place) == [f"{place.workspace}/data.csv"]
    assert glob("[!a-z]*.md", place) == ["README.md"]
    assert glob("'*'.md", place) == ["*.md"]
    assert glob("*.nothing", place) == ["*.nothing"]
    assert glob("inner/*.py", place) == ["inner/app.py"]


def test_a_glob_never_makes_an_option_and_never_leaves_through_a_link(place):
    assert glob("*dash*", place) == ["./-dash.txt"]
    assert glob("link*", place) == ["link*"], "both links lead outside"
    assert glob("linked*/*", place) == ["linked*/*"]
    for pattern in ("linked/*", "../*", "/etc/*", "*/../../*"):
        with pytest.raises(Refused):
            glob(pattern, place)


def test_a_glob_with_too_many_hits_is_refused(project, place):
    many = project / "many"
    many.mkdir()
    for number in range(MOST_HITS + 2):
        (many / f"f{number}").touch()
    with pytest.raises(Refused, match="matches"):
        glob("many/*", place)


def test_file_names_with_control_characters_are_left_out_of_globs(project, place):
    (project / "esc\x1b[31m.txt").touch()
    (project / "esc.txt").touch()
    assert glob("esc*", place) == ["esc.txt"]


pieces = st.sampled_from(
    ["a", "b c", "'", '"', "\\", "$", " ", "\t", "x'y'z", '"d e"', "\\\\", "\\'", "=", "-n", "^",
     "%", "{", "}", "{}", ",", "é", "文", "!", "@", "+", "'$a'", '"\\$"', '"`"', "~", "a~", "#",
     "a#", ":", "'|'", "'a\nb'"]
)  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is what it is compared with")
@given(st.lists(pieces, max_size=12).map("".join))
def test_words_come_out_as_a_shell_would_make_them(text):
    """Accepted commands mean the same to bash; what bash would expand is refused."""
    try:
        ours = [word for token in tokenize(f"p {text}")[1:] for word in [token.text]]
    except Refused:
        return
    line = f"p() {{ printf '%s\\0' \"$@\"; }}; p {text.strip()}"
    said = subprocess.run(
        ["bash", "--norc", "-c", line], capture_output=True, env={"LC_ALL": "C.UTF-8"}, timeout=20
    )
    theirs = said.stdout.decode().split("\0")[:-1]
    assert ours == (theirs if ours else [])
