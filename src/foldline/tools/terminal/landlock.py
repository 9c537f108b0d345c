"""
Landlock with seccomp, for systems without namespaces, such as most containers.

It prevents reading and changing files, and network access. It does not hide that a path outside
exists, nor its size and owner.
"""

from __future__ import annotations

import ctypes
import os
import posixpath
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from foldline.frozen import frozen
from foldline.tools.terminal.launcher import CREATE
from foldline.tools.terminal.order import (
    LIBRARIES,
    LINKS,
    PipelineStage,
    Profile,
    TerminalLimits,
    draft_order,
)
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.refusal import Refused
from foldline.tools.terminal.seccomp import compile_filter, machine

LEAST_LANDLOCK: Final = 3
"""The minimum version of Landlock; earlier ones do not prevent truncation."""

EXECUTE, WRITE, READ, LIST = (1 << bit for bit in range(4))
IOCTL_DEVICE: Final = 1 << 15

RIGHTS_BY_VERSION: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""The number of file rights of each version; all of them are handled, so denied."""


@frozen
class Landlock:
    """Builds the rules for one version of Landlock."""

    name: ClassVar[str] = "landlock"
    loses: ClassVar[str] = (
        "Programs can see that a path outside the workspace exists, its size and its owner."
    )

    version: int

    @classmethod
    def detect(cls) -> Landlock | None:
        """Return the Landlock of this kernel, None if it is missing or too old."""
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
            why = "Landlock cannot protect .git in a writable workspace."
            raise Refused(why, "Install bubblewrap, or write the files with another tool.")
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
        # Executable paths are not writable, but an approved command may run its own scripts.
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
    """Return the version of Landlock in the kernel, 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(CREATE, None, 0, 1)))
