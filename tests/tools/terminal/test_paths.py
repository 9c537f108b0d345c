"""Where a path leads."""

import os
import shutil
import subprocess

import pytest

from foldline.tools.approvals import Approvals
from foldline.tools.terminal import Terminal, paths
from foldline.tools.terminal.paths import WorkingDirectory, find_binary, locate_binary
from foldline.tools.terminal.refusal import NeedsApproval, Refused
from foldline.tools.terminal.sandbox import try_confinement

pytestmark = pytest.mark.requirement("T7")


def test_inside_and_outside(place, project):
    for path in ("README.md", "./src/../README.md", f"{place.workspace}/src", "inner/app.py",
                 "missing", "/dev/null"):  # fmt: skip
        place.check(path)
    (project / "loop").symlink_to("loop")
    place.check("loop")
    for path in ("..", "../outside", "link", "linked/x", "/etc/passwd", "src/../../outside",
                 f"{place.workspace}-evil/x", "/dev/stdin", "/proc/self"):  # fmt: skip
        with pytest.raises(NeedsApproval) as beyond:
            place.check(path)
        assert beyond.value.risk == "outside"
    place.check_name("link")
    with pytest.raises(NeedsApproval):
        place.check_name("linked/secret.txt")


def test_paths_that_block_are_refused(place, project):
    os.mkfifo(project / "pipe")
    with pytest.raises(Refused, match="pipe"):
        place.check("pipe")
    with pytest.raises(Refused, match="empty"):
        place.check("")


def test_a_replaced_directory_is_detected(project, place):
    inner = place.move_to("src")
    assert inner.is_there()
    (project / "src").rename(project / "was")
    assert not inner.is_there()
    (project / "src").mkdir()
    assert not inner.is_there()
    with pytest.raises(Refused):
        place.move_to("README.md")
    assert place.move_to("docs").relative_path == "docs"
    assert (
        WorkingDirectory.at(place.workspace).allowing("/etc").resolve("/etc/passwd")
        == "/etc/passwd"
    )


def test_programs_are_found_by_absolute_path_only(monkeypatch, tmp_path):
    (tmp_path / "ls").write_text("#!/bin/sh\n")
    (tmp_path / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary("ls") in {"/usr/bin/ls", "/bin/ls"}
    with pytest.raises(Refused, match="not installed"):
        locate_binary("no-such-program")


HIDDEN = "token=heron-48113"


@pytest.fixture
def kept(project):
    """The project with an .env file, a key in a folder, and a link to the first."""
    (project / ".env").write_text(HIDDEN)
    (project / "conf").mkdir()
    (project / "conf" / "server.key").write_text(HIDDEN)
    (project / ".env.example").write_text("token=")
    (project / "harmless").symlink_to(".env")
    return project


@pytest.fixture
def mode():
    """The confinement of this machine."""
    return "bubblewrap" if try_confinement("bubblewrap").confinement is not None else "landlock"


@pytest.fixture
def reader(kept, open_in, mode):
    return open_in(mode, kept)


@pytest.mark.parametrize(
    "line",
    [
        "cat .env",
        "cat harmless",
        "head -n 1 conf/../.env",
        "cat < .env",
        "cat conf/*",
        "ls && cat .env",
        "cat README.md | grep x - .env",
        "sed -n p .env",
        "awk '{print}' conf/server.key",
        "base64 .env",
        "diff README.md .env",
        "diff -r conf docs",
        "diff conf docs",
        "diff -N . docs",
        "sort .e?v",
        "grep -r token .",
        "grep -rn token",
        "grep --recursive token conf",
        "grep -d recurse token .",
        "rg token",
        "rg --hidden token .",
        "cd conf; cat server.key",
        "find . -exec cat {} +",
        "find . -name '*.key' -exec cat {} +",
        "find . ! -name '*.py' -exec cat {} +",
        "ls -A | xargs cat",
        "git show HEAD:.env",
        "git log -p -- .env",
        "git -C conf diff -- server.key",
    ],
)
def test_a_command_that_prints_a_sensitive_file_needs_approval(reader, line):
    if line.startswith("rg ") and shutil.which("rg") is None:
        pytest.skip("rg is not installed")
    ran = reader.run(line)
    assert ran.status == "needs_approval", ran
    assert "may hold secrets" in ran.reason
    assert HIDDEN not in ran.text
    assert ran.request.risks == ("secrets",)


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "ls -l .env",
        "find . -name .env",
        "cat .env.example",
        "grep -rn TODO src",
        "grep -rn --include=*.py TODO .",
        "grep -rn --include=*.?y --exclude=b* TODO .",
        "grep -rn --exclude=.env* --exclude-dir=conf --exclude=harmless TODO .",
        "find . -name '*.py' -exec cat {} +",
        "find . -name '*.p?' -exec grep -n TODO {} +",
        "find . -name '*.py'",
        "diff src src",
        "diff -r src src",
        "ls src | xargs echo",
        "find src -name '*.py' -exec grep -Hn -e -x -e TODO {} +",
        "echo .env",
    ],
)
def test_a_command_that_prints_no_sensitive_file_needs_no_approval(reader, line):
    assert reader.run(line).status == "ok"


@pytest.mark.parametrize(
    "line",
    [
        r"find . -name '\.env' -exec cat {} +",
        "find . -name '[^x]env' -exec cat {} +",
        "find . -name '[[:punct:]]env' -exec cat {} +",
        "find . -name '.env.??' -exec cat {} +",
        "find . -maxdepth 1 -type f -printf -name -exec cat {} +",
        "find . -maxdepth 1 -type f -exec grep -h -e -name -e token {} +",
        "find . -maxdepth 1 -type f -exec cat {} ; -name '*.py'",
        r"grep -r --include='\.env' token .",
        "grep -r --include='[^x]env' token .",
        "grep -r --include='.env.??' token .",
        "grep -r --exclude='[^.]env' --exclude-dir=conf --exclude=harmless token .",
        "grep -r --exclude='.env' --include='.env' token .",
        "grep -r --exclude=none --include='*.py' token .",
        "grep -r --exclude=.env --exclude=harmless --exclude-dir='[x]conf' token .",
        "grep -d rec token .",
    ],
)
def test_no_glob_with_another_meaning_in_a_program_hides_a_sensitive_file(reader, kept, line):
    (kept / ".env.é").write_text(HIDDEN)
    ran = reader.run(line.replace(" ; ", r" \; "))
    assert ran.status == "needs_approval", ran
    assert HIDDEN not in ran.text


@pytest.mark.parametrize(
    "line",
    [
        "cd src; echo ../.env | xargs cat",
        "cd src; echo {workspace}/.env | xargs cat",
        "cd src; echo env | xargs -I{{}} cat ../.{{}}",
        "cd src; find .. -maxdepth 0 -name .. -exec grep -r token {{}} +",
        "cd src; find .. -maxdepth 0 -name .. -exec grep -d recurse token {{}} +",
        r"find env -maxdepth 0 -exec cat .{{}} \;",
    ],
)
def test_a_command_run_on_unknown_names_counts_as_reading_the_entire_workspace(reader, kept, line):
    (kept / "env").mkdir()
    ran = reader.run(line.format(workspace=reader.workspace))
    assert ran.status == "needs_approval", ran
    assert HIDDEN not in ran.text


def test_a_link_below_a_folder_counts_as_its_target(reader, kept):
    (kept / "src" / "settings").symlink_to("../.env")
    (kept / "src" / "folder").symlink_to("../conf")
    for line in ("find src -name settings -exec cat {} +", "find src -exec cat {} +"):
        ran = reader.run(line)
        assert ran.status == "needs_approval", ran
        assert HIDDEN not in ran.text
    assert reader.run("find src -name '*.py' -exec cat {} +").status == "ok"
    (kept / "src" / "settings").unlink()
    assert HIDDEN not in reader.run("find src -exec cat {} +").stdout


@pytest.fixture
def committed(kept):
    """The same, committed to a repository, with a link to a folder in a folder."""
    (kept / "hop").symlink_to("src/deep")
    for words in ("init -q", "add -Af", "-c user.name=a -c user.email=a@b commit -qm one"):
        subprocess.run(["git", *words.split()], cwd=kept, check=True, capture_output=True)
    (kept / ".env").write_text(HIDDEN + "2")
    (kept / "src" / "app.py").write_text("import os  # TODO\n")
    return kept


@pytest.mark.parametrize(
    "line",
    [
        "git grep token",
        "git grep --untracked token",
        "git grep -e token",
        "cd src; git grep token -- ..",
        "cd src; git grep token ..",
        "cd src; git grep token :/",
        "cd src; git grep token -- :/",
        "git grep token -- ':!src'",
        "git grep token -- none/..",
        "git grep token -- hop/..",
        "git grep token src --",
        "git grep token HEAD -- conf",
        "git grep token HEAD",
        "git grep token -- '.en?'",
        "git grep token -- '*/..'",
        "git log -L1,1:.env",
        "git log -L 1,1:conf/../.env",
        "git show -L1,1:.env",
        "git diff -- '.en?'",
        "git diff '.e*'",
        "git diff -- '{workspace}/.en?'",
        r"git diff -- '\.env'",
        "git diff -- '[.]env'",
        "cd src; git diff -- '../.en?'",
        "cd src; git diff -- ':/.en?'",
        "git show HEAD -- ':(glob).e*'",
        "git show HEAD -- ':(icase)CONF/SERVER.key'",
        "git show HEAD -- 'conf/*'",
        "git log -p -- 'co?f/*'",
    ],
)
def test_git_needs_approval_to_print_a_sensitive_file(committed, open_in, mode, line):
    terminal = open_in(mode, committed)
    ran = terminal.run(line.format(workspace=terminal.workspace))
    assert ran.status == "needs_approval", ran
    assert HIDDEN not in ran.text


def test_without_a_repository_git_compares_folders_recursively(reader):
    ran = reader.run("git diff conf docs")
    assert ran.status == "needs_approval", ran


@pytest.mark.parametrize(
    "line",
    [
        "git log",
        "git log --oneline -- '*.py'",
        "git log -L1,1:src/app.py",
        "git diff",
        "git diff HEAD -- src",
        "git diff src docs",
        "git diff -- '*.py'",
        "git diff HEAD -- . ':!*.lock'",
        "git show HEAD -- 'src/*'",
        "git show HEAD:src/app.py",
        "git grep TODO src",
        "git grep -n 'T.*O' -- src README.md",
        "git grep TODO -- '*.py'",
        "git grep -e TODO HEAD -- src",
        "git ls-files '*'",
        "git branch --list '*'",
    ],
)
def test_git_prints_other_files_without_approval(committed, open_in, mode, line):
    assert open_in(mode, committed).run(line).status == "ok"


@pytest.mark.parametrize("line", ["cat .env", "grep -rh token .", "cat < conf/server.key"])
def test_after_approval_the_file_is_printed_and_nothing_else_is_allowed(kept, open_in, mode, line):
    asked = []

    def yes(request):
        asked.append(request)
        return True

    terminal = open_in(mode, kept, approvals=Approvals(yes))
    assert HIDDEN in terminal.run(line).stdout
    (request,) = asked
    assert request.risks == ("secrets",)
    assert all("writes=True" not in part for part in request.bound)


def test_a_command_that_also_writes_is_approved_as_a_write(kept, open_in, mode):
    ran = open_in(mode, kept).run("cat .env && rm README.md")
    assert ran.request.risks == ("secrets", "write")


def test_without_a_sandbox_a_sensitive_file_is_refused(kept):
    terminal = Terminal.open(kept, sandbox="none", allow_unconfined=True)
    assert terminal.run("cat .env").status == "refused"
    assert terminal.run("cat README.md").status == "ok"


def test_sensitive_names_are_configurable(kept, open_in, mode):
    assert HIDDEN in open_in(mode, kept, sensitive=()).run("grep -r token .").stdout
    only = open_in(mode, kept, sensitive=("*.md",))
    assert only.run("cat README.md").status == "needs_approval"
    assert only.run("cat .env").status == "ok"


def test_installed_packages_are_skipped_and_too_many_files_need_approval(
    project, open_in, mode, monkeypatch
):
    packages = project / ".venv" / "certs"
    packages.mkdir(parents=True)
    (packages / "ca.pem").touch()
    terminal = open_in(mode, project)
    assert terminal.run("grep -rn TODO .").status == "ok"
    monkeypatch.setattr(paths, "MOST_NAMES", 3)
    assert "too many files" in terminal.run("grep -rn TODO .").reason
