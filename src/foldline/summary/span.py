"""Span: fold a selected part of the history, and leave the rest unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.budget import Budget
from foldline.core.strategy import CompactionContext, Policy, Rung
from foldline.errors import InputError, RecallError
from foldline.frozen import frozen
from foldline.repair.repair import repair
from foldline.summary.summarize import SMALLEST, Summarize
from foldline.values.edits import Edit, following
from foldline.values.groups import Group
from foldline.values.tokens import MESSAGE_TOKENS
from foldline.values.view import View

SHARE = 0.2
"""Maximum size of the snapshot without a budget, as a fraction of the folded messages."""

WHOLE = 1.0
"""Messages outside the span are never shortened: the caller did not request that."""


@frozen
class Span:
    """
    The groups from one message to another, both included; groups partly outside stay.

    Args:
        start: The id of the first message; "" for the beginning.
        up_to: The id of the last message; "" for the end.

    Raises:
        InputError: Neither is given.
    """

    start: str = ""
    up_to: str = ""

    def __post_init__(self) -> None:
        if not self.start and not self.up_to:
            raise InputError("A span has a start or an end.", hint="Give start, up_to, or both.")

    def older(self, view: View, context: CompactionContext) -> list[Group]:  # noqa: ARG002  # a Selection
        """Return the groups of the span that may be folded, each whole, oldest first."""
        return self.groups(view)

    def groups(self, view: View) -> list[Group]:
        """Return the groups of the span without those that must stay; see `older`."""
        first, last = self.bounds(view)
        return [g for g in view.foldable() if first <= g.start and g.members[-1] <= last]

    def bounds(self, view: View) -> tuple[int, int]:
        """
        Return the positions of the first and the last message.

        Raises:
            RecallError: A message is not in view: it was folded before, or never existed.
            InputError: The start comes after the end.
        """
        first = _position(view, self.start) if self.start else 0
        last = _position(view, self.up_to) if self.up_to else len(view.messages) - 1
        if first > last:
            raise InputError(
                f"The span starts at message {first} and ends before it, at message {last}.",
                hint="Exchange start and up_to.",
            )
        return first, last


def _position(view: View, number: str) -> int:
    if number not in view.positions:
        raise RecallError(
            f"The message {number[:40]} is not in view.",
            hint="It may be part of a snapshot already; name a message of the current view.",
        )
    return view.positions[number]


def is_partial(policy: Policy) -> bool:
    """Return True if a policy folds a span, and leaves everything else unchanged."""
    return any(
        isinstance(rung.strategy, Summarize) and isinstance(rung.strategy.keep, Span)
        for rung in policy.rungs
    )


def _repair(view: View, span: Span) -> tuple[View, Span]:
    """Return the repaired view, from which a compaction starts, and the span in that view."""
    first, last = span.bounds(view)
    edits = repair(view.messages, view.dialect)
    if not edits:
        return view, span
    repaired = view.after(edits)
    ids = [message.id for message in view.messages]
    start = _follow(ids[first:], edits, repaired) if span.start else ""
    up_to = _follow(ids[last::-1], edits, repaired) if span.up_to else ""
    return repaired, Span(start, up_to)


def _follow(ids: Sequence[str], edits: Sequence[Edit], repaired: View) -> str:
    """Return the id, after the repair, of the first message that is still in view."""
    for number in ids:
        following_ids = following(frozenset({number}), edits)
        visible = [one for one in following_ids if one in repaired.positions]
        if visible:
            return visible[0]
    return ids[0]


def plan_span(view: View, span: Span, budget: Budget | None = None) -> tuple[Policy, Budget]:
    """
    Return the policy and the budget that fold a span and shorten nothing else.

    Args:
        view: What the model sees now.
        span: The span to fold.
        budget: The budget of the messages; None for the rest and a snapshot of the span.

    Raises:
        RecallError: A message of the span is not in view.
        InputError: The span ends before it starts, or nothing in it may be folded.
    """
    view, span = _repair(view, span)
    folded = sum(view.counts[i] for group in span.groups(view) for i in group.members)
    if not folded:
        raise InputError(
            "Nothing in the span may be folded.",
            hint="The task, the latest request, pins, unread results, and steps that reach beyond "
            "the span stay; widen it.",
        )
    policy = Policy("span", (Rung(Summarize(span, share=WHOLE), 0.0),))
    if budget is not None:
        return policy, budget
    snapshot = MESSAGE_TOKENS + max(SMALLEST, round(SHARE * folded))
    target = max(1, view.tokens - folded + snapshot)
    return policy, Budget(max(target, view.tokens), target, view.tokens, resolved=False)
