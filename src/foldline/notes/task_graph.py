"""
Tasks that need each other: which can begin, which wait, and which cannot go on, and why.

Only what happened to a task itself is kept; that it is blocked follows from the others. So a task
is never lost by the failure of another, and is free again as soon as that one is repaired.
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
"""So many tasks of a cycle are named at most."""


@frozen
class TaskState:
    """
    How a task stands.

    ``height`` is how many tasks follow on each other after it, at most. ``because`` are the ids of
    the tasks that it waits for, or that keep it from beginning, with those behind them.
    """

    metadata: NoteMetadata = field(repr=False)
    state: State
    height: int = 0
    because: tuple[str, ...] = ()
    why: str = ""

    @property
    def first(self) -> tuple[int, str]:
        """What to sort ready tasks by: the longest way ahead first, then the oldest."""
        return -self.height, self.metadata.id


class TaskGraph:
    """
    The tasks among notes, and how they stand.

    ``standings`` holds how each stands, by id; ``order`` the ids, each after those it needs.
    ``cycles`` are tasks that wait for each other, the first one again at the end; nothing here
    makes them, but somebody who edits the files may.

    Args:
        entries: Notes; those without a status are no tasks, and left out.
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
        self.standings: Mapping[str, TaskState] = found
        self.cycles: tuple[tuple[str, ...], ...] = tuple(sorted(cycles))

    def in_state(self, *states: State) -> tuple[TaskState, ...]:
        """Return the tasks in these states, those first that should begin first."""
        found = (one for one in self.standings.values() if one.state in states)
        return tuple(sorted(found, key=lambda one: one.first))

    def ready(self, parallel: int | None = None) -> tuple[NoteMetadata, ...]:
        """
        Return the tasks that can begin now.

        Args:
            parallel: How many may run at once, with those that run already; None for any number.
        """
        entries = tuple(one.metadata for one in self.in_state("ready"))
        if parallel is None:
            return entries
        return entries[: max(0, parallel - len(self.in_state("running")))]


def find_cycle(needs: Mapping[str, Iterable[str]], start: str) -> tuple[str, ...]:
    """
    Find a way from a task back to itself.

    Args:
        needs: The ids that each id needs.
        start: Where to begin.

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
    """Return the tasks, each after those it needs; those on or behind a cycle are left out."""
    needs = {one: {*metadata.needs} & tasks.keys() for one, metadata in tasks.items()}
    sorter, out = TopologicalSorter(needs), list[str]()
    with suppress(CycleError):  # it goes on as far as no cycle is in the way
        sorter.prepare()
    out += sorted(sorter.get_ready())
    for one in out:  # it grows meanwhile: those that a task sets free come one after another
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
    """Return what happened to a task itself; None where that is nothing."""
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
    """Find for every task that is on or behind a cycle one that it leads to."""
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
    return f"these wait for each other: {' → '.join(labels)}"


def _state_in_ring(metadata: NoteMetadata, because: tuple[str, ...], why: str) -> TaskState:
    """Return the state of a task that waits for itself, or for others that do."""
    own = _own_state(metadata)
    return TaskState(metadata, own) if own else TaskState(metadata, "blocked", 0, because, why)
