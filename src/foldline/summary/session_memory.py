"""Session memory: take up the fold that was prepared in the background, if it still fits."""

from __future__ import annotations

from typing import ClassVar

from foldline.core.asks import Steps
from foldline.core.budget import ACT
from foldline.core.strategy import CompactionContext, Plan, Policy, Rung
from foldline.frozen import frozen, replace
from foldline.summary.summarize import Summarize
from foldline.values.view import View

NAME = "session memory"


@frozen
class SessionMemory:
    """
    Apply what was prepared: no model, no ranking, nothing is read again.

    It holds only while exactly the messages are shown that it was made for; what came behind
    them stays word for word. Otherwise it is refused, and the next rung does the work.
    """

    name: ClassVar[str] = NAME

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Return the prepared edits, or why they do not hold."""
        yield from ()
        memory = context.memory
        if memory is None:
            return Plan(reason="nothing is prepared")
        if context.focus and not context.account:
            return Plan(reason="it was prepared before it was known what to focus on")
        misfit = memory.misfit(view.messages, view.dialect)
        if misfit:
            return Plan(reason=misfit)
        return Plan(memory.edits, memory.reason, memory.fallback)


def remembering(policy: Policy) -> Policy:
    """
    Put session memory before a ladder, due when its summary is.

    It comes first, since what another rung changes it no longer fits; and it is skipped for a
    hard budget, which it was not prepared for.

    Args:
        policy: The ladder; one that has the rung is returned as it is.
    """
    if any(isinstance(rung.strategy, SessionMemory) for rung in policy.rungs):
        return policy
    due = [rung.trigger for rung in policy.rungs if isinstance(rung.strategy, Summarize)]
    rung = Rung(SessionMemory(), min(due, default=ACT), gentle=True, early=True)
    return replace(policy, rungs=(rung, *policy.rungs))


def preparing(policy: Policy) -> Policy:
    """
    Return the ladder that prepares a session memory: the summary of a policy, at any size.

    Args:
        policy: The ladder of the session; where it has no summary, the usual one is taken.
    """
    folding = (rung.strategy for rung in policy.rungs if isinstance(rung.strategy, Summarize))
    return Policy(NAME, (Rung(next(folding, Summarize()), 0.0),))
