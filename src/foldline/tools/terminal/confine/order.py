"""What the launcher is told: stages, limits, and how the kernel is to confine them."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from foldline.core.validation import positive, whole
from foldline.tools.terminal.language import Sink
from foldline.tools.terminal.paths import WorkingDirectory

FILE: Final = 64 << 20
"""The largest file that a command may write, in bytes."""

OPEN_FILES: Final = 256


@dataclass(frozen=True, slots=True)
class TerminalLimits:
    """
    The bounds of one call.

    Args:
        seconds: What the whole line may take.
        memory: Address space of each program, in bytes.
        output: The most that is read of what a line says, in bytes; then it is stopped.
        processes: How many there may be at once, where the system lets us count them.
        shown: The most that a model is shown of it, in characters; the rest is kept.

    Raises:
        BudgetError: A number is out of range.
    """

    seconds: float = 30.0
    memory: int = 1 << 30
    output: int = 10 << 20
    shown: int = 30_000
    processes: int = 200

    def __post_init__(self) -> None:
        positive("terminal.seconds", self.seconds, 86_400)
        whole("terminal.memory", self.memory, 16 << 20)
        whole("terminal.output", self.output, 1_000)
        whole("terminal.shown", self.shown, 500)
        whole("terminal.processes", self.processes, 30)

    def resources(self) -> dict[str, int]:
        """Return the limits of each program, as the launcher names them."""
        return {
            "cpu": max(1, math.ceil(self.seconds)),
            "memory": self.memory,
            "file": FILE,
            "files": OPEN_FILES,
            "core": 0,
        }


@dataclass(frozen=True, slots=True)
class Profile:
    """
    What one command may do.

    ``forks`` lets it start other programs; ``writes`` lets it change the workspace but its
    ``.git``, ``git`` that one, too, but what git would run from there; ``outside`` are paths that
    it may read. The last three are only ever granted by a person.
    """

    forks: bool = False
    writes: bool = False
    git: bool = False
    outside: tuple[str, ...] = ()


READ_ONLY = Profile()

VARIABLES: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "TERM": "dumb",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
"""All that a program sees of an environment."""


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """One program of a pipeline, with where its streams go and what it may do."""

    arguments: tuple[str, ...]
    out: Sink = "out"
    err: Sink = "err"
    profile: Profile = field(default=READ_ONLY)


class Confinement(Protocol):
    """A way in which the kernel confines a pipeline."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def loses(self) -> str:
        """What it does not promise, one sentence; "" when it promises all."""
        ...

    def order(
        self, stages: Sequence[PipelineStage], place: WorkingDirectory, limits: TerminalLimits
    ) -> dict[str, Any]:
        """
        Return the order for the launcher.

        Raises:
            Refused: A profile cannot be kept in this way.
        """
        ...


def draft_order(
    stages: Sequence[tuple[PipelineStage, Sequence[str], bytes]],
    place: WorkingDirectory,
    limits: TerminalLimits,
    environment: Mapping[str, str] = VARIABLES,
) -> dict[str, Any]:
    """
    Return an order without any confinement but its filters.

    Args:
        stages: Each with the words that are really run, and its filter.
        place: Where they run.
        limits: What they may take.
        environment: What they see.
    """
    return {
        "stages": [
            {
                "argv": list(words),
                "out": stage.out,
                "err": stage.err,
                "forks": stage.profile.forks,
                "filter": base64.b64encode(program).decode(),
            }
            for stage, words, program in stages
        ],
        "directory": place.directory,
        "identity": list(place.identity),
        "environment": dict(environment),
        "limits": limits.resources(),
        "seconds": limits.seconds,
        "processes": limits.processes,
        "landlock": None,
        "filter_by_descriptor": False,
    }


def encode_order(order: Mapping[str, Any]) -> bytes:
    """Return an order as the line that the launcher reads."""
    return json.dumps(order).encode() + b"\n"
