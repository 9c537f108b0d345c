"""What the launcher is told: stages, limits, and how the kernel is to confine them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from foldline.tools.terminal.language.grammar import Sink
from foldline.tools.terminal.limits import READ_ONLY, Profile, TerminalLimits
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.programs.git import ENVIRONMENT

VARIABLES: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "HOME": "/nonexistent",
    "TERM": "dumb",
    **ENVIRONMENT,
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
