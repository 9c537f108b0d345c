"""
Tasks kept as notes: made, begun, ended, each step recorded in the file of the task.

    build = notes.tasks.add("Build it")
    notes.tasks.add("Ship it", needs=[build.id])
    notes.tasks.ready()                     # build only
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from foldline.errors import InputError
from foldline.notes.drafting import Draft
from foldline.notes.graph import TaskGraph, cycle
from foldline.notes.naming import one_line
from foldline.notes.note import Card, Level, Note, Status
from foldline.notes.problems import CyclicTasks, NoteConflict, UnknownNote
from foldline.notes.shelf import Shelf

LONGEST_OUTCOME: Final = 2_000
"""Characters of a result or reason that are kept; more belongs into the content."""

MOST_NEEDS: Final = 1_000

FROM: Final[Mapping[Status, tuple[Status, ...]]] = {
    "running": ("pending",),
    "done": ("pending", "running"),
    "failed": ("pending", "running"),
    "cancelled": ("pending", "running", "failed"),
    "pending": ("running", "done", "failed", "cancelled"),
}
"""What a task must be to become something."""


class Tasks:
    """
    The tasks of a folder of notes.

    Args:
        shelf: Where they are kept.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def graph(self) -> TaskGraph:
        """Return all tasks as they stand now."""
        return TaskGraph(entry.card for entry in self._shelf.look().values())

    def ready(self, parallel: int | None = None) -> tuple[Card, ...]:
        """Return the tasks that can begin now; see `TaskGraph.ready`."""
        return self.graph().ready(parallel)

    def add(
        self,
        title: str,
        content: str = "",
        *,
        needs: Iterable[str] = (),
        tags: Iterable[str] = (),
        level: Level = "task",
    ) -> Note:
        """
        Make a task.

        Args:
            title: What is to be done.
            content: More about it, in Markdown.
            needs: Ids of the tasks that must be done before.
            tags: Words to find it by.
            level: How long it matters.

        Raises:
            UnknownNote: A task that it needs is not there.
        """
        with self._shelf.locked():
            first = self._known(needs)
            draft = Draft(title, content, "task_state", tags, level, "", "pending", first)
            return self._shelf.create(draft.note)

    def need(self, id: str, *needs: str) -> Note:  # noqa: A002  # what every note calls it
        """
        Let a task wait for others too.

        Raises:
            CyclicTasks: They wait for it already; the error names the way.
            UnknownNote: One of them is not there.
        """
        with self._shelf.locked():
            graph = self.graph()
            task = self._task(graph, id)
            all_needs = tuple(dict.fromkeys((*task.needs, *self._known(needs))))
            wanted = {one: card.needs for one, card in graph.tasks.items()} | {id: all_needs}
            way = cycle(wanted, id)
            if way:
                raise CyclicTasks(way, tuple(graph.tasks[one].title for one in way))
            return self._shelf.rewrite(id, lambda note: replace(note, needs=all_needs))

    def spare(self, id: str, *needs: str) -> Note:  # noqa: A002
        """Let a task no longer wait for others."""
        return self._shelf.rewrite(
            id, lambda note: replace(note, needs=tuple(n for n in note.needs if n not in needs))
        )

    def start(self, id: str) -> Note:  # noqa: A002
        """
        Begin a task.

        Raises:
            NoteConflict: It runs already, or cannot begin; the error says why.
        """
        with self._shelf.locked():
            graph = self.graph()
            task = self._task(graph, id)
            standing = graph.standings[id]
            if standing.state in ("waiting", "blocked"):
                raise NoteConflict(f"The task {task.title!r} cannot begin: {standing.why}.")
            return self._become(id, "running", attempts=task.attempts + 1, outcome="")

    def finish(self, id: str, outcome: str = "") -> Note:  # noqa: A002
        """Say that a task is done, and what came of it."""
        return self._become(id, "done", outcome=outcome)

    def fail(self, id: str, why: str) -> Note:  # noqa: A002
        """Say that a task failed, and why; what needs it is blocked until it is done after all."""
        return self._become(id, "failed", outcome=why)

    def cancel(self, id: str, why: str = "") -> Note:  # noqa: A002
        """Give a task up; what needs it is blocked."""
        return self._become(id, "cancelled", outcome=why)

    def reopen(self, id: str) -> Note:  # noqa: A002
        """Let a task begin again, whatever became of it; its attempts count from 0."""
        return self._become(id, "pending", attempts=0, outcome="")

    def give_back(self, id: str, why: str = "") -> Note:  # noqa: A002
        """
        Let a task that was interrupted begin again; its attempts are kept.

        Raises:
            NoteConflict: It does not run.
        """
        return self._become(id, "pending", outcome=why, only=("running",))

    def _become(
        self,
        id: str,  # noqa: A002
        status: Status,
        *,
        outcome: str,
        attempts: int | None = None,
        only: tuple[Status, ...] = (),
    ) -> Note:
        def change(note: Note) -> Note:
            if note.status is None:
                raise InputError(f"the note {note.title!r} is no task", field="id")
            if note.status not in (only or FROM[status]):
                raise NoteConflict(
                    f"The task {note.title!r} is {note.status}, not to be {status}."
                )
            told = one_line(outcome[: LONGEST_OUTCOME * 2])[:LONGEST_OUTCOME]
            tried = note.attempts if attempts is None else attempts
            return replace(note, status=status, outcome=told, attempts=tried)

        return self._shelf.rewrite(id, change)

    def _known(self, needs: Iterable[str]) -> tuple[str, ...]:
        wanted = tuple(dict.fromkeys(needs))
        if len(wanted) > MOST_NEEDS:
            raise InputError(f"a task needs at most {MOST_NEEDS:,} others", field="needs")
        if wanted:
            graph = self.graph()
            for one in wanted:
                self._task(graph, one)
        return wanted

    @staticmethod
    def _task(graph: TaskGraph, id: str) -> Card:  # noqa: A002
        task = graph.tasks.get(id)
        if task is None:
            raise UnknownNote(id)
        return task
