"""What is sent around the messages, where it is known only when they are sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from foldline.formats.dialect import bounded_nesting
from foldline.session.state import State


def surround(state: State, system: str | None, tools: Iterable[Any] | None) -> None:
    """
    Count the system prompt and the tools that the next view will be sent with.

    Args:
        state: The session; its budget changes, nothing is recorded.
        system: The system prompt.
        tools: The tool schemas, as JSON values.

    Raises:
        BudgetError: They leave nothing for messages; the budget is as it was.
    """
    setting = state.setting
    with bounded_nesting():
        overhead = setting.counter.overhead(system or "", tools or ())
    if overhead != setting.budget.overhead:
        state.setting = replace(setting, budget=setting.budget.around(overhead))
