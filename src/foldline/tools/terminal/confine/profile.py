"""What a command may do besides reading the workspace; by default nothing."""

from __future__ import annotations

from dataclasses import dataclass


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
