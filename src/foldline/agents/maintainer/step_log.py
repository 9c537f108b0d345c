"""The states of a step, and what leads from one to the next; nothing else does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from foldline.errors import UNREADABLE, InputError
from foldline.frozen import field, frozen, replace
from foldline.tools.json_files import append_line, read_lines

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


def next_state(state: State, event: Event) -> State:
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


@frozen
class StepProgress:
    """
    How far a step is.

    ``checkpoint`` is the commit that it began at, ``files`` those that it may have touched, with
    the hash of what it made of them (they are logged before they are written), ``commit`` what it
    became, ``failures`` how often its checks failed, ``last`` what they said last.
    """

    step: str
    state: State = "planned"
    checkpoint: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    failures: int = 0
    last: str = ""

    def after(self, event: Event, data: Mapping[str, Any]) -> StepProgress:
        """
        Return the progress after an event.

        Raises:
            InputError: The event does not happen now.
        """
        now = replace(self, state=next_state(self.state, event))
        texts = {name: str(data.get(name, "")) for name in ("checkpoint", "told", "commit")}
        match event:
            case "begin":
                begun = StepProgress(self.step, now.state, texts["checkpoint"])
                return replace(begun, last=self.last)
            case "edit":
                made = {str(data.get("path", "")): str(data.get("hash", ""))}
                return replace(now, files={**self.files, **made})
            case "fail":
                files = {**self.files, **dict(data.get("files", {}))}
                failures = self.failures + 1
                return replace(now, files=files, failures=failures, last=texts["told"])
            case "pass":
                return replace(now, commit=texts["commit"])
        return now


class StepLog:
    """
    What happened to steps, in one file; a line that a dying process left half is passed over.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, StepProgress] = {}

        hint = "Move it away, and keep it: it has what undoing an unfinished step needs."
        for line in read_lines(self.path, "log", hint=hint):
            with suppress(*UNREADABLE):
                value = json.loads(line)
                step = str(value["step"])
                self._known[step] = self.of(step).after(value["event"], value["data"])

    def of(self, step: str) -> StepProgress:
        """Return how far a step is."""
        return self._known.get(step, StepProgress(step))

    @property
    def all(self) -> tuple[StepProgress, ...]:
        """Every step that was ever begun."""
        return tuple(self._known.values())

    def add(self, step: str, event: Event, **data: Any) -> StepProgress:
        """
        Write an event down, durably, and return the progress after it.

        Raises:
            InputError: The event does not happen now; nothing is written.
            StoreError: It cannot be written.
        """
        after = self.of(step).after(event, data)
        append_line(self.path, {"step": step, "event": event, "data": data}, "log")
        self._known[step] = after
        return after
