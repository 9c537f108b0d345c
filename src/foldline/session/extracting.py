"""
Preparing the next compaction: a picture is taken, worked on beside the turns, and put away.

Taking and putting away belong into a turn and are short. What lies between reads nothing but the
picture, so that messages may be appended meanwhile; if anything else was changed by then, what
was prepared is given up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from foldline.core.asks import Steps
from foldline.core.budget import Budget
from foldline.core.prepared import Prepared
from foldline.core.strategy import CompactionContext, Policy
from foldline.engine.compaction import compact_view
from foldline.engine.receipt import recallable
from foldline.session.compaction import convert_budget
from foldline.session.log import Log
from foldline.session.memory import PreparedMemory, to_store
from foldline.session.notify import note_prepared
from foldline.session.state import SessionState
from foldline.session.statistics import BackgroundStatistics
from foldline.session.summarizer_breaker import summarizer_now as who_is_asked
from foldline.stores.protocol import Change
from foldline.summary.session_memory import preparing
from foldline.values.handles import Handles
from foldline.values.view import View

LEAST_TARGET = 0.5
"""What is prepared leaves room for what comes meanwhile, up to this fraction of the target."""

PAUSED = "the summarizer gave nothing usable several times and was not asked"


@dataclass(frozen=True, slots=True)
class Picture:
    """
    What is shown of a log at one moment, and what is to become of it.

    ``at`` is how many messages the log has, ``revision`` how often what is shown was changed
    other than by appending, ``generation`` the one in the store. ``paused`` says that there is a
    summarizer which is not asked, since it gave nothing usable before.
    """

    view: View
    log: Log
    statistics: BackgroundStatistics
    budget: Budget
    policy: Policy
    context: CompactionContext
    at: int
    revision: int
    generation: int
    time: float
    paused: bool = False


def take(state: SessionState) -> Picture:
    """Take the picture; nothing in it changes when the session goes on."""
    setting, shown = state.setting, state.shown
    state.shelf.appended = 0
    view = shown.view(state.codec.name)
    budget = convert_budget(setting.budget, state)
    pause = max(setting.config.memory.every, setting.config.pace.growth * budget.scale)
    target = max(round(LEAST_TARGET * budget.target), budget.target - round(pause))
    reader, _ = who_is_asked(state)
    if not state.shelf.breaker.allows(setting.clock()):
        reader = None
    context = CompactionContext(
        target,
        budget.limit,
        budget.scale,
        Handles(shown.log.register, view.messages),
        reader=reader,
        limits=setting.config.limits,
        summary=setting.config.summary,
        account=state.shelf.text,
    )
    return Picture(
        view,
        shown.log,
        state.shelf.statistics,
        budget,
        preparing(setting.policy),
        context,
        len(shown.log),
        state.shelf.revision,
        state.generation,
        setting.clock(),
        paused=reader is None and setting.reader is not None and not context.account,
    )


def prepare(picture: Picture) -> Steps[PreparedMemory | str]:
    """
    Prepare the compaction of what a picture shows.

    Returns:
        What was prepared; a text when there is nothing: what is wrong, "" when nothing is to do.
    """
    shown = (message.id for message in picture.view.messages)
    # The statistics of the session grow with every append: these are the worker's own.
    vocabulary = picture.statistics.vocabulary(picture.log, shown)
    view = replace(picture.view, vocabulary=vocabulary)
    context = picture.context
    outcome = yield from compact_view(view, picture.budget, picture.policy, context)
    if outcome.status != "compacted":
        return outcome.reason if outcome.status == "failed" else ""
    reasons = [PAUSED] if picture.paused else []
    reasons += [rung.reason for rung in outcome.rungs if rung.is_in_effect and rung.reason]
    prepared = Prepared(
        view.messages,
        outcome.edits,
        view.dialect,
        picture.at,
        picture.time,
        recallable(outcome.edits, view.originals, context.handles),
        picture.paused or any(rung.outcome == "fallback" for rung in outcome.rungs),
        "; ".join(reasons),
        outcome.spent,
    )
    if not all(fold.snapshot.text.strip() for fold in prepared.folds):
        return "the summary is empty"
    if not prepared.folds:
        return ""
    return PreparedMemory(prepared, to_store(prepared, picture.generation, context.account))


def put_away(state: SessionState, picture: Picture, found: PreparedMemory | str) -> None:
    """
    Keep what was prepared, durably, if it still fits what is shown.

    Raises:
        StoreError: It was not recorded; another process may have changed the session.
    """
    if isinstance(found, str):
        state.shelf.problem = found
        return
    if found.prepared.spent.attempts:
        usable, now = not found.prepared.fallback, state.setting.clock()
        state.shelf.breaker = state.shelf.breaker.after(usable, now)
    if state.shelf.revision != picture.revision:
        # What was compacted, pinned or taken back meanwhile counts; that is no problem.
        return
    shown = tuple(state.shown.messages.values())
    if found.prepared.misfit(shown, state.codec.name):
        return
    change = Change(at=len(state.shown.log), memory=found.stored, time=found.prepared.time)
    with state.record(change):
        state.shelf.put(found, state.shelf.appended)
    note_prepared(state, found.prepared)
