"""The transitions between the states of a step; no others exist."""

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
A step starts at a commit, is edited one edit at a time, and is then checked. A failed step is
edited again or undone; a passing step is committed and done. A killed process leaves a step
editing or checking, and the next process undoes it.
"""


def next_state(state: State, event: Event) -> State:
    """
    Return the state after an event.

    Raises:
        InputError: The event is not possible in this state.
    """
    after = MOVES[state].get(event)
    if after is None:
        possible = ", ".join(MOVES[state]) or "nothing"
        raise InputError(f"a step that is {state} cannot {event}; possible: {possible}")
    return after


@frozen
class StepProgress:
    """
    The progress of a step.

    ``checkpoint`` is the commit it started at, ``files`` are the files it may have touched with
    the hashes of their new content (logged before the write), ``commit`` is its own commit,
    ``failures`` counts failed checks, ``last`` is the last output of a check.
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
            InputError: The event is not possible in the current state.
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
    The events of steps, in one file; a line that a crash truncated is skipped.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, StepProgress] = {}

        hint = "Move it away, and keep it: it is needed to undo an unfinished step."
        for line in read_lines(self.path, "log", hint=hint):
            with suppress(*UNREADABLE):
                value = json.loads(line)
                step = str(value["step"])
                self._known[step] = self.of(step).after(value["event"], value["data"])

    def of(self, step: str) -> StepProgress:
        """Return the progress of a step."""
        return self._known.get(step, StepProgress(step))

    @property
    def all(self) -> tuple[StepProgress, ...]:
        """Return the progress of every step that was started."""
        return tuple(self._known.values())

    def add(self, step: str, event: Event, **data: Any) -> StepProgress:
        """
        Log an event durably, and return the progress after it.

        Raises:
            InputError: The event is not possible in the current state; nothing is written.
            StoreError: It cannot be written.
        """
        after = self.of(step).after(event, data)
        append_line(self.path, {"step": step, "event": event, "data": data}, "log")
        self._known[step] = after
        return after
