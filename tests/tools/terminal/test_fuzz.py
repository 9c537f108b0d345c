"""Hundreds of generated command lines have no effect outside the workspace."""

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.nightly import NIGHTLY

from foldline.tools.approvals import Approvals, ApprovalSettings
from foldline.tools.terminal import TerminalLimits
from foldline.tools.terminal.programs.table import PROGRAM_NAMES

pytestmark = [pytest.mark.requirement("T7"), pytest.mark.slow]

PATHS = [
    "README.md", "src", ".", "..", "../outside/secret.txt", "link", "linked/secret.txt", "/etc",
    "/etc/passwd", "src/../link", "*", "*/*", "linked/*", "-", "./-dash.txt", "/dev/null",
    "/proc/self/environ", "'a b'", "{}", "nosuch", "made", "../outside/made", "/var/made",
]  # fmt: skip
OPTIONS = [
    "-n", "-r", "-i", "-o", "made", "-R", "-f", "-l", "-c", "-e", "-L", "-exec", "-delete", "+",
    "\\;", "-name", "'*.py'", "-type", "--output=made", "-fprint", "--", "-0", "-I{}", "-w", "1",
    "-print0", "-C", "-v", "--files0-from=link", "-ok", "--pre=sh", "-s", "-x", "-d,", "-k1",
]  # fmt: skip
SCRIPTS = [
    "'BEGIN{system(\"touch made\")}'", "'{print > \"made\"}'", "'1w made'", "'s/a/b/e'", "'p'",
    "'{print $1}'", "'/a/{p;q}'", "'.a'", "'1e touch made'", "'{print | \"sh\"}'", "'%s\\n'",
    "'a|b'", '"$HOME"', "$(touch made)", "`id`", "'while((getline l<\"link\")>0) print l'",
]  # fmt: skip
OTHERS = ["rm", "touch", "sh", "python3", "cp", "env", "tee", "git", "./src/app.py", "eval", "nc"]
SUBCOMMANDS = [
    "log",
    "status",
    "diff",
    "config",
    "show",
    "branch",
    "stash",
    "commit",
    "-c",
    "clean",
]

word = st.one_of(st.sampled_from(PATHS), st.sampled_from(OPTIONS), st.sampled_from(SCRIPTS))
redirect = st.sampled_from(
    ["", "", "", "", "2>/dev/null", "2>&1", "> made", ">> ../outside/made", "< README.md",
     "< link", "<<< x", "&> made"]
)  # fmt: skip
name = st.one_of(
    st.sampled_from(PROGRAM_NAMES), st.sampled_from(PROGRAM_NAMES), st.sampled_from(OTHERS)
)
command = st.one_of(
    st.builds(lambda n, words, out: " ".join([n, *words, out]), name, st.lists(word, max_size=4),
              redirect),
    st.builds(lambda s, words: " ".join(["git", s, *words]), st.sampled_from(SUBCOMMANDS),
              st.lists(word, max_size=3)),
    st.builds(lambda n, words: " ".join(["xargs", n, *words]), name, st.lists(word, max_size=2)),
    st.builds(lambda p, n, words: " ".join(["find", p, "-exec", n, *words, "{}", "\\;"]),
              st.sampled_from(PATHS), name, st.lists(word, max_size=2)),
)  # fmt: skip
TAME = [
    "cat PATH", "ls -la PATH", "grep -rn TODO PATH", "find PATH -type f", "wc -l PATH", "uniq -c",
    "head -n 2 PATH", "sed -n '1,2p' PATH", "awk '{print $1}' PATH", "sort -r PATH", "cat",
    "find . -name '*' -exec cat {} +", "ls | xargs cat", "find . | xargs grep -l x", "cut -c1-4",
    "echo ../outside/secret.txt link | xargs cat", "cat PATH 2>&1", "tail -n 1 PATH", "stat PATH",
    "cd PATH", "diff -r PATH PATH", "du -a PATH", "echo -f link | xargs grep x", "tr a-z A-Z",
]  # fmt: skip
INSIDE = ["README.md", "src/app.py", ".", "data.csv", "src", "./-dash.txt", "*.md", "nosuch"]
tame = st.builds(
    lambda text, path: text.replace("PATH", path),
    st.sampled_from(TAME),
    st.one_of(st.sampled_from(INSIDE), st.sampled_from([*INSIDE, *PATHS])),
)
joint = st.sampled_from([" | ", " | ", " && ", " && ", "; ", "; ", " || ", " & "])
either = st.one_of(tame.map(str), tame.map(str), tame.map(str), command.map(str))
tail = st.lists(st.tuples(joint, either), max_size=2)
line = st.builds(
    lambda first, rest: first + "".join(joint + one for joint, one in rest),
    either,
    tail,
)


def state(folder):
    """Return the names, modes, links and contents below a folder."""
    out = hashlib.sha256()
    for root, folders, files in sorted(os.walk(folder)):
        for name in sorted([*folders, *files]):
            path = Path(root, name)
            seen = path.lstat()
            out.update(f"{path} {seen.st_mode} {seen.st_size} {seen.st_mtime_ns}".encode())
            if path.is_symlink():
                out.update(os.fsencode(path.readlink()))
            elif path.is_file():
                out.update(path.read_bytes())
    return out.hexdigest()


EXAMPLES = {"suppress_health_check": list(HealthCheck), "database": None}
LINES = 4_000 if NIGHTLY else 200


@pytest.mark.parametrize("mode", ["bubblewrap", "landlock"])
def test_generated_lines_run_or_are_refused_without_any_effect(mode, project, open_in):
    terminal = open_in(mode, project, limits=TerminalLimits(seconds=2, output=200_000))
    before = state(project.parent)
    counts = {}

    @settings(max_examples=LINES, **EXAMPLES)
    @given(line)
    def each(text):
        terminal.run("cd")
        ran = terminal.run(text)
        counts[ran.status] = counts.get(ran.status, 0) + 1
        assert "OUTSIDE-4f1c" not in ran.text
        assert "root:" not in ran.text
        assert ran.status in {"ok", "failed", "refused", "needs_approval", "timeout"}, ran
        assert state(project.parent) == before, text

    each()
    assert counts["ok"] + counts["failed"] > LINES // 5, counts


@pytest.mark.requirement("E3.2")
def test_approved_commands_have_no_effect_outside_the_workspace(project, open_in):
    settings_of = ApprovalSettings(hourly=10**6)
    approvals = Approvals(lambda one: "outside" not in one.risks, settings=settings_of)
    terminal = open_in(
        "bubblewrap",
        project,
        limits=TerminalLimits(seconds=2, output=200_000),
        approvals=approvals,
    )
    outside = state(project.parent / "outside")

    @settings(max_examples=LINES // 2, **EXAMPLES)
    @given(line)
    def each(text):
        terminal.run("cd")
        assert "OUTSIDE-4f1c" not in terminal.run(text).text
        assert state(project.parent / "outside") == outside, text

    each()
