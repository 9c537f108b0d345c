"""Measuring files: every conversation of a recording, and what replaying it would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import BudgetError
from foldline.evaluation import pricing
from foldline.evaluation.pricing import Bill, Show, as_wire, replay
from foldline.evaluation.retention import MeasurementPlan, RetentionObservation, measure
from foldline.formats.files import read_file
from foldline.formats.recording import Recording
from foldline.formats.registry import DIALECTS
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TokenCounter

LEAST_REQUESTS: Final = 10
"""Requests from which on the price of a conversation says something."""

LEAST_WINDOW: Final = 2_000
"""In tokens."""

UNCOMPACTED: Final = "no compaction"


@dataclass(frozen=True, slots=True)
class Replays:
    """
    What is replayed: policies, in a window in tokens, counted as a model does.

    Raises:
        BudgetError: The window is too small for any agent.
    """

    policies: Sequence[Policy]
    window: int
    config: Config
    model: str | None = None

    def __post_init__(self) -> None:
        if self.window < LEAST_WINDOW:
            raise BudgetError(
                f"No agent works in a window of {self.window:,} tokens.",
                hint=f"Give {LEAST_WINDOW:,} or more.",
            )


@dataclass(frozen=True, slots=True)
class RecordingResult:
    """What one file had to say; ``bills`` are by method, empty where it is too short."""

    path: Path
    source: str
    observations: tuple[RetentionObservation, ...]
    bills: Mapping[str, Bill]


def measure_file(path: Path, plan: MeasurementPlan, replays: Replays | None) -> RecordingResult:
    """
    Measure a session file.

    Args:
        path: A transcript of any kind that is read.
        plan: Methods and budgets.
        replays: What to replay for its price; None for nothing.

    Raises:
        InputError: It cannot be read.
    """
    return measure_recording(read_file(path), path, plan, replays)


def measure_recording(
    recording: Recording, path: Path, plan: MeasurementPlan, replays: Replays | None
) -> RecordingResult:
    """Measure every conversation of a recording, which ``path`` names; see `measure_file`."""
    seen, bills = list[RetentionObservation](), dict[str, Bill]()
    for conversation in recording.conversations:
        there = conversation.transcript
        wire = DIALECTS.get(there.dialect)
        counter = TokenCounter(
            choose_counter(replays.model if replays else None),
            provider=wire.provider if wire else "openai",
        )
        seen += measure(str(path), recording.format, there, counter, plan)
    if replays is not None:
        bills = _bills(recording, replays)
    return RecordingResult(path, recording.format, tuple(seen), bills)


def _bills(recording: Recording, replays: Replays) -> dict[str, Bill]:
    """Replay the conversations that are long enough, under every policy."""
    out = dict[str, Bill]()
    counter = TokenCounter(choose_counter(replays.model))
    for conversation in recording.conversations:
        history = as_wire(conversation.transcript)
        if sum(message["role"] == "assistant" for message in history) < LEAST_REQUESTS:
            continue
        for name, show in _shows(replays, counter).items():
            bill = replay(history, show, replays.window, counter)
            out[name] = out.get(name, pricing.NOTHING_PAID) + bill
    return out


def _shows(replays: Replays, counter: TokenCounter) -> dict[str, Show]:
    """Make what decides, anew for every conversation."""
    shows: dict[str, Show] = {
        UNCOMPACTED: pricing.nothing(),
        "clear at every step": pricing.clear_every_step(),
    }
    for policy in replays.policies:
        shows[f"Foldline {policy.name}"] = pricing.in_session(
            policy, replays.window, counter, replays.config
        )
    return shows
