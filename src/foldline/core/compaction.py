"""Climb the ladder: from a view that is too large to edits that make it fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from foldline.core.asks import Steps
from foldline.core.budget import Budget
from foldline.core.edits import Drop, Edit, Fold, apply
from foldline.core.protect import unread
from foldline.core.repair import repair
from foldline.core.spending import Spent, within
from foldline.core.strategy import Need, Plan, Policy, Rung
from foldline.core.view import View

Status: TypeAlias = Literal["compacted", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class RungReport:
    """
    What one rung did.

    ``outcome`` is "applied", "fallback" when it was by lesser means than wanted, "skipped" or
    "rejected"; ``freed`` the tokens that it saved.
    """

    name: str
    outcome: Literal["applied", "fallback", "skipped", "rejected"]
    freed: int = 0
    reason: str = ""

    @property
    def is_in_effect(self) -> bool:
        """Whether the view is what this rung made of it."""
        return self.outcome in ("applied", "fallback")


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    The result of a compaction.

    Unless ``status`` is "compacted", ``view`` is the one that came in and ``edits`` is empty.
    ``spent`` is what a model was asked.
    """

    status: Status
    reason: str
    view: View
    edits: tuple[Edit, ...] = ()
    rungs: tuple[RungReport, ...] = ()
    spent: Spent = field(default_factory=Spent)


def compaction(view: View, budget: Budget, policy: Policy, need: Need) -> Steps[Outcome]:
    """
    Bring a view within its budget.

    Args:
        view: What the model sees now.
        budget: What the messages may take.
        policy: The rungs to try, in order.
        need: Target and circumstances.

    Returns:
        The outcome; a view that was not due or cannot be made smaller comes back as it is.
    """
    steps = _climbed(view, budget, policy, need)
    outcome, spent = yield from within(steps, need.limits, need.reader, view.counter.text)
    return replace(outcome, spent=spent)


def _climbed(view: View, budget: Budget, policy: Policy, need: Need) -> Steps[Outcome]:
    if not budget.is_due(policy.trigger, view.tokens):
        reason = "within budget" if budget.fixed else "below the trigger"
        return Outcome("unchanged", reason, view)
    mended = repair(view.messages, view.dialect)
    start = replace(view, unread=unread(view.messages)) if mended else view
    now, edits = start.after(mended), list(mended)
    need = replace(need, handles={**need.handles, **_aliases(mended, need)}) if mended else need
    reports = [_mending(view, now)] if mended else []
    for rung in policy.rungs:
        if now.tokens <= need.target:
            break
        plan, report = yield from _climb(rung, view, now, budget, need)
        reports.append(report)
        edits += plan.edits
        now = now.after(plan.edits)
    return _judge(view, now, budget, edits, reports)


def _mending(before: View, after: View) -> RungReport:
    return RungReport("repair", "applied", before.tokens - after.tokens)


def _aliases(edits: Sequence[Edit], need: Need) -> dict[str, str]:
    """Give messages that a repair put in place of one other message the handle of that one."""
    return {
        edit.snapshot.id: need.handles[edit.messages[0]]
        for edit in edits
        if isinstance(edit, Fold) and len(edit.messages) == 1 and edit.messages[0] in need.handles
    }


def _tidied(plan: Plan, now: View) -> Plan:
    """Mend what a plan breaks by leaving messages out, such as a conversation's beginning."""
    if not any(isinstance(edit, (Drop, Fold)) for edit in plan.edits):
        return plan
    mended = repair(apply(now.messages, plan.edits), now.dialect)
    return replace(plan, edits=(*plan.edits, *mended)) if mended else plan


def _climb(
    rung: Rung, start: View, now: View, budget: Budget, need: Need
) -> Steps[tuple[Plan, RungReport]]:
    name = rung.strategy.name
    if not budget.is_due(rung.trigger, start.tokens):
        return Plan(), RungReport(name, "skipped", reason="below its trigger")
    if budget.fixed and rung.gentle:
        return Plan(), RungReport(name, "skipped", reason="a summary keeps more of a hard budget")
    plan = yield from rung.strategy.propose(now, need)
    if not plan.edits:
        return Plan(), RungReport(name, "skipped", reason=plan.reason or "nothing to do")
    plan = _tidied(plan, now)
    after = now.after(plan.edits)
    freed = now.tokens - after.tokens
    floor = (
        1 if budget.fixed else max(rung.gain_tokens, round(rung.gain_fraction * budget.scale), 1)
    )
    if freed < floor and (freed <= 0 or after.tokens > need.target):
        reason = f"would free {freed:,} tokens, less than {floor:,}"
        return Plan(), RungReport(name, "rejected", reason=reason)
    outcome: Literal["applied", "fallback"] = "fallback" if plan.fallback else "applied"
    return plan, RungReport(name, outcome, freed, plan.reason)


def _judge(
    view: View, now: View, budget: Budget, edits: Sequence[Edit], reports: Sequence[RungReport]
) -> Outcome:
    rungs = tuple(reports)
    if all(message.role == "system" for message in now.messages):
        return Outcome("unchanged", "nothing that was said would be left", view, rungs=rungs)
    if now.tokens > budget.limit:
        reason = (
            f"what must stay takes {now.tokens:,} tokens, the messages may take {budget.limit:,}"
        )
        return Outcome("failed", reason, view, rungs=rungs)
    if now.tokens >= view.tokens:
        refused = [f"{r.name}: {r.reason}" for r in rungs if not r.is_in_effect and r.reason]
        reason = "; ".join(["nothing was made smaller", *refused[:3]])
        return Outcome("unchanged", reason, view, rungs=rungs)
    applied = dict.fromkeys(report.name for report in rungs if report.is_in_effect)
    return Outcome("compacted", ", ".join(applied), now, tuple(edits), rungs)
