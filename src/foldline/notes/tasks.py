"""
Tasks stored as notes: every change of status is recorded in the file of the task.

    build = notes.tasks.add("Build it")
    notes.tasks.add("Ship it", needs=[build.id])
    notes.tasks.ready()                     # build only
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, TypeAlias

from foldline.ask_runner import run_to_end
from foldline.core.validation import positive, whole
from foldline.errors import InputError
from foldline.frozen import frozen, replace
from foldline.notes.folder import FolderLock
from foldline.notes.note import (
    CyclicTasks,
    Level,
    Note,
    NoteConflict,
    NoteMetadata,
    Status,
    UnknownNote,
)
from foldline.notes.note_fields import draft_note, one_line
from foldline.notes.note_store import NoteStore
from foldline.notes.task_graph import TaskGraph, find_cycle
from foldline.redaction import explain_error, redact_json
from foldline.type_checks import typed_methods

LONGEST_OUTCOME: Final = 2_000
"""The maximum length of a result or reason in characters; more belongs into the content."""

MOST_NEEDS: Final = 1_000

FROM: Final[Mapping[Status, tuple[Status, ...]]] = {
    "running": ("pending",),
    "done": ("pending", "running"),
    "failed": ("pending", "running"),
    "cancelled": ("pending", "running", "failed"),
    "pending": ("running", "done", "failed", "cancelled"),
}
"""The statuses from which a status can be reached."""


@typed_methods
class NoteTasks:
    """
    The tasks of a folder of notes.

    Args:
        store: The store of the notes.
    """

    def __init__(self, store: NoteStore) -> None:
        self._store = store

    def graph(self) -> TaskGraph:
        """Return the current states of all tasks."""
        return TaskGraph(entry.metadata for entry in self._store.refresh().values())

    def ready(self, parallel: int | None = None) -> tuple[NoteMetadata, ...]:
        """Return the tasks that can start now; see `TaskGraph.ready`."""
        return self.graph().ready(parallel)

    def add(
        self,
        title: str,
        content: str | None = "",
        *,
        needs: Iterable[str] = (),
        tags: Iterable[str] | str | None = (),
        level: Level = "task",
    ) -> Note:
        """
        Create a task.

        Args:
            title: The subject of the task.
            content: Details, in Markdown.
            needs: The ids of the tasks it depends on.
            tags: Keywords for searching; a string is split at commas.
            level: The lifetime.

        Raises:
            UnknownNote: A task that it depends on does not exist.
        """
        with self._store.locked():
            first = self._check_needs(needs)
            given = {"title": title, "content": content, "tags": tags, "level": level}
            draft = draft_note(status="pending", needs=first, type="task_state", **given)
            return self._store.create(draft)

    def need(self, id: str, *needs: str) -> Note:  # noqa: A002  # the name of the field
        """
        Add dependencies to a task.

        Raises:
            CyclicTasks: They depend on it already; the error names the cycle.
            UnknownNote: One of them does not exist.
        """
        with self._store.locked():
            graph = self.graph()
            task = self._task(graph, id)
            all_needs = tuple(dict.fromkeys((*task.needs, *self._check_needs(needs))))
            known = {one: metadata.needs for one, metadata in graph.tasks.items()}
            way = find_cycle({**known, id: all_needs}, id)
            if way:
                raise CyclicTasks(way, tuple(graph.tasks[one].title for one in way))
            return self._store.rewrite(id, lambda note: replace(note, needs=all_needs))

    def remove_needs(self, id: str, *needs: str) -> Note:  # noqa: A002
        """Remove dependencies of a task."""
        return self._store.rewrite(
            id, lambda note: replace(note, needs=tuple(n for n in note.needs if n not in needs))
        )

    def start(self, id: str) -> Note:  # noqa: A002
        """
        Start a task.

        Raises:
            NoteConflict: It is running already, or cannot start; the error says why.
        """
        with self._store.locked():
            graph = self.graph()
            task = self._task(graph, id)
            state = graph.states[id]
            if state.state in ("waiting", "blocked"):
                raise NoteConflict(f"The task {task.title!r} cannot start: {state.why}.")
            return self._become(id, "running", attempts=task.attempts + 1, outcome="")

    def finish(self, id: str, outcome: str = "") -> Note:  # noqa: A002
        """Mark a task as done, with its result."""
        return self._become(id, "done", outcome=outcome)

    def fail(self, id: str, why: str) -> Note:  # noqa: A002
        """Mark a task as failed; tasks that depend on it are blocked until it is done."""
        return self._become(id, "failed", outcome=why)

    def cancel(self, id: str, why: str = "") -> Note:  # noqa: A002
        """Cancel a task; tasks that depend on it are blocked."""
        return self._become(id, "cancelled", outcome=why)

    def reopen(self, id: str) -> Note:  # noqa: A002
        """Make a task pending again from any status, and reset its attempts."""
        return self._become(id, "pending", attempts=0, outcome="")

    def progress(self, id: str, status: Status, outcome: str = "") -> Note:  # noqa: A002
        """
        Set the status of a task.

        Args:
            id: The id of the task.
            status: "running" and "pending" start and reopen it; the others end it.
            outcome: Its result, or the reason for its failure.

        Raises:
            InputError: It is not a task.
            NoteConflict: The transition is not possible now.
            UnknownNote: There is no such note.
        """
        if status == "running":
            return self.start(id)
        if status == "pending":
            return self.reopen(id)
        return self._become(id, status, outcome=outcome)

    def give_back(self, id: str, why: str = "") -> Note:  # noqa: A002
        """
        Make an interrupted task pending again, without resetting its attempts.

        Raises:
            NoteConflict: It is not running.
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
                raise InputError(f"the note {note.title!r} is not a task", field="id")
            if note.status not in (only or FROM[status]):
                raise NoteConflict(
                    f"The task {note.title!r} is {note.status} and cannot become {status}."
                )
            reason = one_line(outcome[: LONGEST_OUTCOME * 2])[:LONGEST_OUTCOME]
            tried = note.attempts if attempts is None else attempts
            return replace(note, status=status, outcome=reason, attempts=tried)

        return self._store.rewrite(id, change)

    def _check_needs(self, needs: Iterable[str]) -> tuple[str, ...]:
        required = tuple(dict.fromkeys(needs))
        if len(required) > MOST_NEEDS:
            raise InputError(f"a task can have at most {MOST_NEEDS:,} dependencies", field="needs")
        if required:
            graph = self.graph()
            for one in required:
                self._task(graph, one)
        return required

    @staticmethod
    def _task(graph: TaskGraph, id: str) -> NoteMetadata:  # noqa: A002
        task = graph.tasks.get(id)
        if task is None:
            raise UnknownNote(id)
        return task


Work: TypeAlias = Callable[[Note], Awaitable[str | None]]
"""Carries out a task and returns its result; an exception is the reason of its failure."""


@frozen
class Schedule:
    """
    Limits of a run.

    Args:
        parallel: The maximum number of tasks that run at once.
        attempts: The number of killed attempts after which a task counts as failed.
        seconds: The timeout of a task; None for none.

    Raises:
        BudgetError: A number is out of range.
    """

    parallel: int = 4
    attempts: int = 3
    seconds: float | None = None

    def __post_init__(self) -> None:
        whole("parallel", self.parallel, 1)
        whole("attempts", self.attempts, 1)
        if self.seconds is not None:
            positive("seconds", self.seconds)


@frozen
class RunReport:
    """
    The result of a run: ids of tasks by outcome.

    ``blocked`` and ``waiting`` are those that could not start; ``resumed`` are those that an
    earlier run left running.
    """

    done: tuple[str, ...]
    failed: tuple[str, ...]
    blocked: tuple[str, ...]
    waiting: tuple[str, ...]
    resumed: tuple[str, ...]


async def run_tasks(
    store: NoteStore, tasks: NoteTasks, work: Work, schedule: Schedule | None = None
) -> RunReport:
    """
    Run all tasks that can start, including those added meanwhile.

    Args:
        store: The store of the notes.
        tasks: The tasks.
        work: Carries out one task.
        schedule: The limits of the run.

    Raises:
        StoreError: Another run uses the folder, or a status cannot be recorded.
        asyncio.CancelledError: The run was cancelled; running tasks can start again.
    """
    lock = FolderLock(
        store.data.path / "running", 0.0, f"Another run uses the tasks of {store.folder.path}."
    )
    with lock.held():
        return await _Run(tasks, work, schedule or Schedule()).whole()


class _Run:
    def __init__(self, tasks: NoteTasks, work: Work, schedule: Schedule) -> None:
        self._tasks, self._work, self._schedule = tasks, work, schedule
        self._busy: dict[asyncio.Task[None], str] = {}
        self._done: list[str] = []
        self._failed: list[str] = []

    async def whole(self) -> RunReport:
        resumed = await asyncio.to_thread(self._resume_interrupted)
        try:
            while await self._fill():
                ended, _ = await asyncio.wait(self._busy, return_when=asyncio.FIRST_COMPLETED)
                for one in ended:
                    del self._busy[one]
                    one.result()
        finally:
            await self._stop()
        graph = await asyncio.to_thread(self._tasks.graph)
        return RunReport(
            tuple(self._done),
            tuple(self._failed),
            tuple(one.metadata.id for one in graph.in_state("blocked")),
            tuple(one.metadata.id for one in graph.in_state("waiting")),
            tuple(resumed),
        )

    async def _fill(self) -> bool:
        """Start all tasks that can start; return True if any is running."""
        free = self._schedule.parallel - len(self._busy)
        if free > 0:
            for metadata in (await asyncio.to_thread(self._tasks.ready))[:free]:
                try:
                    note = await asyncio.to_thread(self._tasks.start, metadata.id)
                except (NoteConflict, UnknownNote):
                    continue  # changed or deleted since
                doing = asyncio.create_task(self._do(note))
                self._busy[doing] = note.id
        return bool(self._busy)

    async def _do(self, note: Note) -> None:
        """Carry out a task, and record its outcome, even if the run is cancelled meanwhile."""
        step: Callable[[str, str], Note] = self._tasks.fail
        ended = self._failed
        try:
            async with asyncio.timeout(self._schedule.seconds):
                outcome = str(await self._work(note) or "")
            step, ended = self._tasks.finish, self._done
        except TimeoutError as error:
            timed_out = f"it took more than {self._schedule.seconds} seconds"
            outcome = redact_json(str(error)) or timed_out
        except asyncio.CancelledError:
            doing = asyncio.current_task()
            if doing is None or doing.cancelling():
                raise
            outcome = "it cancelled itself"
        except Exception as error:  # noqa: BLE001  # any exception fails the task
            outcome = explain_error(error)
        try:
            await run_to_end(asyncio.to_thread(step, note.id, outcome))
        except (NoteConflict, UnknownNote):
            return  # ended or deleted by hand, which takes precedence
        ended.append(note.id)

    async def _stop(self) -> None:
        """Cancel running tasks, and make them pending again."""
        for doing in self._busy:
            doing.cancel()
        if self._busy:
            await asyncio.wait(self._busy)
        for one in self._busy.values():
            self._give_back(one, "the run was cancelled")

    def _resume_interrupted(self) -> list[str]:
        """Make tasks of a killed run pending again, unless they were interrupted too often."""
        resumed = []
        for state in self._tasks.graph().in_state("running"):
            metadata = state.metadata
            if metadata.attempts >= self._schedule.attempts:
                self._tasks.fail(metadata.id, f"it was interrupted {metadata.attempts} times")
                self._failed.append(metadata.id)
            elif self._give_back(metadata.id, "it was interrupted"):
                resumed.append(metadata.id)
        return resumed

    def _give_back(self, one: str, why: str) -> bool:
        try:
            self._tasks.give_back(one, why)
        except (NoteConflict, UnknownNote):
            return False
        return True
