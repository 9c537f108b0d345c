"""
Bubblewrap: a root with nothing but the system's programs and the workspace.

No processes, network, environment or home directories are visible; there is no ``/proc``. The
workspace is bound at its own path, so that absolute paths stay valid.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from foldline.frozen import frozen
from foldline.tools.terminal.launcher import FILTER
from foldline.tools.terminal.order import (
    CONFINED,
    LIBRARIES,
    LINKS,
    VARIABLES,
    PipelineStage,
    Profile,
    TerminalLimits,
    draft_order,
)
from foldline.tools.terminal.paths import WorkingDirectory, find_binary
from foldline.tools.terminal.seccomp import compile_filter, machine

SPACES: Final = tuple(CONFINED["bubblewrap"]["spaces"].split())

TEMPORARY: Final = 64 << 20
"""The size of the temporary file system in bytes of memory, such as for sort."""

PROTECTED: Final = ("config", "hooks", "config.worktree", "modules", "info")
"""Paths in ``.git`` that stay read-only even if git may write: git runs programs from them."""


@frozen
class Bubblewrap:
    """
    Builds the arguments of bubblewrap.

    Args:
        program: The path of ``bwrap``.
        optional: Optional long options that this version supports.
        spaces: The options that unshare namespaces.
    """

    name: ClassVar[str] = "bubblewrap"
    loses: ClassVar[str] = ""

    program: str
    optional: frozenset[str] = frozenset()
    spaces: tuple[str, ...] = SPACES

    @classmethod
    def detect(cls) -> Bubblewrap | None:
        """Return the installed bubblewrap, None if there is none."""
        program = find_binary("bwrap")
        return None if program is None else cls(program, _read_options(program))

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """Return the order for the launcher; every stage has its own sandbox."""
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
        """Bind the workspace; no mount points are created in it."""
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
    """Return the optional options that a bubblewrap supports; older ones lack some."""
    try:
        result = subprocess.run(  # noqa: S603  # a system path
            [program, "--help"], capture_output=True, timeout=10, check=False, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    text = result.stdout.decode(errors="replace")
    return frozenset(one for one in ("--disable-userns", "--size") if one in text)
