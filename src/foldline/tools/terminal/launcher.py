"""
The supervisor process of a pipeline: a standalone script without imports from the package.

It reads an order as one line of JSON from its standard input, and keeps watching that input: when
it is closed, the caller has exited or cancelled, and all processes are killed. It adopts and kills
orphans of its children, and reports how each stage ended on a descriptor.

Run as ``python -I -S launcher.py DESCRIPTOR``; it runs outside the sandbox, as the user of the
agent, and never interprets model output.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn

FILTER = 9
"""The descriptor from which bubblewrap reads the filter."""

NO_NEW_PRIVILEGES, DEATH_SIGNAL, SUBREAPER, SET_SECCOMP = 38, 1, 36, 22
ADD_RULE, RESTRICT, CREATE = 445, 446, 444
"""Numbers of ``prctl`` options and of the system calls of Landlock."""

LIMITS = {
    "cpu": resource.RLIMIT_CPU,
    "memory": resource.RLIMIT_AS,
    "file": resource.RLIMIT_FSIZE,
    "files": resource.RLIMIT_NOFILE,
    "core": resource.RLIMIT_CORE,
}

CAGES = "/sys/fs/cgroup/pids", "/sys/fs/cgroup"
"""Directories in which a control group with a process limit may be created."""

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def main() -> None:
    """Run one order."""
    order = json.loads(read_line(0))
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    codes: dict[int, int] = {}
    stages: list[int] = []
    cage = make_cage(order["processes"])
    try:
        stages = start(order, open_directory(order), cage)
        ended = wait(stages, codes, wake, order["seconds"])
        error = "" if ended else "stopped"
    except OSError as problem:
        error = f"failed: {problem.strerror} ({problem.filename or 'no name'})"
    clear()
    if cage:
        with contextlib.suppress(OSError):
            os.rmdir(cage)  # noqa: PTH106  # this script imports as little as it can
    report = {"codes": [codes.get(pid) for pid in stages], "error": error}
    os.write(int(sys.argv[1]), json.dumps(report).encode())


def read_line(number: int) -> bytes:
    """Read up to a line break; an order has at most a few megabytes."""
    out = b""
    while not out.endswith(b"\n"):
        piece = os.read(number, 65536)
        if not piece or len(out) > 1 << 24:
            sys.exit(2)
        out += piece
    return out


def make_cage(most: int) -> str:
    """Create a control group for at most ``most`` processes; return "" if not permitted."""
    for folder in CAGES:
        cage = f"{folder}/foldline-{os.getpid()}"
        try:
            os.mkdir(cage)  # noqa: PTH102  # as above
        except OSError:
            continue
        try:
            write(f"{cage}/pids.max", str(most))
            return cage
        except OSError:
            os.rmdir(cage)  # noqa: PTH106  # as above
    return ""


def write(path: str, text: str) -> None:
    """Write to an existing file."""
    number = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(number, text.encode())
    finally:
        os.close(number)


def open_directory(order: dict[str, Any]) -> int:
    """Open the directory, and check that it was not replaced."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(order["directory"], flags)
    seen = os.fstat(number)
    if [seen.st_dev, seen.st_ino] != order["identity"]:
        raise OSError(116, "the directory was replaced by another one", order["directory"])
    return number


def start(order: dict[str, Any], directory: int, cage: str) -> list[int]:
    """Start every stage, joined by pipes, and return their ids."""
    nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    source, pids = nothing, []
    last = len(order["stages"]) - 1
    for index, stage in enumerate(order["stages"]):
        following, sink = (nothing, 1) if index == last else os.pipe()
        streams = {"out": sink, "err": 2, "null": nothing}
        pid = os.fork()
        if pid == 0:
            become(order, stage, (directory, source), streams, cage)
        pids.append(pid)
        for number in (source, sink):
            if number not in (nothing, 1):
                os.close(number)
        source = following
    os.close(1)
    os.close(2)
    return pids


def become(
    order: dict[str, Any],
    stage: dict[str, Any],
    given: tuple[int, int],
    streams: dict[str, int],
    cage: str,
) -> NoReturn:
    """Turn a child into a stage; it never returns."""
    directory, source = given
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        libc.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if cage:
            write(f"{cage}/cgroup.procs", str(os.getpid()))
        out, err = os.dup(streams[stage["out"]]), os.dup(streams[stage["err"]])
        os.fchdir(directory)
        os.dup2(source, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, 1024)
        for name, most in order["limits"].items():
            resource.setrlimit(LIMITS[name], (most, most))
        if stage["forks"] and not cage and os.getuid():
            most = tasks() + order["processes"]
            resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        confine(order, stage)
        os.execve(stage["argv"][0], stage["argv"], order["environment"])  # noqa: S606  # no shell
    except BaseException as problem:  # noqa: BLE001  # a child must never run the parent's code
        with contextlib.suppress(OSError):
            os.write(2, f"the stage could not be started: {problem}\n".encode())
    os._exit(126)


def confine(order: dict[str, Any], stage: dict[str, Any]) -> None:
    """Apply Landlock and the filter, or pass the filter to bubblewrap."""
    program = base64.b64decode(stage["filter"])
    if order["filter_by_descriptor"]:
        if program:
            read, into = os.pipe()
            os.write(into, program)
            os.close(into)
            os.dup2(read, FILTER)
        return
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        fail("no new privileges")
    if order["landlock"]:
        restrict(order["landlock"])
    if program:
        install(program)


def restrict(rules: dict[str, Any]) -> None:
    """Restrict this process by Landlock rules."""
    attributes = (ctypes.c_uint64 * len(rules["handled"]))(*rules["handled"])
    ruleset = libc.syscall(CREATE, attributes, ctypes.sizeof(attributes), 0)
    if ruleset < 0:
        fail("landlock_create_ruleset")
    for path, rights in rules["paths"]:
        number = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = rights.to_bytes(8, sys.byteorder) + number.to_bytes(4, sys.byteorder)
        if libc.syscall(ADD_RULE, ruleset, 1, beneath, 0):
            fail(f"landlock_add_rule for {path}")
        os.close(number)
    if libc.syscall(RESTRICT, ruleset, 0):
        fail("landlock_restrict_self")
    os.close(ruleset)


def install(program: bytes) -> None:
    """Install a seccomp filter in this process."""

    class SockFprog(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    found = SockFprog(len(program) // 8, program)
    if libc.prctl(SET_SECCOMP, 2, ctypes.byref(found), 0, 0):
        fail("seccomp")


def fail(what: str) -> NoReturn:
    """Raise the error of the last C call."""
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def wait(pids: list[int], codes: dict[int, int], wake: int, seconds: float) -> bool:
    """Wait for the stages; return False on a timeout or if the input is closed before."""
    until = time.monotonic() + seconds
    while True:
        reap(codes)
        if all(pid in codes for pid in pids):
            return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        ready, _, _ = select.select([0, wake], [], [], left)
        if 0 in ready and not os.read(0, 4096):
            return False
        if wake in ready:
            os.read(wake, 4096)


def reap(codes: dict[int, int]) -> bool:
    """Collect the exit codes of ended children; return True if any child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        codes[pid] = os.waitstatus_to_exitcode(status)


def clear() -> None:
    """Kill all remaining processes, repeatedly until none is left."""
    rounds, until = 0, time.monotonic() + 10
    while reap({}) and time.monotonic() < until:
        rounds += 1
        for pid in relatives():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001 if rounds < 20 else 0.02)


def relatives() -> list[int]:
    """Return the children of this process, and all processes in its session."""
    me, session = os.getpid(), os.getsid(0)
    return [
        pid
        for pid, _, fields in processes()
        if pid != me and (int(fields[1]) == me or int(fields[3]) == session)
    ]


def tasks() -> int:
    """Return the number of threads of this user, which the kernel limits."""
    me = os.getuid()
    return sum(int(fields[17]) for _, user, fields in processes() if user == me)


def processes() -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield id, user and the fields of ``stat`` after the name, of every process."""
    for name in os.listdir("/proc"):  # noqa: PTH208  # as above
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  # as above
                user = os.fstat(file.fileno()).st_uid
                yield int(name), user, file.read(4096).rpartition(b")")[2].split()


if __name__ == "__main__":
    main()
