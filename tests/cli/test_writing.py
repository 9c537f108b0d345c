"""The output is the old or the new one, never the input, and never incomplete."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.children import launch
from tests.cli.sample import foldline, start, write_conversation

from foldline.cli.errors import OutputError
from foldline.cli.writing import check_apart, check_output, write_whole
from foldline.errors import FoldlineError

OLD = b"what was there before"


@pytest.mark.parametrize("link", [None, Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("option", ["-o", "--receipt"])
def test_the_input_is_never_the_output(session: Path, link: object, option: str) -> None:
    out, before = session, session.read_bytes()
    if link is not None:
        out = session.with_name("other.json")
        link(out, session)  # type: ignore[operator]
    done = foldline("compact", session, "--budget", "1500", option, out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is the input itself" in done.stderr
    assert session.read_bytes() == before


def test_a_redirected_input_is_never_the_output(session: Path) -> None:
    before = session.read_bytes()
    with session.open("rb") as content:
        process = start("compact", "-", "--budget", "1500", "-o", session, stdin=content)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"is the input itself" in told
    assert session.read_bytes() == before


def test_the_receipt_is_not_the_output(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_bytes(OLD)
    done = foldline("compact", session, "--budget", "1500", "-o", out, "--receipt", out)
    assert done.exit_code == 2
    assert out.read_bytes() == OLD


def test_an_unwritable_output_is_refused_before_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="mkdir -p"):
        check_output(tmp_path / "no" / "out", "-")
    with pytest.raises(OutputError, match="is a folder"):
        check_output(tmp_path, "-")


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written"):
        check_output(tmp_path / "out", "-")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_a_read_only_folder_is_reported(session: Path) -> None:
    done = foldline("compact", session, "--budget", "1500", "-o", "/proc/self/out.json")
    assert done.exit_code in (1, 2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_a_link_keeps_pointing_where_it_does(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(OLD)
    link.symlink_to(target)
    write_whole(link, b"new", "-")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_permissions_are_those_of_the_old_file_or_of_the_input(tmp_path: Path) -> None:
    source, out, fresh = tmp_path / "source", tmp_path / "out", tmp_path / "fresh"
    source.touch(0o400)
    source.chmod(0o440)
    out.touch()
    out.chmod(0o644)
    for path, wanted in ((out, 0o644), (fresh, 0o640)):
        write_whole(path, b"new", str(source))
        assert stat.S_IMODE(path.stat().st_mode) == wanted
    write_whole(tmp_path / "piped", b"new", "-")
    assert stat.S_IMODE((tmp_path / "piped").stat().st_mode) == 0o600


def test_a_device_is_written_and_not_replaced() -> None:
    write_whole(Path(os.devnull), b"new", "-")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported() -> None:
    with pytest.raises(FoldlineError, match="No space left"):
        write_whole(Path("/dev/full"), b"new", "-")


@pytest.mark.disk
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_after_a_kill_at_any_time_the_output_is_the_old_or_the_new_one(
    tmp_path: Path, sent: signal.Signals
) -> None:
    session = write_conversation(tmp_path / "session.json", steps=120)
    out, before = tmp_path / "out.json", session.read_bytes()
    words = ("compact", session, "--budget", "10%", "-q")
    new = foldline(*words).stdout_bytes
    seen = set()
    for tenths in range(1, 9, 2):
        out.write_bytes(OLD)
        process = start(*words, "-o", out)
        try:
            process.wait(tenths * 0.06)
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
        process.communicate(timeout=60)
        assert out.read_bytes() in (OLD, new)
        seen.add(process.returncode)
    assert session.read_bytes() == before
    assert seen - {0}, "it was never ended before it was done"


@pytest.mark.disk
def test_a_kill_while_it_writes_leaves_the_old_output(tmp_path: Path) -> None:
    out, new = tmp_path / "out", b"x" * 48_000_000
    out.write_bytes(OLD)
    code = (
        "import sys; from pathlib import Path; from foldline.cli.writing import write_whole; "
        f"write_whole(Path(sys.argv[1]), b'x' * {len(new)}, '-')"
    )
    process = launch([sys.executable, "-c", code, out])
    while process.poll() is None:
        if any(path.name.startswith(".foldline-") for path in tmp_path.iterdir()):
            process.kill()
            break
    process.wait(timeout=60)
    assert out.read_bytes() in (OLD, new)
    assert process.returncode in (0, -signal.SIGKILL)


def test_an_interruption_is_exit_code_130_and_leaves_the_old_output(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    out = tmp_path / "out.json"
    out.write_bytes(OLD)
    process = start("compact", "-", "--budget", "5", "-o", out, stdin=theirs)
    try:
        assert process.stderr is not None
        assert b"end it with Ctrl-D" in process.stderr.readline()  # it waits for input now
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 130
    assert b"Interrupted" in told
    assert b"Traceback" not in told
    assert out.read_bytes() == OLD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out.json"]


def test_two_names_of_one_file_are_detected(tmp_path: Path) -> None:
    out, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(out)
    check_apart(out, tmp_path / "other", "The receipt", "the output")
    with pytest.raises(OutputError, match="is also the output"):
        check_apart(link, out, "The receipt", "the output")
    out.write_bytes(b"x")
    with pytest.raises(OutputError, match="is also the output"):
        check_apart(link, out, "The receipt", "the output")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
@pytest.mark.parametrize("out", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_open_descriptor_is_written_into(session: Path, tmp_path: Path, out: str) -> None:
    words = ("compact", session, "--budget", "1500", "-q", "-o", out)
    piped, _ = start(*words).communicate(timeout=60)
    assert json.loads(piped)
    log = tmp_path / "log"
    log.write_bytes(OLD)
    with log.open("ab") as appended:
        start(*words, stdout=appended).communicate(timeout=60)
    assert log.read_bytes() == OLD + piped, "what stood there before stays"


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
@pytest.mark.parametrize("option", ["-o", "--receipt"])
def test_a_process_substitution_is_written_into(session: Path, option: str) -> None:
    reading, writing = os.pipe()
    path = f"/dev/fd/{writing}"
    words = ("compact", session, "--budget", "1500", "-q", option, path)
    process = start(*words, pass_fds=(writing,))
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123  # a descriptor
        written = pipe.read()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(written)
