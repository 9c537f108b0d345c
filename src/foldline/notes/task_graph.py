"""
The dependency graph of tasks: which are ready, which wait, and which are blocked, and why.

Only the status of a task itself is stored; that it is blocked is derived from the others. So a
task is never lost by the failure of another, and is ready again as soon as that one is repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import Final, Literal, TypeAlias

from foldline.frozen import field, frozen
from foldline.notes.note import NoteMetadata

State: TypeAlias = Literal["ready", "waiting", "blocked", "running", "done", "failed", "cancelled"]

STOPPED: Final = ("failed", "cancelled")

NAMED: Final = 10
"""The maximum number of tasks of a cycle that are named."""


@frozen
class TaskState:
    """
    The state of a task.

    ``height`` is the length of the longest chain of tasks that depend on it. ``because`` are the
    ids of the tasks it waits for, or of the root causes that block it.
    """

    metadata: NoteMetadata = field(repr=False)
    state: State
    height: int = 0
    because: tuple[str, ...] = ()
    why: str = ""

    @property
    def first(self) -> tuple[int, str]:
        """The sort key of ready tasks: the longest dependent chain first, then the oldest."""
        return -self.height, self.metadata.id


class TaskGraph:
    """
    The tasks among notes, and their states.

    ``states`` holds the state of each task, by id; ``order`` the ids in topological order.
    ``cycles`` are tasks that depend on each other, the first repeated at the end; they can only
    come from edits of the files by hand.

    Args:
        entries: Notes; those without a status are not tasks and are ignored.
    """

    def __init__(self, entries: Iterable[NoteMetadata]) -> None:
        tasks = {metadata.id: metadata for metadata in entries if metadata.status is not None}
        self.tasks: Mapping[str, NoteMetadata] = tasks
        order = _sort(tasks)
        self.order: tuple[str, ...] = tuple(order)
        heights = _heights(tasks, order)
        found: dict[str, TaskState] = {}
        for one in order:
            found[one] = _state_of(tasks[one], tasks, found, heights[one])
        rings = _rings(tasks, tasks.keys() - found.keys())
        cycles = {ring: (ring[:-1], _describe_ring(ring, tasks)) for ring in set(rings.values())}
        for one, ring in rings.items():
            found[one] = _state_in_ring(tasks[one], *cycles[ring])
        self.states: Mapping[str, TaskState] = found
        self.cycles: tuple[tuple[str, ...], ...] = tuple(sorted(cycles))

    def in_state(self, *states: State) -> tuple[TaskState, ...]:
        """Return the tasks in these states, in the order in which they should start."""
        found = (one for one in self.states.values() if one.state in states)
        return tuple(sorted(found, key=lambda one: one.first))

    def ready(self, parallel: int | None = None) -> tuple[NoteMetadata, ...]:
        """
        Return the tasks that can start now.

        Args:
            parallel: The maximum number of running tasks, including current ones; None for any.
        """
        entries = tuple(one.metadata for one in self.in_state("ready"))
        if parallel is None:
            return entries
        return entries[: max(0, parallel - len(self.in_state("running")))]


def find_cycle(needs: Mapping[str, Iterable[str]], start: str) -> tuple[str, ...]:
    """
    Find a dependency cycle through a task.

    Args:
        needs: The ids that each id needs.
        start: The task.

    Returns:
        The cycle, the same id at both ends; empty if there is none.
    """
    came: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for one in needs.get(here, ()):
            if one == start:
                way = [here]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return (*reversed(way), start)
            if one not in came:
                came[one] = here
                waiting.append(one)
    return ()


def _sort(tasks: Mapping[str, NoteMetadata]) -> list[str]:
    """Return the tasks in topological order, without those on or behind a cycle."""
    needs = {one: {*metadata.needs} & tasks.keys() for one, metadata in tasks.items()}
    sorter, out = TopologicalSorter(needs), list[str]()
    with suppress(CycleError):  # it continues as far as possible without the cycle
        sorter.prepare()
    out += sorted(sorter.get_ready())
    for one in out:  # the list grows as tasks become ready
        sorter.done(one)
        out += sorted(sorter.get_ready())
    return out


def _heights(tasks: Mapping[str, NoteMetadata], order: list[str]) -> dict[str, int]:
    heights = dict.fromkeys(tasks, 0)
    for one in reversed(order):
        for need in tasks[one].needs:
            if need in heights:
                heights[need] = max(heights[need], heights[one] + 1)
    return heights


def _own_state(metadata: NoteMetadata) -> State | None:
    """Return the state of a task by its own status; None if it depends on other tasks."""
    status = metadata.status
    return None if status is None or status == "pending" else status


def _state_of(
    metadata: NoteMetadata,
    tasks: Mapping[str, NoteMetadata],
    found: Mapping[str, TaskState],
    height: int,
) -> TaskState:
    own = _own_state(metadata)
    if own is not None:
        return TaskState(metadata, own, height)
    broken: list[str] = []
    roots: list[str] = []
    open_: list[str] = []
    for need in metadata.needs:
        before = found.get(need)
        if before is None:
            broken.append(f"{need} is no longer a task")
            roots.append(need)
        elif before.state in STOPPED:
            broken.append(f"{before.metadata.title!r} {before.state}")
            roots.append(need)
        elif before.state == "blocked":
            broken.append(f"{before.metadata.title!r} is blocked")
            roots += before.because
        elif before.state != "done":
            open_.append(need)
    if broken:
        return TaskState(
            metadata, "blocked", height, tuple(dict.fromkeys(roots)), "; ".join(broken)
        )
    if open_:
        titles = ", ".join(repr(tasks[need].title) for need in open_)
        return TaskState(metadata, "waiting", height, tuple(open_), f"waits for {titles}")
    return TaskState(metadata, "ready", height)


def _rings(tasks: Mapping[str, NoteMetadata], circling: Set[str]) -> dict[str, tuple[str, ...]]:
    """Return, for every task on or behind a cycle, a cycle that it leads to."""
    rings: dict[str, tuple[str, ...]] = {}
    for start in sorted(circling):
        way: dict[str, int] = {}
        here = start
        while here not in way and here not in rings:
            way[here] = len(way)
            here = next(need for need in tasks[here].needs if need in circling)
        ring = rings.get(here)
        if ring is None:
            ring = (*list(way)[way[here] :], here)
        rings.update(dict.fromkeys(way, ring))
    return rings


def _describe_ring(ring: tuple[str, ...], tasks: Mapping[str, NoteMetadata]) -> str:
    titles = [tasks[one].title for one in ring]
    labels = titles if len(titles) <= NAMED else [*titles[: NAMED - 1], "…", titles[-1]]
    return f"these depend on each other: {' → '.join(labels)}"


def _state_in_ring(metadata: NoteMetadata, because: tuple[str, ...], why: str) -> TaskState:
    """Return the state of a task that depends on itself, or on others that do."""
    own = _own_state(metadata)
    return TaskState(metadata, own) if own else TaskState(metadata, "blocked", 0, because, why)
