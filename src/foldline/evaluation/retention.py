"""Measure how much of what an agent used later is left in a compacted history, file by file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from foldline.api import counter_for
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import BudgetError
from foldline.evaluation import pricing
from foldline.evaluation.future_use import (
    CutPoint,
    cuts,
    identifiers,
    render_history,
    without_system,
)
from foldline.evaluation.methods import Method, ShortenedHistory
from foldline.evaluation.pricing import Bill, Show, as_wire, replay
from foldline.formats.files import read_file
from foldline.formats.recording import Recording
from foldline.frozen import fields, frozen
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

ENOUGH = 0.6
"""Minimum fraction of the words of a source line on one line for it to count as kept."""

_WORD = re.compile(r"\w+")


@frozen
class RetainedUse:
    """
    Retained fractions of what was needed, from 0 to 1.

    ``need`` and ``deep`` count identifiers that are kept; ``line`` and ``line_deep`` those in
    a source line that is kept with most of its words: a bare list of names scores
    nothing.
    """

    need: float
    deep: float
    line: float
    line_deep: float


MEASURES = tuple(field.name for field in fields(RetainedUse))


@frozen
class Score:
    """
    The retention of one method at one cut.

    ``session`` and ``source`` identify the history, ``goal`` is the name of the budget, such
    as "5%". ``size`` is the actual size as a fraction of the characters before the cut.
    """

    session: str
    source: str
    method: str
    goal: str
    kept: RetainedUse
    size: float


def measure_retention(text: str, source: str, cut: CutPoint) -> RetainedUse:
    """
    Measure what a text retains.

    Args:
        text: The compacted history, as a model reads it.
        source: The original history.
        cut: The cut, with what was needed after it.
    """
    found = identifiers(text)
    lines = _in_lines(text, source, cut.need)
    return RetainedUse(
        len(cut.need & found) / len(cut.need),
        len(cut.deep & found) / len(cut.deep),
        len(lines) / len(cut.need),
        len(lines & cut.deep) / len(cut.deep),
    )


def _in_lines(text: str, source: str, expected: frozenset[str]) -> set[str]:
    """Find the identifiers that are in a kept line of the source."""
    places: dict[str, list[set[str]]] = defaultdict(list)
    for line in text.split("\n"):
        names = identifiers(line) & expected
        if names:
            words = set(_WORD.findall(line))
            for name in names:
                places[name].append(words)
    found = set[str]()
    for line in source.split("\n"):
        names = (identifiers(line) & places.keys()) - found
        words = set(_WORD.findall(line)) if names else set[str]()
        least = ENOUGH * len(words)
        found |= {n for n in names if words and any(len(words & w) >= least for w in places[n])}
    return found


Limit: TypeAlias = Callable[[int], int]

LEAST_CHARACTERS: Final = 20_000
"""Minimum number of messages: shorter conversations are not worth compacting."""

LEAST_BUDGET: Final = 200
"""Minimum budget, in tokens: no meaningful history fits into less."""


@frozen
class RetentionObservation:
    """The result of one method on the ``characters`` before one cut, and its score."""

    score: Score
    characters: int
    made: ShortenedHistory


@frozen
class MeasurementPlan:
    """
    The methods and budgets to measure; budgets by their name in tables.

    A budget maps the tokens before a cut to the number that may be kept.
    """

    methods: Sequence[Method]
    goals: Mapping[str, Limit]


def measure(
    session: str, source: str, transcript: Transcript, counter: TokenCounter, plan: MeasurementPlan
) -> Iterator[RetentionObservation]:
    """
    Measure a conversation.

    Args:
        session: Name of its session, which may have several conversations.
        source: Kind of session, such as "claude-code".
        transcript: The whole conversation.
        counter: Counts its tokens.
        plan: The methods and the budgets.

    Yields:
        An observation for every cut, budget and method; none if the conversation is too short.
    """
    for cut in cuts(transcript.messages):
        before = without_system(transcript.messages[: cut.at])
        text = render_history(before)
        if len(text) < LEAST_CHARACTERS:
            continue
        prefix = transcript.with_messages(before)
        whole = counter.messages(before)
        for goal, limit in plan.goals.items():
            budget = max(LEAST_BUDGET, limit(whole))
            for method in plan.methods:
                fresh = TokenCounter(counter.texts, counter.ratio, counter.provider)
                made = method.make(prefix, fresh, budget)
                found = measure_retention(made.text, text, cut)
                size = len(made.text) / len(text)
                score = Score(session, source, method.name, goal, found, size)
                yield RetentionObservation(score, len(text), made)


LEAST_REQUESTS: Final = 10
"""Minimum number of requests to price a conversation."""

LEAST_WINDOW: Final = 2_000
"""Minimum window, in tokens."""

UNCOMPACTED: Final = "no compaction"


@frozen
class Replays:
    """
    The policies to replay, the window in tokens, and the model to count for.

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
                f"A window of {self.window:,} tokens is too small for any agent.",
                hint=f"Give {LEAST_WINDOW:,} or more.",
            )


@frozen
class RecordingResult:
    """The results of one file; ``bills`` are by method, empty if it is too short."""

    path: Path
    source: str
    observations: tuple[RetentionObservation, ...]
    bills: Mapping[str, Bill]


def measure_file(path: Path, plan: MeasurementPlan, replays: Replays | None) -> RecordingResult:
    """
    Measure a session file.

    Args:
        path: A transcript in any supported format.
        plan: Methods and budgets.
        replays: What to replay for the price; None to skip it.

    Raises:
        InputError: It cannot be read.
    """
    return measure_recording(read_file(path), path, plan, replays)


def measure_recording(
    recording: Recording, path: Path, plan: MeasurementPlan, replays: Replays | None
) -> RecordingResult:
    """Measure every conversation of a recording at ``path``; see `measure_file`."""
    seen, bills = list[RetentionObservation](), dict[str, Bill]()
    for conversation in recording.conversations:
        transcript = conversation.transcript
        counter = counter_for(transcript, replays.model if replays else None)
        seen += measure(str(path), recording.format, transcript, counter, plan)
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
    """Return a fresh `Show` for every context strategy, by its name."""
    shows: dict[str, Show] = {
        UNCOMPACTED: pricing.nothing(),
        "clear at every step": pricing.clear_every_step(),
    }
    for policy in replays.policies:
        shows[f"Foldline {policy.name}"] = pricing.in_session(
            policy, replays.window, counter, replays.config
        )
    return shows
