"""The newest plan, as a planning tool set it last, in whole lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from foldline.reinjection.attachment import plan_section
from foldline.snapshot.facts import clears_plan, plan
from foldline.snapshot.plans import fitted_plan, is_done, is_plan_tool, open_items
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message, ToolCall, ToolResult
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

PLAN_SHARE: Final = 0.05
"""Fraction of the target that a plan may take in any case."""

OPEN_SHARE: Final = 0.25
"""Fraction of the target that its open items may take."""

PLAN_TOKENS: Final = 60
"""About what stands around a plan, in tokens."""


@dataclass(frozen=True, slots=True)
class TaskLists:
    """The newest plan: its lines, and the message and part that set it."""

    lines: tuple[str, ...]
    message: str
    part: int


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What one call made of the plan; ``tasks`` is None where it emptied it."""

    call: str | None
    tasks: TaskLists | None


def plan_step(message: Message, index: int) -> PlanStep | None:
    """Return what the call at a position of a message makes of the plan; None for nothing."""
    part = message.parts[index]
    if not isinstance(part, ToolCall) or not is_plan_tool(part.name):
        return None
    if found := plan((Message("assistant", (part,)),)):
        return PlanStep(part.id, TaskLists(found.lines, message.id, index))
    return PlanStep(part.id, None) if clears_plan(part) else None


def newest_plan(messages: Sequence[Message]) -> TaskLists | None:
    """Return the plan as a planning tool set it last; None where there is none, or it is empty."""
    failed: set[str] = set()
    for message in reversed(messages):
        for index in range(len(message.parts) - 1, -1, -1):
            part = message.parts[index]
            if isinstance(part, ToolResult) and part.is_error and part.call_id:
                failed.add(part.call_id)
                continue
            step = plan_step(message, index)
            if step is not None and step.call not in failed:
                return step.tasks
    return None


def plan_sections(after: View, steps: TaskLists, room: int) -> list[str]:
    """
    Write the plan, where a view does not show it.

    Args:
        after: The view.
        steps: The newest plan.
        room: What it may take, in tokens; see `fitted_plan` for what goes first.
    """
    if _is_told(after, steps):
        return []
    handle, told = steps.message[:HANDLE_LENGTH], steps.lines

    def section(lines: Sequence[str]) -> str:
        return plan_section(lines, handle, len(told), sum(map(is_done, told)))

    lines = fitted_plan(told, room, lambda kept: after.counter.text(section(kept)))
    return [section(lines)] if lines else []


def plan_room(steps: TaskLists, target: int, counter: TokenCounter) -> int:
    """
    Return what a plan may take, in tokens: enough for its open items, as a rule.

    Args:
        steps: The newest plan.
        target: The target of the compaction, in tokens.
        counter: What counts.
    """
    whole, needed = (
        counter.text("\n".join(lines)) + PLAN_TOKENS
        for lines in (steps.lines, open_items(steps.lines))
    )
    share = round(PLAN_SHARE * target)
    return min(whole, max(share, min(needed, round(OPEN_SHARE * target))))


def _is_told(view: View, steps: TaskLists) -> bool:
    """Return True if a view shows the plan: the call that set it, or all that is open of it."""
    position = view.positions.get(steps.message)
    if position is not None:
        shown, log = view.messages[position], view.original(position)
        if steps.part < len(shown.parts) and shown.parts[steps.part] == log.parts[steps.part]:
            return True
    still = [line for line in steps.lines if not is_done(line)] or steps.lines
    return any(
        all(line in message.text for line in still)
        for message in view.messages
        if is_snapshot(message)
    )
