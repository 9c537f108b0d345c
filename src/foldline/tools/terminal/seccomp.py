"""
Compile seccomp filters of system calls.

A filter denies what neither a read-only mount nor Landlock covers: sockets, other processes, new
namespaces, detached processes, and without private mounts also times and modes of files. The
numbers are in ``syscalls.toml``.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from foldline.tools.description import read_tables
from foldline.tools.terminal.order import Profile

AUDIT: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""``AUDIT_ARCH_*``: a call with the ABI of another architecture kills the process."""

CALLS: Final[Mapping[str, Mapping[str, Sequence[int]]]] = read_tables(
    "foldline.tools.terminal", "syscalls.toml"
)
"""The numbers of denied calls, by reason, for each architecture."""

CLONE: Final = (56, 220)
CLONE3: Final = (435, 435)
IOCTL: Final = (16, 29)

THREAD: Final = 0x00010000
NAMESPACES: Final = 0x7E020000
"""Bits of the flags of ``clone``."""

TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""``TIOCSTI`` and ``TIOCLINUX``: they inject input into a terminal."""

X32: Final = 0x40000000

_LOAD, _EQUAL, _ATLEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH = 0, 4
_FIRST, _SECOND = 16, 24
"""Offsets in ``struct seccomp_data``: the number, the architecture, the low words of arguments."""

Step = tuple[int, int, int, int]


def machine() -> str:
    """Return the name of this architecture, "" if it is not supported."""
    name = platform.machine()
    return name if name in AUDIT else ""


def compile_filter(profile: Profile, *, mounted: bool) -> bytes:
    """
    Compile the filter for a command.

    Args:
        profile: The permissions of the command.
        mounted: True if it runs with private mounts and a private process namespace.

    Raises:
        KeyError: The architecture is not supported; check `machine` first.
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
    """Deny new namespaces always, and new processes, but not threads, unless allowed."""
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
