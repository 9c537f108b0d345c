"""What the kernel enforces, tested with programs that the parser would refuse."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.children import launch

from foldline.errors import BudgetError
from foldline.tools.terminal import sandbox
from foldline.tools.terminal.bubblewrap import Bubblewrap
from foldline.tools.terminal.landlock import Landlock
from foldline.tools.terminal.order import PipelineStage, Profile, TerminalLimits, run_order
from foldline.tools.terminal.paths import find_binary
from foldline.tools.terminal.refusal import Refused
from foldline.tools.terminal.sandbox import Unconfined, escapes
from foldline.tools.terminal.seccomp import compile_filter, machine

pytestmark = pytest.mark.requirement("T7")

LIMITS = TerminalLimits(seconds=10)
FORKING = Profile(forks=True)
TEMPORARY = "/tmp"  # noqa: S108  # bound on purpose


@pytest.fixture(params=["bubblewrap", "landlock"])
def confinement(request):
    return confined_by(request.param)


def confined_by(mode):
    found = sandbox.try_confinement(mode)
    if found.confinement is None:
        pytest.skip(f"no {mode} here: {found.words}")
    return found.confinement


def run(confinement, place, *words, profile=FORKING, limits=LIMITS):
    stage = PipelineStage((find_binary(words[0]), *words[1:]), profile=profile)
    return run_order(confinement.order([stage], place, limits), limits.output)


def test_the_workspace_can_be_read_and_nothing_else(confinement, place, project):
    assert run(confinement, place, "cat", "README.md").stdout.startswith(b"# Title")
    secret = project.parent / "outside" / "secret.txt"
    for path in (secret, "link", "linked/secret.txt", "../outside/secret.txt", "/etc/passwd",
                 "/proc/self/environ", f"/proc/{os.getpid()}/environ", "/dev/zero"):  # fmt: skip
        said = run(confinement, place, "head", "-c", "99", str(path))
        assert (said.stdout, said.codes != (0,)) == (b"", True), path


def test_nothing_can_be_changed(confinement, place, project):
    before = sorted((str(path), path.lstat().st_mode) for path in project.parent.rglob("*"))
    script = (
        "rm -rf README.md; : > new; echo x >> data.csv; chmod 777 data.csv; ln -s a b; mkdir c; "
        f"touch data.csv; mv data.csv d; : > {project.parent}/outside/new; : > /tmp/../new"
    )
    run(confinement, place, "sh", "-c", script)
    after = sorted((str(path), path.lstat().st_mode) for path in project.parent.rglob("*"))
    assert before == after


def test_no_environment_and_no_descriptor_is_passed_on(confinement, place, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "sk-123")
    read, write = os.pipe()
    os.set_inheritable(read, True)
    os.write(write, b"from a descriptor")
    try:
        said = run(confinement, place, "sh", "-c", f"env; cat <&{read}")
    finally:
        os.close(read)
        os.close(write)
    assert b"sk-123" not in said.stdout
    assert b"descriptor" not in said.stdout
    assert b"HOME=/nonexistent" in said.stdout


def test_a_program_that_needs_no_others_can_start_none(confinement, place):
    said = run(confinement, place, "sh", "-c", "cat README.md; true", profile=Profile())
    assert b"Title" not in said.stdout
    assert run(confinement, place, "sort", "data.csv", profile=Profile()).stdout[:3] == b"a,1"


def test_too_many_processes_and_too_much_memory_are_stopped(confinement, place):
    limits = TerminalLimits(seconds=3, memory=64 << 20, processes=40)
    begun = time.monotonic()
    run(confinement, place, "sh", "-c", "f() { f | f & }; f; sleep 2", limits=limits)
    assert time.monotonic() - begun < 12
    said = run(confinement, place, "awk", 'BEGIN{printf "%2000000000d", 1}', limits=limits)
    assert said.codes != (0,)
    assert len(said.stdout) <= limits.output


def test_leftover_processes_are_killed_with_the_call(confinement, place):
    mark = f"1{time.time_ns() % 10**9}"
    script = f"(setsid sleep {mark} </dev/null >/dev/null 2>&1 &) ; (nohup sleep {mark} &) ; :"
    run(confinement, place, "sh", "-c", script)
    assert not any(mark in line for line in command_lines())


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().decode(errors="replace")
        except OSError:
            continue


def test_it_ends_when_its_caller_exits(place, confinement):
    mark = f"1{time.time_ns() % 10**9}"
    script = (
        "import sys\n"
        "from foldline.tools.terminal import Terminal\n"
        f"t = Terminal.open({place.workspace!r}, sandbox={confinement.name!r})\n"
        "print('ready', flush=True)\n"
        f"t.run('awk \"BEGIN{{m={mark};while(1);}}\"')\n"
    )
    asker = launch([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert asker.stdout.readline() == b"ready\n"
        assert eventually(lambda: any(f"m={mark}" in line for line in command_lines()))
    finally:
        asker.send_signal(signal.SIGKILL)
        asker.wait()
        asker.stdout.close()
    assert eventually(lambda: not any(f"m={mark}" in line for line in command_lines()))


def eventually(holds, seconds=15):
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_a_directory_that_was_replaced_is_noticed(confinement, place, project):
    (project / "src").rename(project / "was")
    (project / "src").symlink_to(project.parent / "outside")
    moved = dataclasses.replace(place, directory=f"{place.workspace}/src")
    said = run(confinement, moved, "cat", "secret.txt")
    assert said.stdout == b""
    assert "failed" in said.error or said.codes != (0,)


# --- choosing ------------------------------------------------------------------------------


class Open(Bubblewrap):
    """A bubblewrap that binds a forbidden path."""

    def _words(self, place, profile, filtered):
        words = super()._words(place, profile, filtered)
        at = words.index("--remount-ro")
        return [*words[:at], *self.extra, *words[at:]]


class Readable(Open):
    extra = ("--ro-bind", TEMPORARY, TEMPORARY)


class Writable(Open):
    extra = ("--bind", TEMPORARY, TEMPORARY)


class WithProc(Open):
    extra = ("--proc", "/proc")


@pytest.mark.parametrize("broken", [Readable, Writable, WithProc])
def test_the_self_test_sees_a_layer_that_is_broken(broken, tmp_path, monkeypatch):
    found = confined_by("bubblewrap")
    monkeypatch.setattr("tempfile.tempdir", TEMPORARY)
    assert escapes(broken(found.program, found.optional)) != []


class Shared(Bubblewrap):
    """Without a network namespace and a filter."""

    def order(self, stages, place, limits):
        order = super().order(stages, place, limits)
        for stage in order["stages"]:
            stage["filter"] = ""
            words = stage["argv"]
            words[:] = [word for word in words if word != "--unshare-net"]
            at = words.index("--seccomp")
            del words[at : at + 2]
        return order


def test_the_self_test_sees_a_network(monkeypatch):
    found = confined_by("bubblewrap")
    assert escapes(Shared(found.program, found.optional)) == ["it reaches the network"]


def test_the_self_test_sees_that_nothing_confines_and_that_nothing_runs(tmp_path):
    assert "it reads a file outside" in escapes(Unconfined())
    broken = dataclasses.replace(Bubblewrap("/bin/false"))
    assert escapes(broken)[0].startswith("nothing can be run")


def test_auto_takes_the_strongest_and_refuses_when_there_is_none(monkeypatch):
    real = sandbox.try_confinement

    def without(*missing):
        def answer(mode):
            return sandbox.ConfinementTrial(None, "gone") if mode in missing else real(mode)

        return answer

    monkeypatch.setattr(sandbox, "try_confinement", without("bubblewrap"))
    if real("landlock").confinement is not None:
        assert sandbox.choose_confinement().name == "landlock"
        assert sandbox.choose_confinement().loses
    monkeypatch.setattr(sandbox, "try_confinement", without("bubblewrap", "landlock"))
    with pytest.raises(sandbox.NotConfined, match="apt-get install bubblewrap"):
        sandbox.choose_confinement()
    with pytest.raises(sandbox.NotConfined, match="allow_unconfined"):
        sandbox.choose_confinement("none")
    assert sandbox.choose_confinement("none", allow_unconfined=True).name == "UNCONFINED"
    with pytest.raises(BudgetError, match="sandbox"):
        sandbox.choose_confinement("docker")


def test_elsewhere_than_on_linux_nothing_is_chosen(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    with pytest.raises(sandbox.NotConfined, match="Linux"):
        sandbox.choose_confinement()


# --- rules ---------------------------------------------------------------------------------


def test_the_filter_is_a_program_for_the_kernel():
    if not machine():
        pytest.skip("the filter does not know this architecture")
    strict = compile_filter(Profile(), mounted=False)
    assert len(strict) % 8 == 0
    assert len(strict) > len(compile_filter(Profile(forks=True, writes=True), mounted=True)) > 400


def test_landlock_refuses_writes_where_git_could_not_be_kept(place, project):
    stage = PipelineStage(("/usr/bin/touch", "x"), profile=Profile(forks=True, writes=True))
    order = Landlock(7).order([stage], place, LIMITS)
    assert order["landlock"]["paths"][0][1] > 0b1111
    (project / ".git").mkdir()
    with pytest.raises(Refused, match="bubblewrap"):
        Landlock(7).order([stage], place, LIMITS)


def test_an_approved_command_writes_the_workspace_but_no_file_that_git_runs(place, project):
    found = confined_by("bubblewrap")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    script = "echo x > new; echo x > .git/config; echo x > .git/hooks/pre-commit; echo x > .git/z"
    run(found, place, "sh", "-c", script, profile=Profile(forks=True, writes=True))
    assert (project / "new").exists()
    assert not (project / ".git" / "z").exists()
    run(found, place, "sh", "-c", script, profile=Profile(forks=True, writes=True, git=True))
    assert (project / ".git" / "z").exists()
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert "[core]" in (project / ".git" / "config").read_text()
