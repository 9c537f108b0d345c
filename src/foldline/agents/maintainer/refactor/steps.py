"""The states of a step, and what leads from one to the next; nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from foldline.errors import InputError

State: TypeAlias = Literal["planned", "editing", "checking", "done", "undone"]
Event: TypeAlias = Literal["begin", "edit", "check", "fail", "pass", "undo"]

MOVES: Final[Mapping[State, Mapping[Event, State]]] = {
    "planned": {"begin": "editing"},
    "editing": {"edit": "editing", "check": "checking", "undo": "undone"},
    "checking": {"pass": "done", "fail": "editing", "undo": "undone"},
    "done": {},
    "undone": {"begin": "editing"},
}
"""
A step begins at a commit and is edited, an edit at a time; then it is checked. What fails is
edited again or undone, what passes is committed and done. A process that dies leaves a step
editing or checking, and the next one undoes it.
"""


def moved(state: State, event: Event) -> State:
    """
    Return the state after an event.

    Raises:
        InputError: The event does not happen in this state.
    """
    after = MOVES[state].get(event)
    if after is None:
        possible = ", ".join(MOVES[state]) or "nothing"
        raise InputError(f"a step that is {state} cannot {event}; possible: {possible}")
    return after
