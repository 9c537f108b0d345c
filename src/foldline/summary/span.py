"""Span: fold a chosen stretch of the history, and leave the rest as it is."""

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
"""Fraction of what is folded that its snapshot may take, where no budget says otherwise."""

WHOLE = 1.0
"""What stays is never shortened: nobody asked for that."""


@frozen
class Span:
    """
    The groups from one message to another, both included; one that reaches beyond them stays.

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
        """Return the groups of the span without those that have to stay; see `older`."""
        first, last = self.bounds(view)
        return [g for g in view.foldable() if first <= g.start and g.members[-1] <= last]

    def bounds(self, view: View) -> tuple[int, int]:
        """
        Return the positions of the first and the last message.

        Raises:
            RecallError: A message is not shown, as it was folded before, or never was there.
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
            f"The message {number[:40]} is not shown.",
            hint="It may stand in a snapshot already; name a message of the present view.",
        )
    return view.positions[number]


def is_partial(policy: Policy) -> bool:
    """Tell whether a policy folds a span, and leaves everything else as it is."""
    return any(
        isinstance(rung.strategy, Summarize) and isinstance(rung.strategy.keep, Span)
        for rung in policy.rungs
    )


def _repair(view: View, span: Span) -> tuple[View, Span]:
    """Return the view as a compaction mends it first, and the span in the messages of that."""
    first, last = span.bounds(view)
    edits = repair(view.messages, view.dialect)
    if not edits:
        return view, span
    mended = view.after(edits)
    ids = [message.id for message in view.messages]
    start = _follow(ids[first:], edits, mended) if span.start else ""
    up_to = _follow(ids[last::-1], edits, mended) if span.up_to else ""
    return mended, Span(start, up_to)


def _follow(ids: Sequence[str], edits: Sequence[Edit], mended: View) -> str:
    """Return what stands for the first of some messages that is still there in some form."""
    for number in ids:
        visible = [one for one in following(frozenset({number}), edits) if one in mended.positions]
        if visible:
            return visible[0]
    return ids[0]


def partial(view: View, span: Span, budget: Budget | None = None) -> tuple[Policy, Budget]:
    """
    Return the policy and the budget that fold a span and shorten nothing else.

    Args:
        view: What the model sees now.
        span: What is to be folded.
        budget: What the messages may take; None for what stays and a snapshot of the rest.

    Raises:
        RecallError: A message of the span is not shown.
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
