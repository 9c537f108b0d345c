"""
Compacting a session, showing it, and taking compactions back.

What may ask a model is written as steps (`foldline.core.asks`), so that the two ways of calling
it, blocking and awaiting, share every line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from foldline.core.accounting import account
from foldline.core.asks import Steps
from foldline.core.budget import Budget
from foldline.core.compaction import Outcome, compaction
from foldline.core.handles import handles
from foldline.core.ports import Change
from foldline.core.receipt import Receipt
from foldline.core.repair import repair
from foldline.core.strategy import Need, Policy
from foldline.core.view import View
from foldline.recall import Holdings
from foldline.recall.resolve import resolve
from foldline.session.history import ATTEMPT, COMPACTION, Batch
from foldline.session.state import State


def view(state: State) -> Steps[list[Any]]:
    """Compact if that is due, and return what the model sees, in its wire format."""
    if state.is_due():
        yield from compact(state)
    if state.shown.orphaned:
        _mend(state)
    state.pace.active = state.setting.clock()
    state.viewed = state.shown.epoch
    return [] if state.codec.dialect is None else state.shown.wires(state.codec.dialect)


def compact(
    state: State, budget: Budget | int | None = None, *, force: bool = False, focus: str = ""
) -> Steps[Receipt]:
    """
    Make what is shown smaller, if that is due.

    Args:
        state: The session.
        budget: What the messages may take this once; a number is of tokens as counted here.
        force: Compact although no trigger was passed, and although the last attempt was just now.
        focus: What is to be remembered above all, in the caller's words.

    Returns:
        The receipt. Unless its status is "compacted", nothing has changed.
    """
    own = budget is None
    allowed = state.setting.budget if budget is None else _budget(budget)
    counted = _as_counted(allowed, state) if own else allowed
    policy = _forced(state.setting.policy) if force else state.setting.policy
    before = state.shown.view(state.codec.name)
    reason = _why_not(state, before, counted, policy, own=own, force=force)
    if reason:
        return account(before, Outcome("unchanged", reason, before), allowed, policy.name, {})
    # Shown messages include snapshots and what a repair inserted.
    names = handles([*state.shown.log, *before.messages])
    cold = counted.fixed or state.pace.is_cold(state.setting.clock())
    setting = state.setting
    need = Need(
        counted.target,
        counted.limit,
        counted.scale,
        names,
        cold,
        reader=setting.reader,
        limits=setting.config.limits,
        focus=focus,
    )
    outcome = yield from compaction(before, counted, policy, need)
    warnings = _warnings(allowed, counted)
    receipt = account(before, outcome, allowed, policy.name, names, warnings)
    if own or outcome.edits:
        _record(state, outcome, receipt)
    return receipt


def _mend(state: State) -> None:
    """Turn a result that came after its call had been folded into a note that may be sent."""
    before = state.shown.view(state.codec.name)
    edits = repair(before.messages, state.codec.name)
    state.shown.orphaned = False
    if edits:
        outcome = Outcome("compacted", "repair", before.after(edits), edits)
        names = handles([*state.shown.log, *before.messages])
        policy = state.setting.policy.name
        _record(state, outcome, account(before, outcome, state.setting.budget, policy, names))


def _budget(budget: Budget | int) -> Budget:
    return budget if isinstance(budget, Budget) else Budget.of_tokens(budget)


def _as_counted(budget: Budget, state: State) -> Budget:
    """Express a budget, which is in the provider's tokens, in tokens as counted here."""
    tokens, fill = state.shown.tokens, state.fill
    if tokens <= 0 or fill <= 0 or tokens == fill:
        return budget
    ratio = tokens / fill
    return replace(
        budget,
        limit=max(1, int(budget.limit * ratio)),
        target=max(1, int(budget.target * ratio)),
        scale=max(1, int(budget.scale * ratio)),
        overhead=int(budget.overhead * ratio),
    )


def _forced(policy: Policy) -> Policy:
    """Return the policy with every rung due and no smallest gain."""
    rungs = tuple(
        replace(rung, trigger=0.0, gain_tokens=0, gain_fraction=0.0) for rung in policy.rungs
    )
    return Policy(policy.name, rungs)


def _why_not(
    state: State, before: View, budget: Budget, policy: Policy, *, own: bool, force: bool
) -> str:
    """Return why nothing is to be tried, "" when something is."""
    if not before.messages:
        return "there are no messages"
    if own and before.tokens <= budget.limit and state.history.is_fresh(len(state.shown.log)):
        return "nothing was appended since the last compaction"
    if not budget.is_due(policy.trigger, before.tokens):
        return "within budget" if budget.fixed else "below the trigger"
    if before.tokens <= budget.target:
        return "the target is met"
    if own and not force and state.pace.holds(state.setting.budget, state.fill):
        return "too little was appended since the last attempt"
    return ""


def _warnings(allowed: Budget, counted: Budget) -> tuple[str, ...]:
    if allowed.limit == counted.limit:
        return ()
    words = (
        f"By the usage that the provider reported, its {allowed.limit:,} tokens are "
        f"{counted.limit:,} as counted here; that is what the messages were allowed."
    )
    return (words,)


def _record(state: State, outcome: Outcome, receipt: Receipt) -> None:
    at = len(state.shown.log)
    kind = COMPACTION if outcome.edits else ATTEMPT
    batch = Batch(len(state.history.batches), at, kind, receipt, state.setting.clock())
    with state.recorded(Change(at=at, batches=(batch.stored(),))):
        if outcome.edits:
            state.shown.show(outcome.view)
        state.history.add(batch)
        state.attempted()


def undo(state: State) -> Receipt | None:
    """
    Take the last compaction back, durably.

    Cuts that were made when giant tool outputs were recorded stay.

    Returns:
        Its receipt; None when no compaction is in effect.
    """
    batch = state.history.last()
    if batch is None:
        return None
    at = len(state.shown.log)
    with state.recorded(Change(at=at, undone=batch.number)):
        state.history.undo(batch.number, at)
        state.shown.replay(state.history.edits())
        # Otherwise the next view would make the same compaction again.
        state.attempted()
    return batch.receipt


def pin(state: State, handle: str) -> str:
    """
    Keep a message in sight from now on, durably.

    Args:
        state: The session.
        handle: Its id or handle. One that a compaction has already removed is not brought back.

    Returns:
        Its id.

    Raises:
        RecallError: There is no such message.
    """
    number = resolve(handle, Holdings(state.shown.originals).born()).id
    if not state.shown.originals[number].pinned:
        with state.recorded(Change(at=len(state.shown.log), pinned=number)):
            state.shown.pin(number)
    return number
