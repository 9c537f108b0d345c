"""
A filter for system calls, as the kernel reads it.

Denied is what neither a read-only mount nor Landlock decides: sockets, other processes, new
namespaces, what is left behind, and where the mounts are not ours also times and modes of files.
The numbers are those of ``asm/unistd.h``.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from typing import Final

from foldline.tools.terminal.limits import Profile

AUDIT: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""``AUDIT_ARCH_*``: a call in the manner of another architecture kills the process."""

FORKS: Final = {"fork": (57, 0), "vfork": (58, 0)}

ALWAYS: Final = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "personality": (135, 92),
}

READING: Final = {
    "socketpair": (53, 199),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
"""Denied besides to a command that only reads."""

UNMOUNTED: Final = {
    "chmod": (90, 0),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, 0),
    "lchown": (94, 0),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, 0),
    "utimes": (235, 0),
    "futimesat": (261, 0),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "mknod": (133, 0),
    "mknodat": (259, 33),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "ioprio_set": (251, 30),
    "prlimit64": (302, 261),
}
"""Denied besides where there are no mounts and no processes of our own: under Landlock."""

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
    names = dict(ALWAYS)
    if not profile.writes:
        names |= READING
    if not mounted:
        names |= UNMOUNTED
    if not profile.forks:
        names |= FORKS
    for numbers in names.values():
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
