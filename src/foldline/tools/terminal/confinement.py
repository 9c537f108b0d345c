"""
How the kernel confines a pipeline: bubblewrap, or Landlock, each with a filter for system calls.

Bubblewrap makes an empty root with the system's programs and the workspace in it, and nothing
else: no processes, network, environment or home of anybody are to be seen, and there is no
``/proc``. The workspace is bound at its own place, so that absolute paths keep their meaning.

Landlock is for where no namespace can be made, such as in most containers. It keeps files from
being read or changed and the network from being reached. It does not keep a program from learning
that a path outside exists, and its size and owner.

The filter denies what neither a read-only mount nor Landlock decides: sockets, other processes,
new namespaces, what is left behind, and where the mounts are not ours also times and modes of
files. The numbers stand in ``syscalls.toml``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import posixpath
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

from foldline.frozen import frozen
from foldline.tools.description import read_tables
from foldline.tools.terminal.launcher import CREATE, FILTER
from foldline.tools.terminal.order import (
    CONFINED,
    VARIABLES,
    PipelineStage,
    Profile,
    TerminalLimits,
    draft_order,
)
from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.refusal import Refused

SPACES: Final = tuple(CONFINED["bubblewrap"]["spaces"].split())

TEMPORARY: Final = 64 << 20
"""Room for what sort writes meanwhile, in bytes of memory."""

LIBRARIES: Final = ("/bin", "/lib", "/lib32", "/lib64")
LINKS: Final = ("/etc/alternatives", "/etc/ld.so.cache")

PROTECTED: Final = ("config", "hooks", "config.worktree", "modules", "info")
"""What stays read-only in ``.git`` even where git may write: from there it would run things."""


@frozen
class Bubblewrap:
    """
    The arguments of bubblewrap.

    Args:
        program: The path of ``bwrap``.
        optional: Long options that this version knows.
        spaces: What is not shared with the host.
    """

    name: ClassVar[str] = "bubblewrap"
    loses: ClassVar[str] = ""

    program: str
    optional: frozenset[str] = frozenset()
    spaces: tuple[str, ...] = SPACES

    @classmethod
    def detect(cls) -> Bubblewrap | None:
        """Return it as it is installed here, None when it is not."""
        program = find_binary("bwrap")
        return None if program is None else cls(program, _read_options(program))

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """Return the order for the launcher; every stage has a sandbox of its own."""
        written = []
        for stage in stages:
            filtered = compile_filter(stage.profile, mounted=True) if machine() else b""
            words = [*self._words(place, stage.profile, filtered != b""), "--", *stage.arguments]
            written.append((stage, words, filtered))
        return draft_order(written, place, limits, {}) | {"filter_by_descriptor": True}

    def _words(self, place: WorkingDirectory, profile: Profile, filtered: bool) -> list[str]:
        words = [self.program, *self.spaces]
        if "--disable-userns" in self.optional:
            words.append("--disable-userns")
        for name, value in VARIABLES.items():
            words += ["--setenv", name, value]
        words += ["--ro-bind", "/usr", "/usr"]
        for folder in LIBRARIES:
            if Path(folder).is_symlink():
                words += ["--symlink", str(Path(folder).readlink()).lstrip("/"), folder]
            elif Path(folder).is_dir():
                words += ["--ro-bind", folder, folder]
        for path in LINKS:
            words += ["--ro-bind-try", path, path]
        words += ["--dev-bind", "/dev/null", "/dev/null"]
        if "--size" in self.optional:
            words += ["--size", str(TEMPORARY)]
        words += ["--tmpfs", "/tmp"]  # noqa: S108  # inside the sandbox
        words += self._workspace(place.workspace, profile)
        for path in profile.outside:
            words += ["--ro-bind-try", path, path]
        words += ["--remount-ro", "/", "--chdir", place.directory]
        return [*words, "--seccomp", str(FILTER)] if filtered else words

    def _workspace(self, path: str, profile: Profile) -> list[str]:
        """Bind the workspace; nothing in it is ever made as a place to mount on."""
        if not profile.writes:
            return ["--ro-bind", path, path]
        words = ["--bind", path, path]
        git = posixpath.join(path, ".git")
        if not os.path.lexists(git) or Path(git).is_symlink():
            return words
        if not profile.git or not Path(git).is_dir():
            return [*words, "--ro-bind", git, git]
        for name in PROTECTED:
            inner = posixpath.join(git, name)
            if Path(inner).exists() and not Path(inner).is_symlink():
                words += ["--ro-bind", inner, inner]
        return words


@cache
def _read_options(program: str) -> frozenset[str]:
    """Return the optional options that a bubblewrap knows; older ones lack some."""
    try:
        result = subprocess.run(  # noqa: S603  # a path of the system
            [program, "--help"], capture_output=True, timeout=10, check=False, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    text = result.stdout.decode(errors="replace")
    return frozenset(one for one in ("--disable-userns", "--size") if one in text)


# --- Landlock ------------------------------------------------------------------------------

LEAST_LANDLOCK: Final = 3
"""Before this version of Landlock, a file could still be emptied."""

EXECUTE, WRITE, READ, LIST = (1 << bit for bit in range(4))
IOCTL_DEVICE: Final = 1 << 15

RIGHTS_BY_VERSION: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights to files each version knows; all of them are handled, so denied."""


@frozen
class Landlock:
    """The rules, for one version of Landlock."""

    name: ClassVar[str] = "landlock"
    loses: ClassVar[str] = (
        "Programs may learn that a path outside the workspace exists, its size and its owner."
    )

    version: int

    @classmethod
    def detect(cls) -> Landlock | None:
        """Return it as this kernel has it, None when it has too little."""
        version = _version()
        return cls(version) if version >= LEAST_LANDLOCK and machine() else None

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """Return the order for the launcher."""
        profiles = {stage.profile for stage in stages}
        outside = tuple(sorted({path for one in profiles for path in one.outside}))
        widest = Profile(writes=any(one.writes for one in profiles), outside=outside)
        if widest.writes and os.path.lexists(posixpath.join(place.workspace, ".git")):
            why = "Landlock cannot keep .git from being changed in a workspace that may be."
            raise Refused(why, "Install bubblewrap, or write the files in another way.")
        filters = [compile_filter(stage.profile, mounted=False) for stage in stages]
        written = [(one, one.arguments, by) for one, by in zip(stages, filters, strict=True)]
        return draft_order(written, place, limits) | {"landlock": self._rules(place, widest)}

    def _rules(self, place: WorkingDirectory, profile: Profile) -> dict[str, Any]:
        known = max(count for since, count in RIGHTS_BY_VERSION.items() if since <= self.version)
        rights = (1 << known) - 1
        handled = [rights]
        if self.version >= 4:
            handled.append(0b11)  # connecting and listening over TCP
        if self.version >= 6:
            handled.append(0b11)  # abstract sockets, and signals, beyond the pipeline
        # What may be run is not what may be written; an approved command may run its own scripts.
        inside = rights & ~IOCTL_DEVICE if profile.writes else READ | LIST
        paths = [(place.workspace, inside)]
        paths += [
            (folder, READ | LIST | EXECUTE)
            for folder in ("/usr", *LIBRARIES)
            if Path(folder).is_dir()
        ]
        for path in (*LINKS, *profile.outside):
            if Path(path).exists():
                paths.append((path, READ | LIST if Path(path).is_dir() else READ))
        paths.append(("/dev/null", READ | WRITE))
        return {"handled": handled, "paths": paths}


def _version() -> int:
    """Return the version of Landlock that the kernel has, 0 when it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE, None, 0, 1)))


@frozen
class Unconfined:
    """No confinement but the parser: what can only be decided while it runs is refused."""

    name: ClassVar[str] = "UNCONFINED"
    loses: ClassVar[str] = "The kernel confines nothing: only the rules for commands do."

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """Return the order for the launcher."""
        if any(stage.profile.writes or stage.profile.outside for stage in stages):
            raise Refused("Nothing can be approved where the kernel confines nothing.")
        return draft_order([(stage, stage.arguments, b"") for stage in stages], place, limits)


Confinement: TypeAlias = Bubblewrap | Landlock | Unconfined
"""
A way in which the kernel confines a pipeline.

``name`` is what results call it, ``loses`` what it does not promise, in one sentence. ``order``
raises `Refused` for a profile that cannot be kept in this way.
"""


# --- the filter for system calls -----------------------------------------------------------

AUDIT: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""``AUDIT_ARCH_*``: a call in the manner of another architecture kills the process."""

CALLS: Final[Mapping[str, Mapping[str, Sequence[int]]]] = read_tables(
    "foldline.tools.terminal", "syscalls.toml"
)
"""The numbers of what is denied, by the reason, for each architecture."""

CLONE: Final = (56, 220)
CLONE3: Final = (435, 435)
IOCTL: Final = (16, 29)

THREAD: Final = 0x00010000
NAMESPACES: Final = 0x7E020000
"""Bits of the flags of ``clone``."""

TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""``TIOCSTI`` and ``TIOCLINUX``: they type into a terminal."""

X32: Final = 0x40000000

_LOAD, _EQUAL, _ATLEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH = 0, 4
_FIRST, _SECOND = 16, 24
"""Offsets in ``struct seccomp_data``: the number, the architecture, the low words of arguments."""

Step = tuple[int, int, int, int]


def machine() -> str:
    """Return the name of this architecture, "" when the filter does not know it."""
    name = platform.machine()
    return name if name in AUDIT else ""


def compile_filter(profile: Profile, *, mounted: bool) -> bytes:
    """
    Return the filter for a command.

    Args:
        profile: What the command may do.
        mounted: Whether it runs in mounts and a process namespace of its own.

    Raises:
        KeyError: The architecture is not known; `machine` says so before.
    """
    arch = machine()
    column = [*AUDIT].index(arch)
    steps = list(_head(AUDIT[arch], column))
    allowed = {"reading": profile.writes, "unmounted": mounted, "forks": profile.forks}
    for reason, calls in CALLS.items():
        for numbers in calls.values() if not allowed.get(reason) else ():
            if numbers[column]:
                steps += _deny(numbers[column])
    steps += _deny(CLONE3[column], errno.ENOSYS)
    steps += _clone(CLONE[column], forks=profile.forks)
    steps += _ioctl(IOCTL[column])
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _head(arch: int, column: int) -> Iterator[Step]:
    yield (_LOAD, 0, 0, _ARCH)
    yield (_EQUAL, 1, 0, arch)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER)
    if column == 0:
        yield (_ATLEAST, 0, 1, X32)
        yield (_RETURN, 0, 0, _KILL)


def _deny(number: int, error: int = errno.EPERM) -> list[Step]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


def _clone(number: int, *, forks: bool) -> list[Step]:
    """Deny namespaces always, and processes, which are no threads, where none may be started."""
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    inner: list[Step] = [(_LOAD, 0, 0, _FIRST), (_BITS, 0, 1, NAMESPACES), refuse]
    if not forks:
        inner += [(_BITS, 1, 0, THREAD), refuse]
    inner.append((_LOAD, 0, 0, _NUMBER))
    return [(_EQUAL, 0, len(inner), number), *inner]


def _ioctl(number: int) -> list[Step]:
    inner: list[Step] = [(_LOAD, 0, 0, _SECOND)]
    for request in TERMINAL_INPUT:
        inner += _deny(request)
    inner.append((_LOAD, 0, 0, _NUMBER))
    return [(_EQUAL, 0, len(inner), number), *inner]
