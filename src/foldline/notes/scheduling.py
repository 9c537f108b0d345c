"""
Doing tasks: as many at once as may be, each as soon as what it needs is done.

Every step is in the file of its task before the next is taken, so that a run that was killed is
taken up by the next one. A task that was under way then is begun again: what it does must bear
that. One run at a time holds a folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from foldline.core.validation import positive, whole
from foldline.notes.locking import FolderLock
from foldline.notes.note import Note
from foldline.notes.problems import NoteConflict, UnknownNote
from foldline.notes.shelf import Shelf
from foldline.notes.tasks import Tasks
from foldline.redaction import explained, redacted

Work: TypeAlias = Callable[[Note], Awaitable[str | None]]
"""Does a task, and returns what came of it; what it raises is why the task failed."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """
    How tasks are done.

    Args:
        parallel: How many at once.
        attempts: How often a task is begun whose run was killed, before it counts as failed.
        seconds: How long one may take; None for any time.

    Raises:
        BudgetError: A number makes no sense.
    """

    parallel: int = 4
    attempts: int = 3
    seconds: float | None = None

    def __post_init__(self) -> None:
        whole("parallel", self.parallel, 1)
        whole("attempts", self.attempts, 1)
        if self.seconds is not None:
            positive("seconds", self.seconds)


@dataclass(frozen=True, slots=True)
class RunReport:
    """
    What a run did: ids of tasks by what became of them.

    ``blocked`` and ``waiting`` are those that could not begin; ``resumed`` those that a run before
    had left under way.
    """

    done: tuple[str, ...]
    failed: tuple[str, ...]
    blocked: tuple[str, ...]
    waiting: tuple[str, ...]
    resumed: tuple[str, ...]


async def run_tasks(
    shelf: Shelf, tasks: Tasks, work: Work, schedule: Schedule | None = None
) -> RunReport:
    """
    Do all tasks that can be done, also those that are added meanwhile.

    Args:
        shelf: Where they are kept.
        tasks: The tasks.
        work: Does one.
        schedule: How many at once, how often, how long.

    Raises:
        StoreError: Another run holds the folder, or a step cannot be recorded.
        asyncio.CancelledError: The run was cancelled; what was under way can begin again.
    """
    lock = FolderLock(
        shelf.inside.path / "running", 0.0, f"Another run does the tasks of {shelf.folder.path}."
    )
    with lock.held():
        return await _Run(tasks, work, schedule or Schedule()).whole()


class _Run:
    def __init__(self, tasks: Tasks, work: Work, schedule: Schedule) -> None:
        self._tasks, self._work, self._schedule = tasks, work, schedule
        self._busy: dict[asyncio.Task[None], str] = {}
        self._done: list[str] = []
        self._failed: list[str] = []

    async def whole(self) -> RunReport:
        resumed = await asyncio.to_thread(self._take_up)
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
            tuple(one.card.id for one in graph.in_state("blocked")),
            tuple(one.card.id for one in graph.in_state("waiting")),
            tuple(resumed),
        )

    async def _fill(self) -> bool:
        """Begin what can begin; tell whether anything is under way."""
        free = self._schedule.parallel - len(self._busy)
        if free > 0:
            for card in (await asyncio.to_thread(self._tasks.ready))[:free]:
                try:
                    note = await asyncio.to_thread(self._tasks.start, card.id)
                except (NoteConflict, UnknownNote):
                    continue  # somebody changed or deleted it since
                doing = asyncio.create_task(self._do(note))
                self._busy[doing] = note.id
        return bool(self._busy)

    async def _do(self, note: Note) -> None:
        try:
            async with asyncio.timeout(self._schedule.seconds):
                outcome = await self._work(note)
        except TimeoutError as error:
            told = redacted(str(error)) or f"it took more than {self._schedule.seconds} seconds"
            await self._record(self._tasks.fail, note.id, told, self._failed)
        except asyncio.CancelledError:
            doing = asyncio.current_task()
            if doing is None or doing.cancelling():
                raise
            await self._record(self._tasks.fail, note.id, "it called itself off", self._failed)
        except Exception as error:  # noqa: BLE001  # whatever it raises is why the task failed
            told = explained(error)
            await self._record(self._tasks.fail, note.id, told, self._failed)
        else:
            await self._record(self._tasks.finish, note.id, str(outcome or ""), self._done)

    async def _record(
        self, step: Callable[[str, str], Note], one: str, told: str, ended: list[str]
    ) -> None:
        """Record how a task ended, even when the run is cancelled just then."""
        recording = asyncio.ensure_future(asyncio.to_thread(step, one, told))
        try:
            await asyncio.shield(recording)
        except (NoteConflict, UnknownNote):
            return  # somebody ended or deleted it by hand; what they say holds
        except asyncio.CancelledError:
            await asyncio.wait([recording])
            raise
        ended.append(one)

    async def _stop(self) -> None:
        """Cancel what is under way, and let it begin again."""
        for doing in self._busy:
            doing.cancel()
        if self._busy:
            await asyncio.wait(self._busy)
        for one in self._busy.values():
            self._give_back(one, "the run was cancelled")

    def _take_up(self) -> list[str]:
        """Let begin again what a run that was killed had begun, unless it was too often."""
        resumed = []
        for standing in self._tasks.graph().in_state("running"):
            card = standing.card
            if card.attempts >= self._schedule.attempts:
                self._tasks.fail(card.id, f"it was interrupted {card.attempts} times")
                self._failed.append(card.id)
            elif self._give_back(card.id, "it was interrupted"):
                resumed.append(card.id)
        return resumed

    def _give_back(self, one: str, why: str) -> bool:
        try:
            self._tasks.give_back(one, why)
        except (NoteConflict, UnknownNote):
            return False
        return True
