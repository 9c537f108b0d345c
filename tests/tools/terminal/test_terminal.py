"""The public interface of the terminal."""

import asyncio
import threading
import time

import pytest

from foldline.errors import BudgetError, RecallError
from foldline.tools import Terminal
from foldline.tools.approvals import ApprovalAnswer, Approvals, ApprovalSettings, PromptQueue
from foldline.tools.terminal import OutputStore, TerminalLimits

pytestmark = pytest.mark.requirement("T7")


def test_it_reads_counts_and_finds(terminal):
    assert terminal.run("ls | wc -l").stdout.strip() == "8"
    assert terminal.run("grep -rn TODO . | sort").stdout == (
        "./README.md:3:TODO: one\n./src/app.py:4:    return 1  # TODO\n"
    )
    assert (
        terminal.run("find . -name '*.py' -exec wc -l {} + | tail -n 1").stdout.split()[0] == "5"
    )
    assert terminal.run("tail -n +2 data.csv | cut -d, -f2 | sort -n").stdout == "3\n20\n"
    assert terminal.run("wc -l < README.md").stdout == "4\n"
    assert terminal.run("cat docs/*.txt").stdout == "it costs $5\n"
    assert terminal.run("find src -name '*.py' | xargs grep -c TODO").stdout.count(":") == 2


def test_cd_persists_and_stays_inside_the_workspace(terminal):
    assert terminal.run("cd src && ls").stdout == "app.py\ndeep\n"
    assert terminal.run("pwd").stdout == f"{terminal.workspace}/src\n"
    assert terminal.run("cat deep/util.py").stdout == "X = 1\n"
    assert terminal.run("cd nowhere || echo stayed").stdout == "stayed\n"
    assert terminal.run("ls").directory == "src"
    for line in ("cd ../..", "cd /", "cd ../linked", f"cd {terminal.workspace.parent}"):
        assert terminal.run(line).status == "refused", line
    assert terminal.run("cd nowhere && ls").status == "failed"
    assert terminal.run("cd .. ; pwd").stdout == f"{terminal.workspace}\n"
    terminal.run("cd src/deep")
    assert terminal.run("cd").directory == "."
    assert terminal.run("cd src | ls").status == "refused"


def test_a_cd_that_does_not_go_as_planned_is_planned_again(terminal):
    assert terminal.run("ls nosuch && cd src; ls app.py README.md").stdout == "README.md\n"


def test_lists_stop_or_continue_by_exit_code(terminal):
    assert terminal.run("ls nosuch 2>/dev/null && echo a || echo b; echo c").stdout == "b\nc\n"
    failed = terminal.run("ls nosuch")
    assert (failed.status, failed.code) == ("failed", 2)
    assert failed.stderr.startswith("ls: cannot access 'nosuch'")
    assert "[exit code 2]" in failed.text
    assert terminal.run("ls nosuch 2>&1 | wc -l").stdout == "1\n"


def test_the_kernel_enforces_what_the_parser_cannot_check(terminal, project):
    (project / "names").write_text(f"{project.parent}/outside/secret.txt\nlink\n")
    lines = ["cat names | xargs cat", "find . -name link -exec cat {} +"]
    for line in [*lines, "find . -name 'li*' | xargs -I{} head -n1 {}"]:
        ran = terminal.run(line)
        assert "OUTSIDE-4f1c" not in ran.text
        assert ran.ok


def test_long_output_is_stored_under_a_handle(project, open_in):
    terminal = open_in("bubblewrap", project, limits=TerminalLimits(visible_output=1_000))
    (project / "long").write_text("".join(f"line {n}\n" for n in range(2_000)))
    ran = terminal.run("cat long")
    assert ran.truncated
    assert len(ran.stdout) < 1_200
    assert ran.stdout.startswith("line 0\n")
    assert ran.stdout.endswith("line 1999\n")
    page = terminal.more(ran.handle, 10_000)
    assert page.text in (project / "long").read_text()
    assert page.start == 10_000
    with pytest.raises(RecallError):
        terminal.more("out-nothing")


def test_terminals_may_share_a_store_of_outputs(project, open_in):
    kept, limits = OutputStore(), TerminalLimits(visible_output=1_000)
    one, other = (open_in("none", project, limits=limits, keeping=kept) for _ in range(2))
    (project / "long").write_text("".join(f"line {n}\n" for n in range(2_000)))
    handle = one.run("cat long").handle
    assert other.more(handle, 7).text.startswith("line 1\n")


def test_endless_commands_are_stopped(project, open_in):
    terminal = open_in("bubblewrap", project, limits=TerminalLimits(seconds=1, output=20_000))
    assert terminal.run("awk 'BEGIN{while(1);}'").status == "timeout"
    much = terminal.run("seq 1 1000000000")
    assert (much.status, much.truncated) == ("ok", True)
    assert "stopped after 20,000 bytes" in much.text


def test_output_has_no_control_sequences(terminal, project):
    (project / "ansi").write_bytes(b"a\x1b[2J\x1b]0;t\x07b\xc2\x9b31mc\xe2\x80\xae\xe9d\re\n")
    assert terminal.run("cat ansi").stdout == "abc\ufffdde\n"
    refused = terminal.run("\x1b[2Jrm -rf x\u202e")
    assert refused.status == "refused"
    assert "\x1b" not in refused.text
    assert refused.reason.isprintable()
    assert refused.command.startswith("\\u001b")


def test_a_deleted_directory_is_an_error_and_resets_to_the_workspace(terminal, project):
    terminal.run("cd docs")
    (project / "docs" / "my notes.txt").unlink()
    (project / "docs").rmdir()
    gone = terminal.run("ls")
    assert gone.status == "error"
    assert terminal.run("ls | head -n 1").ok


@pytest.mark.parametrize("command", ["", "\0", "\ud800", "'", "(" * 5_000, "ls " + "a" * 200_000])
def test_run_never_raises(terminal, command):
    assert terminal.run(command).status in {"refused", "needs_approval"}


def test_system_directories_cannot_be_a_workspace(tmp_path):
    for path in ("/", "/etc", "/proc/self", "/dev", tmp_path / "missing"):
        with pytest.raises(BudgetError):
            Terminal.open(path)


def test_landlock_reports_its_missing_guarantee(project, open_in):
    ran = open_in("landlock", project).run("ls")
    assert ran.sandbox == "landlock"
    assert "owner" in ran.text


def test_unconfined_is_reported_and_refuses_commands_that_need_a_sandbox(project, open_in):
    terminal = open_in("none", project)
    assert "UNCONFINED" in terminal.run("ls").text
    for line in ("git log", "ls | xargs cat", "find . -exec cat {} +", "rm x", "cat /etc/passwd"):
        assert terminal.run(line).status == "refused"


def test_arun_does_not_block_and_a_cancellation_ends_it(terminal):
    async def work():
        slow = asyncio.create_task(terminal.arun("awk 'BEGIN{while(1);}'"))
        await asyncio.sleep(0.2)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return await terminal.arun("ls | wc -l")

    begun = time.monotonic()
    assert asyncio.run(work()).stdout.strip() == "8"
    assert time.monotonic() - begun < 9


# --- approval ------------------------------------------------------------------------------


def asking(answer, **settings):
    asked = []

    def ask(request):
        asked.append(request)
        return answer

    return asked, Approvals(ask, **settings)


@pytest.mark.requirement("E3.2")
def test_without_an_approver_requests_are_denied(terminal, project):
    ran = terminal.run("rm README.md")
    assert (ran.status, ran.request.risks) == ("needs_approval", ("write",))
    assert (project / "README.md").exists()


@pytest.mark.requirement("E3.2")
def test_an_approval_is_for_the_exact_command_once(project, open_in, tmp_path):
    asked, approvals = asking(True, audit=tmp_path / "audit.jsonl")
    terminal = open_in("bubblewrap", project, approvals=approvals)
    assert terminal.run("cp README.md 'copy of it.md' && ls").status == "ok"
    assert (project / "copy of it.md").exists()
    assert "'copy of it.md'" in asked[0].shown
    assert terminal.run("rm *.md").ok
    assert not (project / "README.md").exists()
    assert "/usr/bin/rm README.md 'copy of it.md'" in asked[1].shown
    assert asked[0].digest != asked[1].digest
    assert (tmp_path / "audit.jsonl").read_text().count('"event": "used"') == 2


@pytest.mark.requirement("E3.2")
def test_an_approved_command_is_still_confined(project, open_in):
    _, approvals = asking(True)
    terminal = open_in("bubblewrap", project, approvals=approvals)
    outside = project.parent / "outside"
    ran = terminal.run(
        f"bash -c 'echo x > made; echo x > {outside}/made; cat {outside}/secret.txt'"
    )
    assert (project / "made").exists()
    assert not (outside / "made").exists()
    assert "OUTSIDE-4f1c" not in ran.text
    assert terminal.run(f"cat {outside}/secret.txt").stdout == "OUTSIDE-4f1c\n"
    assert terminal.run("cat made; rm nothing").directory == "."
    assert not terminal.run("ls").request


@pytest.mark.requirement("E3.2")
def test_a_session_approval_is_for_the_identical_command(project, open_in):
    asked, approvals = asking(ApprovalAnswer(True, "session", "ana"))
    terminal = open_in("bubblewrap", project, approvals=approvals)
    for _ in range(3):
        terminal.run("touch a")
    assert len(asked) == 1
    terminal.run("touch b")
    assert len(asked) == 2
    for _ in range(2):
        terminal.run("python3 -c 1")
    assert len(asked) == 4, "what runs other programs is asked about every time"
    approvals.forget()
    terminal.run("touch a")
    assert len(asked) == 5


@pytest.mark.requirement("E3.2")
def test_no_answer_and_a_late_answer_deny(project, open_in):
    queue = PromptQueue()
    approvals = Approvals(queue, settings=ApprovalSettings(seconds=0.2))
    terminal = open_in("bubblewrap", project, approvals=approvals)
    ran = terminal.run("rm README.md")
    assert (ran.status, "in time" in ran.reason) == ("needs_approval", True)
    assert (project / "README.md").exists()


@pytest.mark.requirement("E3.2")
def test_a_directory_replaced_before_the_answer_is_not_written(project, open_in):
    queue = PromptQueue()
    terminal = open_in("bubblewrap", project, approvals=Approvals(queue))
    terminal.run("cd docs")

    def answer():
        (request,) = queue.pending(10)
        (project / "docs").rename(project / "was")
        (project / "docs").symlink_to(project.parent / "outside")
        queue.answer(request.id, True)

    helper = threading.Thread(target=answer, daemon=True)
    helper.start()
    ran = terminal.run("touch made")
    helper.join()
    assert ran.status == "error"
    assert not list(project.parent.rglob("made"))


@pytest.mark.requirement("E3.2")
def test_a_refused_command_is_never_submitted_for_approval(project, open_in, tmp_path):
    asked, approvals = asking(True)
    terminal = open_in("bubblewrap", project, approvals=approvals)
    for line in ("rm $(ls)", "rm x > y", "curl http://x", "git push", "rm " + "x " * 4_000,
                 "nosuchprogram x", "; ".join(["rm x"] * 30)):  # fmt: skip
        assert terminal.run(line).status == "refused", line
    assert asked == []
    with pytest.raises(BudgetError, match="is inside the workspace"):
        open_in("bubblewrap", project, approvals=Approvals(bool, audit=project / "log"))


@pytest.mark.requirement("E3.2")
@pytest.mark.parametrize("allowed", [False, True])
def test_approval_is_requested_before_a_missing_confinement_is_reported(
    project, open_in, tmp_path, allowed
):
    (project / ".git").mkdir()
    log = tmp_path / "audit.jsonl"
    asked, approvals = asking(allowed, audit=log)
    ran = open_in("landlock", project, approvals=approvals).run("ls && rm README.md")
    assert [request.risks for request in asked] == [("write",)]
    assert ran.status == ("refused" if allowed else "needs_approval")
    assert ("Install bubblewrap" in ran.reason) is allowed
    assert ("A person said no." in ran.reason) is not allowed
    assert ('"outcome": "refused"' in log.read_text()) is allowed
    assert (ran.stdout, (project / "README.md").exists()) == ("", True)


@pytest.mark.requirement("E3.2")
def test_without_an_approver_the_approval_is_reported_and_not_the_confinement(project, open_in):
    (project / ".git").mkdir()
    ran = open_in("landlock", project).run("rm README.md")
    assert ran.status == "needs_approval"
    assert "Nobody is available to approve it." in ran.reason
    assert "bubblewrap" not in ran.reason
