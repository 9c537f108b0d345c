"""What one call may take, and what one command may do besides reading; by default nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from foldline.core.validation import positive, whole

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
