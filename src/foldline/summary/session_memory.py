"""Session memory: apply the fold that was prepared in the background, if it still fits."""

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
    Apply the prepared edits, without a model or a ranking.

    They are valid only while the view begins with exactly the messages that they were made for;
    later messages stay verbatim. Otherwise the next rung is used.
    """

    name: ClassVar[str] = NAME

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Return the prepared edits, or the reason why they are not valid."""
        yield from ()
        memory = context.memory
        if memory is None:
            return Plan(reason="nothing is prepared")
        if context.focus and not context.account:
            return Plan(reason="it was prepared before the focus was set")
        misfit = memory.misfit(view.messages, view.dialect)
        if misfit:
            return Plan(reason=misfit)
        return Plan(memory.edits, memory.reason, memory.fallback)


def add_session_memory(policy: Policy) -> Policy:
    """
    Return the policy with session memory as its first rung, due with its summary.

    It comes first, because it does not fit a view that another rung has changed; and it is
    skipped for a hard budget, for which it was not prepared.

    Args:
        policy: The policy; one that has the rung is returned unchanged.
    """
    if any(isinstance(rung.strategy, SessionMemory) for rung in policy.rungs):
        return policy
    due = [rung.trigger for rung in policy.rungs if isinstance(rung.strategy, Summarize)]
    rung = Rung(SessionMemory(), min(due, default=ACT), gentle=True, early=True)
    return replace(policy, rungs=(rung, *policy.rungs))


def select_summary_rung(policy: Policy) -> Policy:
    """
    Return the policy that prepares a session memory: only the summary, due at any size.

    Args:
        policy: The policy of the session; if it has no summary, the default one is used.
    """
    folding = (rung.strategy for rung in policy.rungs if isinstance(rung.strategy, Summarize))
    return Policy(NAME, (Rung(next(folding, Summarize()), 0.0),))
