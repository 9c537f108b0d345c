"""The compaction loop: from a view that is too large to the edits that make it fit."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from foldline.core.asks import Steps
from foldline.core.budget import Budget
from foldline.core.limits import within
from foldline.core.strategy import CompactionContext, Outcome, Policy, Rung, RungReport
from foldline.frozen import frozen, replace
from foldline.repair.repair import repair
from foldline.values.edits import Drop, Edit, Fold
from foldline.values.protect import unread
from foldline.values.view import View

if TYPE_CHECKING:
    from foldline.reinjection.reinject import Sources

LONGEST_REASON = 400
"""Characters kept of a rung's reason: a text from a model or a network has no bounds."""


def compact_view(
    view: View,
    budget: Budget,
    policy: Policy,
    context: CompactionContext,
    sources: Sources | None = None,
) -> Steps[Outcome]:
    """
    Compact a view until it fits its budget.

    Args:
        view: What the model sees now.
        budget: The tokens available to the messages, including reinjected ones.
        policy: The rungs to try, in order.
        context: The target, and the state that strategies depend on.
        sources: Sources of the plan and the files to reinject afterwards; None to reinject
            nothing.

    Returns:
        The outcome; its view is the input where no compaction was due or possible.
    """
    if not budget.is_due(policy.trigger, view.tokens):
        reason = "within budget" if budget.fixed else "below the trigger"
        return Outcome("unchanged", reason, view)
    if sources is None:
        return (yield from _compact(view, budget, policy, context))
    # Imported here: without calls there is nothing to bring back.
    from foldline.reinjection.reinject import make_room, put_back

    items = sources.find(view)
    budget, context = make_room(items, view, budget, context, policy)
    outcome = yield from _compact(view, budget, policy, context)
    if outcome.status == "compacted":
        outcome = put_back(view, outcome, budget, context, items)
    return outcome


def _compact(
    view: View, budget: Budget, policy: Policy, context: CompactionContext
) -> Steps[Outcome]:
    """Climb the ladder within the limits of one compaction."""
    steps = _climb_ladder(view, budget, policy, context)
    outcome, spent = yield from within(steps, context.limits, context.reader, view.counter.text)
    return replace(outcome, spent=spent)


def _climb_ladder(
    view: View, budget: Budget, policy: Policy, context: CompactionContext
) -> Steps[Outcome]:
    # Early rungs need no repaired history; the others start from their result.
    early = [rung for rung in policy.rungs if rung.early]
    start, edits, reports = yield from _climb(early, view, view, budget, context)
    repairs = repair(start.messages, view.dialect, start.pairing)
    now = (_mark_unread(start) if repairs else start).after(repairs)
    edits += repairs
    aliases = _aliases(edits, context)
    if aliases:
        known = ChainMap(aliases, context.handles)  # type: ignore[arg-type]  # nothing is written
        context = replace(context, handles=known)
    reports += [RungReport("repair", "applied", start.tokens - now.tokens)] if repairs else []
    if any(message.is_attachment() for message in now.messages):
        from foldline.reinjection.reinject import detach_first

        policy = detach_first(policy)
    rungs = [rung for rung in policy.rungs if not rung.early]
    now, more, further = yield from _climb(rungs, start, now, budget, context)
    return _judge(view, now, budget, (*edits, *more), (*reports, *further))


def _climb(
    rungs: Iterable[Rung], start: View, now: View, budget: Budget, context: CompactionContext
) -> Steps[tuple[View, list[Edit], list[RungReport]]]:
    """Run rungs until the target is met; triggers compare with the tokens of ``start``."""
    edits, reports = list[Edit](), list[RungReport]()
    for rung in rungs:
        if now.tokens > context.target and not (rung.last and now.tokens <= context.limit):
            # Early rungs may move an unread result behind its call.
            current = _mark_unread(now) if rung.early else now
            step = yield from _climb_rung(rung, start, current, budget, context)
            reports.append(step.report)
            edits += step.edits
            now = step.view if step.edits else now
    return now, edits, reports


def _mark_unread(view: View) -> View:
    """Record which results are unread, before an edit moves them behind their calls."""
    return view.with_log(replace(view, unread=view.unread | unread(view.messages)))


def _aliases(edits: Sequence[Edit], context: CompactionContext) -> dict[str, str]:
    """Map each message that a repair put in place of another to the handle of that other."""
    return {
        edit.snapshot.id: context.handles[edit.messages[0]]
        for edit in edits
        if isinstance(edit, Fold)
        and len(edit.messages) == 1
        and edit.messages[0] in context.handles
    }


@frozen
class _Step:
    """The result of one rung: the new view, the edits, and the report."""

    view: View
    report: RungReport
    edits: tuple[Edit, ...] = ()


def _climb_rung(
    rung: Rung, start: View, now: View, budget: Budget, context: CompactionContext
) -> Steps[_Step]:
    name = rung.strategy.name
    if not budget.is_due(rung.trigger, start.tokens):
        return _Step(now, RungReport(name, "skipped", reason="below its trigger"))
    if budget.fixed and rung.gentle:
        reason = "a summary keeps more of a hard budget"
        return _Step(now, RungReport(name, "skipped", reason=reason))
    plan = yield from rung.strategy.propose(now, context)
    if not plan.edits:
        reason = plan.reason[:LONGEST_REASON] or "nothing to do"
        return _Step(now, RungReport(name, "skipped", reason=reason))
    after = now.after(plan.edits)
    if not rung.early and any(isinstance(edit, (Drop, Fold)) for edit in plan.edits):
        # Without the messages that are gone, another one may be the first.
        repairs = repair(after.messages, after.dialect, after.pairing)
        plan, after = replace(plan, edits=(*plan.edits, *repairs)), after.after(repairs)
    freed = now.tokens - after.tokens
    floor = (
        1 if budget.fixed else max(rung.gain_tokens, round(rung.gain_fraction * budget.scale), 1)
    )
    if freed < floor and (freed <= 0 or after.tokens > context.target):
        reason = f"would free {freed:,} tokens, less than {floor:,}"
        return _Step(now, RungReport(name, "rejected", reason=reason))
    outcome: Literal["applied", "fallback"] = "fallback" if plan.fallback else "applied"
    report = RungReport(name, outcome, freed, plan.reason[:LONGEST_REASON])
    return _Step(after, report, plan.edits)


def _judge(
    view: View, now: View, budget: Budget, edits: Sequence[Edit], reports: Sequence[RungReport]
) -> Outcome:
    rungs = tuple(reports)
    if all(message.role == "system" for message in now.messages):
        return Outcome("unchanged", "only the system prompt would be left", view, rungs=rungs)
    if now.tokens > budget.limit:
        reason = (
            f"what must stay takes {now.tokens:,} tokens, the messages may take {budget.limit:,}"
        )
        return Outcome("failed", reason, view, rungs=rungs, needed=now.tokens)
    if now.tokens >= view.tokens:
        refused = [f"{r.name}: {r.reason}" for r in rungs if not r.is_in_effect and r.reason]
        reason = "; ".join(["nothing was made smaller", *refused[:3]])
        return Outcome("unchanged", reason, view, rungs=rungs)
    applied = dict.fromkeys(
        report.name if report.outcome == "applied" else f"{report.name} (fallback)"
        for report in rungs
        if report.is_in_effect
    )
    return Outcome("compacted", ", ".join(applied), now, tuple(edits), rungs)
