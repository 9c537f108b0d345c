"""Changes of a memory: updating, forgetting, restoring."""

import asyncio
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.folders import in_memory
from tests.memory.remembered import DAY, START, contents

from foldline.errors import BudgetError, InputError, StoreError
from foldline.memory import Memory, MemoryLimits
from foldline.memory.item_store import ItemStore

# --- changing ----------------------------------------------------------------------------------


@pytest.mark.requirement("T11")
def test_an_update_keeps_the_id_and_the_past(memory, clock):
    item = memory.add("Ann lives in Rome", metadata={"a": 1}).item
    clock.now += DAY
    new = memory.update(item.id, content="Ann lives in Oslo", importance=2, metadata={"b": 2})
    assert (new.id, new.revision, new.importance) == (item.id, 2, 1.0)
    assert new.metadata == {"a": 1, "b": 2}
    assert contents(memory.search("where does Ann live")) == ["Ann lives in Oslo"]
    assert memory.search("Rome") == []
    assert [(i.content, state) for i, state in memory.history(item.id)] == [
        ("Ann lives in Rome", "updated"),
        ("Ann lives in Oslo", "live"),
    ]


@pytest.mark.requirement("T8", "T11")
def test_only_existing_memories_can_be_changed_or_removed(memory):
    for act in (memory.update, memory.remove):
        with pytest.raises(InputError, match="nobody"):
            act("nobody")


@pytest.mark.requirement("T8")
def test_a_removed_memory_is_not_found_until_undo(memory):
    item = memory.add("a secret plan").item
    done = memory.remove(item.id)
    assert memory.search("secret") == []
    assert memory.undo(done.batch) == (item.id,)
    assert contents(memory.search("secret")) == ["a secret plan"]
    assert memory.undo(done.batch) == ()


@pytest.mark.requirement("T13")
@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({"by": "importance", "threshold": 0.5}, {5, 6, 7, 8, 9}),
        ({"by": "time", "max_age": 4.5 * DAY}, {0, 1, 2, 3, 4}),
        ({"by": "capacity", "keep": 3}, {7, 8, 9}),
        ({"by": "capacity", "keep": 0, "kinds": ["semantic"]}, set(range(0, 10, 2))),
    ],
)
def test_forgetting_selects_as_requested_and_can_be_undone(memory, arguments, left):
    for n in range(10):
        kind = ("episodic", "semantic")[n % 2]
        memory.add(f"memory {n}", kind=kind, importance=n / 10, happened=START - n * DAY)
    done = memory.forget(**arguments)
    assert {int(item.content[-1]) for item in memory.items()} == left
    assert len(done.ids) == 10 - len(left)
    assert set(memory.undo(done.batch)) == set(done.ids)
    assert len(memory.items()) == 10


def test_forgetting_nothing_or_by_an_unknown_strategy(memory):
    assert memory.forget("importance").ids == ()
    with pytest.raises(InputError, match="time"):
        memory.forget("mood")


@pytest.mark.requirement("T13")
def test_consolidating_raises_importance_to_1_at_most_and_names_the_parent(memory):
    low = memory.add("trivial", kind="working", importance=0.3).item
    high = memory.add("vital", kind="working", importance=0.95).item
    (made,) = memory.consolidate()
    assert (made.kind, made.importance, made.parents) == ("episodic", 1.0, (high.name,))
    assert made.expires is None
    assert [item.id for item in memory.items(kinds=["working"])] == [low.id]
    assert memory.history(high.id)[-1][1] == f"consolidated into {made.id}"
    assert memory.consolidate() == ()


@pytest.mark.requirement("T13")
def test_consolidating_a_known_memory_refreshes_it(memory):
    old = memory.add("vital", kind="episodic", importance=0.2).item
    memory.add("vital", kind="working", importance=0.8)
    (made,) = memory.consolidate()
    assert made.id == old.id
    assert made.importance == pytest.approx(0.88)
    assert memory.stats()["count"] == 1


@pytest.mark.requirement("T13")
def test_consolidating_is_all_or_nothing(memory, monkeypatch):
    for n in range(3):
        memory.add(f"vital {n}", kind="working", importance=0.9)
    written, calls = ItemStore._row, count()

    def failing(*arguments):
        if next(calls) == 2:
            raise ConnectionError("the embedder is away")
        return written(*arguments)

    monkeypatch.setattr(ItemStore, "_row", failing)
    with pytest.raises(ConnectionError):
        memory.consolidate()
    assert memory.stats()["kinds"]["working"]["count"] == 3
    with pytest.raises(InputError, match="itself"):
        memory.consolidate("working", "working")


@pytest.mark.requirement("T11")
def test_users_see_only_their_own_and_clear_only_their_own(place):
    ann, bob = (Memory.open(place, user=user) for user in ("ann", "bob"))
    with ann, bob:
        mine, theirs = (one.add("the shared secret").item for one in (ann, bob))
        assert [found.item.id for found in ann.search("secret")] == [mine.id]
        assert ann.get(theirs.id) is None
        assert ann.history(theirs.id) == ()
        with pytest.raises(InputError):
            ann.remove(theirs.id)
        assert ann.clear() == 1
        assert ann.search("secret") == []
        assert ann.stats()["past_revisions"] == 0
        assert [found.item.id for found in bob.search("secret")] == [theirs.id]
        assert ann.add("the shared secret").status == "added"


# --- staying -----------------------------------------------------------------------------------


@pytest.mark.requirement("T10")
def test_the_answers_after_a_restart_are_those_before(place, clock):
    def answers(memory):
        return (
            memory.search("Which fruit did Bob buy on 2 January 2026?"),
            memory.items(),
            memory.stats(),
            memory.summary(),
        )

    with Memory.open(place, clock=clock) as memory:
        ids = [
            memory.add(
                f"Bob bought {n} {fruit}s", session="market", author=("Ann", "Bob")[n % 2],
                happened=START + n * DAY / 4,
            ).item.id
            for n, fruit in enumerate(["apple", "pear", "plum", "fig", "melon", "kiwi"])
        ]  # fmt: skip
        memory.update(ids[1], content="Bob bought a quince")
        batch = memory.remove(ids[2]).batch
        before = answers(memory)
    with Memory.open(place, clock=clock) as memory:
        assert answers(memory) == before
        assert memory.undo(batch) == (ids[2],)


@pytest.mark.requirement("T10")
def test_changes_of_another_process_are_visible_at_once(place):
    one, other = (Memory.open(place) for _ in range(2))
    with one, other:
        item = one.add("the red boat").item
        assert contents(other.search("boat")) == ["the red boat"]
        other.update(item.id, content="the green boat")
        assert contents(one.search("boat")) == ["the green boat"]
        batch = one.remove(item.id).batch
        assert other.search("boat") == []
        other.undo(batch)
        assert contents(one.search("boat")) == ["the green boat"]
        other.clear()
        one.add("a blue boat")
        assert contents(other.search("boat")) == ["a blue boat"]


def test_a_file_of_something_else_is_left_alone(tmp_path, place):
    path = tmp_path / "notes.txt"
    path.write_text("my notes, certainly no database of any kind\n" * 100)
    with pytest.raises(StoreError, match="not a SQLite file"):
        Memory.open(path)
    assert path.read_text().startswith("my notes")
    with pytest.raises(InputError, match="user"):
        Memory.open(place, user="")


@pytest.mark.requirement("T8")
def test_the_summary_names_the_most_important_and_the_latest(memory, clock):
    assert memory.summary() == "There are no memories yet."
    memory.add("vital: the key is under the mat", kind="semantic", importance=0.9)
    for n in range(30):
        clock.now += 1
        memory.add(f"small talk {n}", importance=0.1)
    told = memory.summary(3)
    assert told.startswith("31 memories, ")
    assert "vital" in told.split("Latest:")[0]
    assert "small talk 29" in told


def test_a_memory_can_be_awaited(memory):
    async def work():
        added = await memory.aadd("the launch is in May", importance=0.9, kind="working")
        found = await memory.asearch("launch", limit=1)
        new = await memory.aupdate(added.item.id, content="the launch is in June")
        (made,) = await memory.aconsolidate()
        done = await memory.aremove(made.id)
        forgotten = await memory.aforget("time", max_age=0.0)
        return found[0].item.content, new.revision, done.ids == (made.id,), forgotten.ids

    assert asyncio.run(work()) == ("the launch is in May", 2, True, ())


def test_invalid_limits_are_errors():
    for wrong in ({"working_items": 0}, {"boost": float("nan")}, {"longest": "much"}):
        with pytest.raises(BudgetError):
            MemoryLimits(**wrong)


def test_a_limit_is_any_finite_number_above_0():
    large = MemoryLimits(boost=1e13, fade=10**13)
    assert (large.boost, large.fade) == (1e13, 10**13)
    for wrong in (0, -1, True, "much", None, float("inf"), float("nan"), 10**400):
        with pytest.raises(BudgetError, match=r"boost of a memory is .* a finite number above 0"):
            MemoryLimits(boost=wrong)


def test_an_embedding_that_fails_leaves_nothing_behind(place):
    class Away:
        name, dimensions = "away", 2

        def understands(self, text):
            return bool(text)

        def embed(self, texts):
            raise ConnectionError(f"{len(texts)} texts were not embedded")

    with Memory.open(place, embedder=Away()) as memory:
        with pytest.raises(ConnectionError):
            memory.add("something")
        assert memory.stats()["count"] == 0


def test_vectors_are_kept_and_compared_by_the_model_that_made_them(place):
    pytest.importorskip("numpy")

    class Topic:
        dimensions = 2

        def __init__(self, name):
            self.name = name

        def understands(self, text):
            return bool(text)

        def embed(self, texts):
            return [[1.0, 0.1] if "animal" in t or "zebra" in t else [0.0, 1.0] for t in texts]

    with Memory.open(place, embedder=Topic("one")) as memory:
        memory.add("zebra")
        memory.add("engine")
        assert contents(memory.search("which animal?", limit=1)) == ["zebra"]
        assert memory.stats()["kinds"]["episodic"]["vectors"] == 2
    with Memory.open(place, embedder=Topic("two")) as memory:
        assert memory.search("which animal?") == []
    with Memory.open(place, embedder=Topic("one")) as memory:
        assert contents(memory.search("which animal?", limit=1)) == ["zebra"]


def test_a_memory_is_embedded_only_when_its_content_changes(place):
    pytest.importorskip("numpy")
    asked = []

    class Counting:
        name, dimensions = "counting", 2

        def understands(self, text):
            return bool(text)

        def embed(self, texts):
            asked.extend(texts)
            return [[1.0, 0.0] for _ in texts]

    with Memory.open(place, embedder=Counting()) as memory:
        for content in ("vital", "new"):
            memory.add(content, kind="working", importance=0.8)
        memory.add("Vital!", kind="episodic")
        asked.clear()

        made = memory.consolidate()
        memory.update(made[0].id, importance=0.9, metadata={"a": 1})

        assert asked == []
        assert memory.stats()["kinds"]["episodic"]["vectors"] == 2
        memory.update(made[0].id, content="other")
        assert asked == ["other"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "remove", "forget", "undo", "consolidate"]), st.integers(0, 4)
        ),
        max_size=12,
    )
)
def test_the_index_always_matches_the_file(steps):
    batches = [0]
    with (
        tempfile.TemporaryDirectory(dir=in_memory()) as folder,
        Memory.open(Path(folder, "m.db")) as memory,
    ):
        for step, n in steps:
            live = memory.items(order="happened")
            if step == "add":
                kind = ("working", "episodic", "semantic")[n % 3]
                memory.add(f"word{n} shared", kind=kind, importance=n / 4)
            elif step == "remove" and live:
                batches.append(memory.remove(live[n % len(live)].id).batch)
            elif step == "forget":
                batches.append(memory.forget("capacity", keep=n).batch)
            elif step == "undo":
                memory.undo(batches[-1])
            elif step == "consolidate":
                memory.consolidate(min_importance=0.5)
            assert {f.item.id for f in memory.search("shared", limit=99)} == {
                item.id for item in memory.items(limit=99)
            }


@pytest.mark.requirement("T11")
def test_an_update_is_validated_like_an_addition(memory, clock):
    item = memory.add("at hand", kind="working", metadata={"half": "\ud800"}).item
    for changes in (
        {"metadata": {"a": object()}},
        {"metadata": {"a": "x" * 30_000}},
        {"metadata": {"a": float("nan")}},
        {"content": "word " * 10_000},
    ):
        with pytest.raises(InputError):
            memory.update(item.id, **changes)
    assert memory.get(item.id) == item
    clock.now += DAY
    with pytest.raises(InputError, match="is expired"):
        memory.update(item.id, content="too late")


@pytest.mark.requirement("T11")
def test_the_same_words_are_kept_once_after_the_first_expired(memory, clock):
    memory.add("at hand", kind="working")
    clock.now += DAY
    said = [memory.add("at hand", kind="working").status for _ in range(3)]
    assert said == ["added", "known", "known"]


@pytest.mark.requirement("T8")
def test_undo_skips_memories_added_again_since(memory):
    done = memory.remove(memory.add("the same words").item.id)
    again = memory.add("the same words").item
    assert memory.undo(done.batch) == ()
    assert memory.items() == [again]


@pytest.mark.parametrize("batch", [1 << 70, -1, "1", None])
def test_an_unknown_batch_is_refused(memory, batch):
    with pytest.raises(InputError, match="batch"):
        memory.undo(batch)
