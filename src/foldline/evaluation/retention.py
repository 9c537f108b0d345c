"""Measure how much of what an agent used later a compacted history still holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from foldline.evaluation.future_use import CutPoint, body, cuts, everything, identifiers
from foldline.evaluation.methods import Method, Smaller
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

ENOUGH = 0.6
"""The fraction of the words of a source line that must stand together for it to be there."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RetainedUse:
    """
    Fractions of what was needed, from 0 to 1.

    ``need`` and ``deep`` ask whether the identifier is there; ``line`` and ``line_deep`` whether
    a line of the source that holds it is, with most of its words: a bare list of names earns
    nothing.
    """

    need: float
    deep: float
    line: float
    line_deep: float


MEASURES = tuple(field.name for field in fields(RetainedUse))


@dataclass(frozen=True, slots=True)
class Score:
    """
    What one method kept at one cut.

    ``session`` and ``source`` say whose history it was, ``goal`` what the budget is called, such
    as "5%". ``size`` is the fraction of the characters before the cut that were really taken.
    """

    session: str
    source: str
    method: str
    goal: str
    kept: RetainedUse
    size: float


def kept(text: str, source: str, cut: CutPoint) -> RetainedUse:
    """
    Measure what a text keeps.

    Args:
        text: The compacted history, as a model reads it.
        source: The history before.
        cut: What was needed after it.
    """
    found = identifiers(text)
    lines = _in_lines(text, source, cut.need)
    return RetainedUse(
        len(cut.need & found) / len(cut.need),
        len(cut.deep & found) / len(cut.deep),
        len(lines) / len(cut.need),
        len(lines & cut.deep) / len(cut.deep),
    )


def _in_lines(text: str, source: str, wanted: frozenset[str]) -> set[str]:
    """Find the identifiers that stand in a line of the text which is a line of the source."""
    places: dict[str, list[set[str]]] = defaultdict(list)
    for line in text.split("\n"):
        names = identifiers(line) & wanted
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
"""A conversation with fewer has no history worth compacting."""

LEAST_BUDGET: Final = 200
"""In tokens: nothing that deserves the name of a history fits into fewer."""


@dataclass(frozen=True, slots=True)
class RetentionObservation:
    """What one method made of the ``characters`` before one cut, and how that scores."""

    score: Score
    characters: int
    made: Smaller


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """
    What is measured: the methods, and budgets by the name that tables give them.

    A budget turns the tokens before a cut into those that may be kept.
    """

    methods: Sequence[Method]
    goals: Mapping[str, Limit]


def measure(
    session: str, source: str, there: Transcript, counter: TokenCounter, plan: MeasurementPlan
) -> Iterator[RetentionObservation]:
    """
    Measure a conversation.

    Args:
        session: Which session it belongs to; a session may hold several conversations.
        source: What kind of session it is, such as "claude-code".
        there: The conversation, whole.
        counter: Counts its tokens.
        plan: The methods and the budgets.

    Yields:
        An observation for every cut, budget and method; none where it is too short to say much.
    """
    for cut in cuts(there.messages):
        before = body(there.messages[: cut.at])
        text = everything(before)
        if len(text) < LEAST_CHARACTERS:
            continue
        prefix = there.with_messages(before)
        whole = counter.messages(before)
        for goal, limit in plan.goals.items():
            budget = max(LEAST_BUDGET, limit(whole))
            for method in plan.methods:
                fresh = TokenCounter(counter.texts, counter.ratio, counter.provider)
                made = method.make(prefix, fresh, budget)
                found = kept(made.text, text, cut)
                size = len(made.text) / len(text)
                score = Score(session, source, method.name, goal, found, size)
                yield RetentionObservation(score, len(text), made)
