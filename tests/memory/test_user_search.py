"""Search inside PostgreSQL: like that of a file, with or without a vector index."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import psycopg
import pytest
from tests.memory.remembered import DAY, START, contents

from foldline.errors import StoreError
from foldline.memory import Memory
from foldline.memory import database as database_module
from foldline.memory import user_search as search_module
from foldline.memory import vector_index as vector_index_module
from foldline.memory.knowledge import Knowledge
from foldline.postgres.schema import PostgresSchema

numpy = pytest.importorskip("numpy")

TOPICS = ("harbour", "kitchen", "garden", "railway", "orchestra")


class Topics:
    """An embedder: the vectors of texts about the same topic are similar."""

    name, dimensions = "topics-1", 16

    def understands(self, text: str) -> bool:
        return bool(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = numpy.random.default_rng(sum(text.encode())).standard_normal(16) * 0.1
        for number, topic in enumerate(TOPICS):
            vector[number] += topic in text
        return list(vector / numpy.linalg.norm(vector))


def fill(memory: Memory, count: int) -> None:
    chance = random.Random(3)  # noqa: S311
    for number in range(count):
        topic = chance.choice(TOPICS)
        memory.add(
            f"{topic} {number}: {' '.join(chance.choices(WORDS, k=6))}",
            kind=chance.choice(["episodic", "semantic"]),
            importance=round(chance.random(), 2),
            happened=START - number * DAY,
            session=f"talk {number // 8}",
            author=chance.choice(["Ann Lee", "Bob", ""]),
        )


WORDS = [f"{a}{b}" for a in ("bel", "cor", "dan", "fir", "gol") for b in ("ta", "mi", "ro", "ve")]
QUESTIONS = (
    "belta cormi",
    "What did Bob say about danro?",
    "the harbour in December 2025",
    "orchestra",
    "zebra",
    "",
)


@pytest.mark.requirement("T8")
def test_a_database_finds_and_ranks_like_a_file(tmp_path, postgres_url, clock):
    places = (tmp_path / "m.db", postgres_url)
    file, database = (Memory.open(one, embedder=Topics(), clock=clock) for one in places)
    with file, database:
        for memory in (file, database):
            fill(memory, 60)
        for question in QUESTIONS:
            for filters in ({}, {"kinds": ["semantic"]}, {"min_importance": 0.5}):
                one, other = (memory.search(question, **filters) for memory in (file, database))
                assert contents(one) == contents(other), question
                scores = [[hit.score for hit in hits] for hits in (one, other)]
                assert scores[0] == pytest.approx(scores[1], rel=0.01)


@pytest.mark.parametrize(("narrow", "lookups"), [(0, 0), (1000, 0), (1000, 1000)])
@pytest.mark.parametrize(
    "filters",
    [
        {"session": "old"},
        {"kinds": ["episodic"]},
        {"min_importance": 0.9},
        {"time_range": (None, START)},
        {},
    ],
    ids=lambda filters: " ".join(filters) or "expiry",
)
def test_admitted_memories_are_found_behind_any_number_of_newer_ones(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, clock, filters, narrow: int, lookups: int
) -> None:
    monkeypatch.setattr(search_module, "MOST_POSTINGS", 5)
    monkeypatch.setattr(search_module, "NARROW", narrow)
    monkeypatch.setattr(search_module, "LOOKUPS", lookups)
    words = "rocket launch codename"
    with Memory.open(postgres_url, clock=clock) as memory:
        memory.add(
            f"{words} Heron", kind="episodic", importance=0.9, happened=START, session="old"
        )
        for number in range(20):
            memory.add(
                f"{words} {number}",
                kind="semantic" if filters else "working",
                importance=0.1,
                happened=START + DAY,
                session="new",
            )
        clock.now += 2 * DAY
        assert contents(memory.search(words, **filters)) == [f"{words} Heron"]


@pytest.mark.parametrize("lookups", [0, 1000])
def test_rare_words_of_others_do_not_exhaust_the_budget_of_a_narrow_filter(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, lookups: int
) -> None:
    monkeypatch.setattr(search_module, "MOST_POSTINGS", 5)
    monkeypatch.setattr(search_module, "LOOKUPS", lookups)
    with Memory.open(postgres_url) as memory:
        memory.add("The rocket is called Heron", session="old")
        for number in range(20):
            memory.add(f"rocket {number} {'zebra' * (number < 6)}", session="new")
        found = memory.search("zebra rocket", session="old")
        assert contents(found) == ["The rocket is called Heron"]


def test_the_only_memory_with_all_words_is_found_among_thousands_that_a_filter_admits(
    postgres_url: str,
) -> None:
    with Memory.open(postgres_url) as memory:
        memory.add("alpha beta", kind="semantic", happened=START)
        with psycopg.connect(postgres_url) as connection:
            connection.execute(MANY, {"start": START + DAY})
        memory.add("alpha last", happened=START + 9_000 * DAY)
        found = memory.search("alpha beta", kinds=["semantic"], limit=3)
        assert contents(found)[0] == "alpha beta"


MANY = """
    WITH made AS (SELECT n, CASE WHEN n %% 2 = 0 THEN 'alpha' ELSE 'beta' END AS word
        FROM generate_series(1, 8000) AS n),
    noted AS (UPDATE foldline_memory.users SET clock = clock + 1 RETURNING clock)
    INSERT INTO foldline_memory.memories ("user", id, revision, kind, content, importance,
        happened, added, tokens, session, author, source, parents, seen, metadata, fingerprint,
        terms, cut, model, state, reason, changed)
    SELECT old."user", 'm' || n, 1, CASE WHEN n %% 8 < 2 THEN 'semantic' ELSE 'episodic' END,
        word || ' note', 0.5, %(start)s + n, %(start)s + n, 3, '', '', '', '[]', 1, '{}',
        decode(md5(n::text), 'hex'), word || ' note', old.cut, '', 'live', '', noted.clock
    FROM made, noted, foldline_memory.memories AS old WHERE old.content = 'alpha beta'
"""


def test_of_equal_memories_the_latest_are_found(postgres_url: str) -> None:
    with Memory.open(postgres_url) as memory:
        for number in range(200):
            memory.add(f"rocket, note {number}", happened=START + number * DAY)
        found = contents(memory.search("rocket", limit=5))
        assert found == [f"rocket, note {number}" for number in range(199, 194, -1)]


@pytest.fixture
def indexed(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory whose vectors are always searched by the index."""
    monkeypatch.setattr(vector_index_module, "NARROW", 0)
    monkeypatch.setattr(vector_index_module, "FEWEST", 0)
    with Memory.open(postgres_url, embedder=Topics()) as memory:
        fill(memory, 80)
        yield memory


def test_the_vector_index_finds_admitted_memories(indexed: Memory) -> None:
    for topic in TOPICS:
        found = indexed.search(topic.upper() + " " + topic, kinds=["semantic"], limit=5)
        assert {hit.item.kind for hit in found} == {"semantic"}
        assert all(topic in hit.item.content for hit in found[:3])


def test_forgotten_memories_leave_the_vector_index_until_undo(
    indexed: Memory, postgres_url: str
) -> None:
    def vectors() -> int:
        with psycopg.connect(postgres_url) as connection:
            row = connection.execute("SELECT count(*) FROM foldline_memory.near").fetchone()
        return int(row[0]) if row else 0

    assert vectors() == 80
    batch = indexed.forget("capacity", keep=30).batch
    assert vectors() == 30 == len(indexed.items(limit=99))
    assert len(indexed.undo(batch)) == 50
    assert vectors() == 80
    indexed.clear()
    assert vectors() == 0
    assert indexed.search("harbour") == []


def test_memories_of_the_version_before_are_indexed_when_they_are_searched(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = PostgresSchema("foldline_memory", database_module.POSTGRES.steps[:1], "memory")
    monkeypatch.setattr(search_module, "follow", lambda *_: None)
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "POSTGRES", first)
        patch.setattr(search_module, "open_vector_index", lambda *_: None)
        with Memory.open(postgres_url, embedder=Topics()) as old:
            fill(old, 30)
            old.remove(old.items()[0].id)
    with Memory.open(postgres_url, embedder=Topics()) as new:
        assert len(new.search("harbour kitchen garden railway orchestra", limit=99)) == 29
        assert "garden" in new.search("garden")[0].item.content


def test_a_database_without_pgvector_is_searched_by_words_alone(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("GRANT CREATE ON DATABASE bare TO plain")
    bare = postgres_url.replace("postgres:@/postgres", "plain:@/bare")
    try:
        with Memory.open(bare) as memory:
            memory.add("The launch moved to May")
            assert contents(memory.search("launch")) == ["The launch moved to May"]
        for kind in (Memory, Knowledge):
            with pytest.raises(StoreError, match="needs the extension pgvector"):
                kind.open(bare, embedder=Topics())
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP DATABASE bare WITH (FORCE)")
            connection.execute("DROP ROLE plain")
