"""Measuring one session: cut it, make what stands before smaller in every way, and look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from foldline.evaluation.future_use import body, cuts, everything
from foldline.evaluation.kept import Score, kept
from foldline.evaluation.methods import Method, Smaller
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

Limit: TypeAlias = Callable[[int], int]

LEAST_CHARACTERS: Final = 20_000
"""A conversation with fewer has no history worth compacting."""

LEAST_BUDGET: Final = 200
"""In tokens: nothing that deserves the name of a history fits into fewer."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one method made of the ``characters`` before one cut, and how that scores."""

    score: Score
    characters: int
    made: Smaller


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What is measured: the methods, and budgets by the name that tables give them.

    A budget turns the tokens before a cut into those that may be kept.
    """

    methods: Sequence[Method]
    goals: Mapping[str, Limit]


def measure(
    session: str, source: str, there: Transcript, counter: TokenCounter, plan: Plan
) -> Iterator[Observation]:
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
                yield Observation(score, len(text), made)
