from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.notes.note import NoteMetadata, Status
from foldline.notes.task_graph import TaskGraph, find_cycle

NOW = datetime(2025, 1, 19, tzinfo=UTC)


def task(id: str, *needs: str, status: Status | None = "pending") -> NoteMetadata:  # noqa: A002
    return NoteMetadata(
        id=id, title=id, created_at=NOW, updated_at=NOW, status=status, needs=needs
    )


def states(*tasks: NoteMetadata) -> dict[str, str]:
    return {one: state.state for one, state in TaskGraph(tasks).states.items()}


@pytest.mark.requirement("E4.3")
def test_a_task_is_ready_when_all_that_it_needs_is_done() -> None:
    assert states(
        task("a", status="done"), task("b", "a"), task("c", "a", "b"), task("note", status=None)
    ) == {"a": "done", "b": "ready", "c": "waiting"}


def test_tasks_are_in_the_order_in_which_others_set_them_free() -> None:
    graph = TaskGraph([task("a"), task("b"), task("c", "b"), task("x", "x"), task("z", "a")])
    assert graph.order == ("a", "b", "z", "c")


@pytest.mark.requirement("E4.3")
def test_a_failure_blocks_all_dependents_with_the_reason() -> None:
    failed, free = task("a", status="failed"), task("free")
    graph = TaskGraph([failed, task("b", "a"), task("c", "b"), free, task("d", "free")])
    assert {one: s.state for one, s in graph.states.items()} == {
        "a": "failed", "b": "blocked", "c": "blocked", "free": "ready", "d": "waiting",
    }  # fmt: skip
    assert graph.states["c"].because == ("a",)
    assert graph.states["b"].why == "'a' failed"


def test_a_missing_dependency_blocks() -> None:
    assert TaskGraph([task("a", "deleted")]).states["a"].why == "deleted is no longer a task"


@pytest.mark.requirement("E4.3")
def test_the_parallel_limit_counts_running_tasks() -> None:
    graph = TaskGraph([task("a", status="running"), task("b"), task("c"), task("d")])
    assert [card.id for card in graph.ready(2)] == ["b"]
    assert graph.ready(1) == ()
    assert len(graph.ready()) == 3


def test_the_longest_way_ahead_begins_first() -> None:
    graph = TaskGraph([task("a"), task("b"), task("c", "b"), task("d", "c")])
    assert [card.id for card in graph.ready()] == ["b", "a"]
    assert graph.states["b"].height == 2


@pytest.mark.requirement("E4.3")
def test_a_cycle_in_edited_files_is_named_and_stops_nothing_else() -> None:
    graph = TaskGraph([task("a", "c"), task("b", "a"), task("c", "b"), task("d", "a"), task("e")])
    assert [card.id for card in graph.ready()] == ["e"]
    assert graph.cycles == (("a", "c", "b", "a"),)
    assert "a → c → b → a" in graph.states["d"].why
    assert set(graph.order) == {"e"}


def test_long_chains_need_no_recursion() -> None:
    chain = [task(f"{n:05d}", f"{n - 1:05d}") for n in range(1, 5_000)]
    graph = TaskGraph([task("00000"), *chain])
    assert graph.states["00000"].height == 4_999
    ring = TaskGraph([task("00000", "04999"), *chain])
    assert [len(found) for found in ring.cycles] == [5_001]


@given(
    st.dictionaries(
        st.integers(0, 12),
        st.tuples(
            st.sets(st.integers(0, 14), max_size=4),
            st.sampled_from(["pending", "running", "done", "failed", "cancelled"]),
        ),
        max_size=13,
    )
)
def test_every_task_has_a_state_and_ready_ones_have_no_open_dependency(
    drawn: dict[int, tuple[set[int], Status]],
) -> None:
    entries = [task(str(n), *map(str, sorted(needs)), status=s) for n, (needs, s) in drawn.items()]
    graph = TaskGraph(entries)
    assert graph.states.keys() == graph.tasks.keys()
    done = {card.id for card in entries if card.status == "done"}
    for one in graph.ready():
        assert set(one.needs) <= done
    for found in graph.cycles:
        for here, after in pairwise(found):
            assert after in graph.tasks[here].needs
    place = {one: at for at, one in enumerate(graph.order)}
    for one in graph.order:
        assert all(place[need] < place[one] for need in graph.tasks[one].needs if need in place)


def test_a_cycle_is_returned_with_both_ends() -> None:
    assert find_cycle({"a": ["b"], "b": ["c", "d"], "d": ["a"]}, "a") == ("a", "b", "d", "a")
    assert find_cycle({"a": ["a"]}, "a") == ("a", "a")
    assert find_cycle({"a": ["b"], "b": ["b"]}, "a") == ()
