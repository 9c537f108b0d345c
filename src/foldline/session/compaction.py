"""
Compacting a session and returning its view.

Functions that may call a model are written as steps (`foldline.core.asks`), so that the blocking
and the async callers share all of the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.core.asks import Steps
from foldline.core.budget import Amount, Budget
from foldline.core.economy import Saving
from foldline.core.strategy import CompactionContext, Outcome, Policy, force_policy
from foldline.engine.compaction import compact_view
from foldline.engine.events import Trigger
from foldline.engine.receipt import Receipt, build_receipt
from foldline.errors import FoldlineError
from foldline.frozen import replace
from foldline.models.catalogue import unknown_model
from foldline.recall import Holdings
from foldline.recall.holdings import resolve
from foldline.reinjection.reinject import Sources
from foldline.repair.repair import repair
from foldline.session import early_fold
from foldline.session.batches import ATTEMPT, COMPACTION, Batch
from foldline.session.checkpoint import EVERY, checkpoint_of
from foldline.session.compaction_answer import add_answer
from foldline.session.file_reading import read_files
from foldline.session.hooks import apply_hooks
from foldline.session.memory import PreparedMemory, text_to_store
from foldline.session.notify import watch_compaction
from foldline.session.state import SessionState
from foldline.session.summarizer_breaker import summarizer_now
from foldline.stores.protocol import Change
from foldline.summary.session_memory import NAME as SESSION_MEMORY
from foldline.summary.span import Span, plan_span
from foldline.summary.summarize import NAME as SUMMARIZE
from foldline.values.edits import Fold
from foldline.values.handles import Handles
from foldline.values.view import View


def view(state: SessionState) -> Steps[list[Any]]:
    """Compact if that is due, and return the view in its wire format."""
    if state.requested is not None:
        yield from compact(state, force=True, focus=state.requested, trigger="requested")
        state.requested = None
    elif state.is_due():
        yield from compact(state, trigger="automatic")
    elif (saving := early_fold.find_saving(state)) is not None:
        yield from _fold_to_save(state, saving)
    if state.current_view.damaged:
        _repair(state)
    state.throttle.active = state.settings.clock()
    state.viewed = state.current_view.epoch
    wires = [] if state.codec.dialect is None else state.current_view.wires(state.codec.dialect)
    sent = apply_hooks(state.settings.hooks, "send", wires)
    if not isinstance(sent, list):
        raise FoldlineError(f"A send hook returned {sent!r:.40} instead of a list of messages.")
    return sent


def compact(
    state: SessionState,
    budget: Budget | int | str | None = None,
    *,
    force: bool = False,
    focus: str = "",
    trigger: Trigger = "manual",
) -> Steps[Receipt]:
    """
    Compact the view, if that is due.

    Args:
        state: The session.
        budget: The budget of the messages for this call; a number is in locally counted tokens.
        force: Compact even if no trigger was passed, and right after another attempt.
        focus: The most important content to remember, in the caller's words.
        trigger: Why it is compacted; passed to hooks and listeners.

    Returns:
        The receipt. Unless its status is "compacted", nothing has changed.
    """
    own = budget is None
    allowed = state.settings.budget if budget is None else _budget(budget, state)
    counted = convert_budget(allowed, state) if own else allowed
    policy = force_policy(state.settings.policy) if force else state.settings.policy
    before = state.current_view.view(state.codec.name)
    if force and own:
        counted = counted.below(before.tokens)
    reason = _find_reason_to_skip(state, before, counted, policy, own=own, force=force)
    if reason:
        return build_receipt(
            before, Outcome("unchanged", reason, before), allowed, policy.name, {}
        )
    return (
        yield from _compact(state, before, (allowed, counted), policy, focus, trigger, own=own)
    )


def _fold_to_save(state: SessionState, saving: Saving) -> Steps[Receipt]:
    """Fold because that is cheaper; the receipt states the calculation."""
    before = state.current_view.view(state.codec.name)
    allowed = replace(state.settings.budget, target=saving.target)
    sizes = (allowed, convert_budget(allowed, state))
    ladder = early_fold.select_folding_rungs(state.settings.policy)
    note = str(saving)
    return (
        yield from _compact(state, before, sizes, ladder, "", "automatic", own=True, note=note)
    )


def compact_or_fold(
    state: SessionState,
    budget: Budget | int | str | None,
    ends: tuple[str, str],
    force: bool,
    focus: str,
) -> Steps[Receipt]:
    """Fold the span between two ends if either is given, else compact if that is due."""
    if any(ends):
        return fold(state, Span(*ends), budget, focus=focus)
    return compact(state, budget, force=force, focus=focus)


def fold(
    state: SessionState, span: Span, budget: Budget | int | str | None = None, *, focus: str = ""
) -> Steps[Receipt]:
    """
    Fold a span of the view, and leave the rest unchanged.

    Args:
        state: The session.
        span: Ids or handles of the first and the last message.
        budget: The budget of the messages; None for the rest and a snapshot of the span.
        focus: The most important content to remember, in the caller's words.

    Returns:
        The receipt. Unless its status is "compacted", nothing has changed.

    Raises:
        RecallError: A message is unknown, or no longer in view.
        InputError: The span ends before it starts, or nothing in it may be folded.
    """
    before = state.current_view.view(state.codec.name)
    view_positions = dict.fromkeys(
        (message.id for message in before.messages), len(state.current_view.log)
    )
    first_seen = Holdings(state.current_view.originals).first_seen() | view_positions
    ids = Span(*(resolve(end, first_seen).id if end else "" for end in (span.start, span.up_to)))
    policy, allowed = plan_span(before, ids, None if budget is None else _budget(budget, state))
    sizes = (allowed, allowed)
    return (yield from _compact(state, before, sizes, policy, focus, "partial", own=False))


def _compact(
    state: SessionState,
    before: View,
    sizes: tuple[Budget, Budget],
    policy: Policy,
    focus: str,
    trigger: Trigger,
    *,
    own: bool,
    note: str = "",
) -> Steps[Receipt]:
    """
    Make a compaction within a budget, given in the provider's and in local tokens, and record it.

    ``note`` is the reason for the receipt, if it is not a lack of room.
    """
    allowed, counted = sizes
    with watch_compaction(state, trigger) as watch:
        if watch.refusal is None:
            outcome, names = yield from _outcome(state, before, counted, policy, focus)
        else:
            outcome, names = Outcome("unchanged", watch.refusal, before), {}
        warnings = (*_warnings(state, allowed, counted), *watch.warnings)
        note = "overflow" if trigger == "overflow" else note
        if note:
            outcome = replace(outcome, reason=f"{note}: {outcome.reason}")
        memory = _memory_in(state, outcome)
        prepared = None if memory is None else memory.prepared
        watch.receipt = build_receipt(
            before, outcome, allowed, policy.name, names, warnings, prepared
        )
        if own or outcome.edits:
            _record(state, outcome, watch.receipt, memory)
    return watch.receipt


def preview(state: SessionState) -> Steps[tuple[View, Outcome]]:
    """Return the view, and the outcome of a forced compaction of it; nothing is recorded."""
    before = state.current_view.view(state.codec.name)
    if not before.messages:
        return before, Outcome("unchanged", "there are no messages", before)
    budget = convert_budget(state.settings.budget, state)
    outcome, _ = yield from _outcome(
        state, before, budget, force_policy(state.settings.policy), ""
    )
    return before, outcome


def _outcome(
    state: SessionState, before: View, budget: Budget, policy: Policy, focus: str
) -> Steps[tuple[Outcome, Mapping[str, str]]]:
    """Compact a view; return the outcome, and the handles of all messages."""
    settings = state.settings
    # The view includes snapshots and messages that a repair inserted.
    names = Handles(state.current_view.log.register, before.messages)
    reader, _ = summarizer_now(state)
    memory = state.prepared_slot.memory
    context = replace(
        context_of(state, budget, names),
        cold=budget.fixed or state.throttle.is_cold(settings.clock()),
        requests=settings.config.pace.requests,
        reader=None if reader is not None and reader.background else reader,
        focus=focus,
        memory=None if memory is None else memory.prepared,
    )
    statistics = state.current_view.statistics
    before = replace(before, vocabulary=statistics.vocabulary)
    sources = Sources(settings.config.files, read_files, statistics.working)
    outcome = yield from compact_view(before, budget, policy, context, sources)
    if state.requested is not None:
        outcome = add_answer(before, outcome)
    return outcome, names


def context_of(state: SessionState, budget: Budget, names: Mapping[str, str]) -> CompactionContext:
    """Return the part of a compaction's context that depends only on the session."""
    config = state.settings.config
    return CompactionContext(
        budget.target,
        budget.limit,
        budget.scale,
        names,
        limits=config.limits,
        summary=config.summary,
        account=state.prepared_slot.text,
    )


def _repair(state: SessionState) -> None:
    """Repair what the provider would reject: a result whose call was folded, an open call."""
    before = state.current_view.view(state.codec.name)
    edits = repair(before.messages, state.codec.name, before.pairing)
    if edits:
        outcome = Outcome("compacted", "repair", before.after(edits), edits)
        names = Handles(state.current_view.log.register, before.messages)
        settings = state.settings
        receipt = build_receipt(before, outcome, settings.budget, settings.policy.name, names)
        _record(state, outcome, receipt)
    # Remaining damage cannot be repaired; do not search for it before every request.
    state.current_view.damaged = False


def _budget(budget: Budget | int | str, state: SessionState) -> Budget:
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, str):
        budget = Amount.parse(budget).of(state.current_view.tokens)
    return Budget.of_tokens(budget)


def convert_budget(budget: Budget, state: SessionState) -> Budget:
    """Convert a budget from the provider's tokens to locally counted tokens."""
    tokens, fill = state.current_view.tokens, state.fill
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


def _find_reason_to_skip(
    state: SessionState, before: View, budget: Budget, policy: Policy, *, own: bool, force: bool
) -> str:
    """Return why no compaction is tried, "" if one is."""
    if not before.messages:
        return "there are no messages"
    if (
        own
        and before.tokens <= budget.limit
        and state.history.is_fresh(len(state.current_view.log))
    ):
        return "nothing was appended since the last compaction"
    if not budget.is_due(policy.trigger, before.tokens):
        return "within budget" if budget.fixed else "below the trigger"
    if before.tokens <= budget.target:
        return "the target is met"
    if own and not force and state.throttle.holds(state.settings.budget, state.fill):
        return "too little was appended since the last attempt"
    return ""


def _warnings(state: SessionState, allowed: Budget, counted: Budget) -> tuple[str, ...]:
    _, pause = summarizer_now(state)
    problem = (
        state.prepared_slot.problem
        and f"The session memory was not updated: {state.prepared_slot.problem}."
    )
    counts = ""
    if allowed.limit != counted.limit:
        counts = (
            f"By the usage that the provider reported, its {allowed.limit:,} tokens are "
            f"{counted.limit:,} as counted here; the messages were limited to that."
        )
    unknown = unknown_model(state.settings.model)
    return tuple(words for words in (unknown, counts, pause, problem) if words)


def _memory_in(state: SessionState, outcome: Outcome) -> PreparedMemory | None:
    """Return the session memory, if an outcome uses it."""
    used = any(rung.is_in_effect and rung.name == SESSION_MEMORY for rung in outcome.rungs)
    return state.prepared_slot.memory if used and outcome.edits else None


def _has_account(outcome: Outcome) -> bool:
    """Return True if an outcome has a snapshot that starts with the user's own text, if any."""
    folds = any(isinstance(edit, Fold) and edit.kind != "repair" for edit in outcome.edits)
    rungs = (rung.name for rung in outcome.rungs if rung.is_in_effect)
    return folds and not {SESSION_MEMORY, SUMMARIZE}.isdisjoint(rungs)


def _record(
    state: SessionState, outcome: Outcome, receipt: Receipt, memory: PreparedMemory | None = None
) -> None:
    if not outcome.edits:
        _record_attempt(state, receipt)
        return
    at, now = len(state.current_view.log), state.settings.clock()
    batch = Batch(len(state.history.batches), at, COMPACTION, receipt, now)
    if memory is not None:
        batch = replace(batch, prepared=len(memory.prepared.edits))
    stored = batch.to_stored(None if memory is None else memory.stored)
    text = "" if _has_account(outcome) else state.prepared_slot.text
    checkpoint = None
    if batch.number >= state.checkpoint + EVERY:
        checkpoint = checkpoint_of(state.current_view.log, outcome.view.messages, batch.number)
    change = Change(
        at,
        batches=(stored,),
        memory=text_to_store(text, at, state.generation, now),
        forgets=True,
        checkpoint=checkpoint,
    )
    with state.record(change):
        if checkpoint is not None:
            state.checkpoint = checkpoint.number
        state.current_view.show(outcome.view)
        state.prepared_slot.void(state.current_view.tokens)
        state.prepared_slot.text = text
        state.history.add(batch)
        state.note_attempt()


def _record_attempt(state: SessionState, receipt: Receipt) -> None:
    at, now, history = len(state.current_view.log), state.settings.clock(), state.history
    last = history.find_repeated(receipt)
    if last is None:
        batch = Batch(len(history.batches), at, ATTEMPT, receipt, now)
        with state.record(Change(at=at, batches=(batch.to_stored(),))):
            history.add(batch)
            state.note_attempt()
    else:
        with state.record(Change(at=at, again=last.number, time=now)):
            history.repeat(last.number, at, now)
            state.note_attempt()
