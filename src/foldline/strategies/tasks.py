"""The newest plan, as a planning tool set it last, in whole lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Message, ToolCall, ToolResult
from foldline.core.protect import is_snapshot
from foldline.core.view import View
from foldline.strategies.attachment import plan_section
from foldline.strategies.facts import PLAN_TOOLS, clears_plan, plan


@dataclass(frozen=True, slots=True)
class Tasks:
    """The newest plan: its lines, and the message and part that set it."""

    lines: tuple[str, ...]
    message: str
    part: int


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What one call made of the plan; ``tasks`` is None where it emptied it."""

    call: str | None
    tasks: Tasks | None


def plan_step(message: Message, index: int) -> PlanStep | None:
    """Return what the call at a position of a message makes of the plan; None for nothing."""
    part = message.parts[index]
    if not isinstance(part, ToolCall) or part.name.lower() not in PLAN_TOOLS:
        return None
    if found := plan((Message("assistant", (part,)),)):
        return PlanStep(part.id, Tasks(found.lines, message.id, index))
    return PlanStep(part.id, None) if clears_plan(part) else None


def newest_plan(messages: Sequence[Message]) -> Tasks | None:
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


def plan_sections(after: View, steps: Tasks | None, room: int) -> list[str]:
    """
    Write the plan, where a view does not show it.

    Args:
        after: The view.
        steps: The newest plan.
        room: What it may take, in tokens; what is done goes first, and then the last lines.
    """
    if steps is None or _is_told(after, steps):
        return []
    handle = steps.message[:HANDLE_LENGTH]
    counter, lines = after.counter, list(steps.lines)
    if counter.text(plan_section(lines, handle)) > room:
        lines = [line for line in lines if not line.startswith("- [completed]")]
    while lines and counter.text(plan_section(lines, handle)) > room:
        lines.pop()
    return [plan_section(lines, handle)] if lines else []


def _is_told(view: View, steps: Tasks) -> bool:
    """Tell whether a view shows the whole plan: the call that set it, or a snapshot's quote."""
    position = view.positions.get(steps.message)
    if position is not None:
        shown, log = view.messages[position], view.original(position)
        if steps.part < len(shown.parts) and shown.parts[steps.part] == log.parts[steps.part]:
            return True
    return any(
        all(line in message.text for line in steps.lines)
        for message in view.messages
        if is_snapshot(message)
    )
