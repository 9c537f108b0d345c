"""
Measure the speed and memory of knowledge search: `python bench/knowledge.py [--size N]`.

Documents are generated: words of a vocabulary with the frequencies of a language (Zipf), twenty
paragraphs each, one chunk per paragraph. A query is a few words of one paragraph, in which that
paragraph is to be found; another kind has common words only, the worst case of an index. A store
is built in a new file, or reused with ``--keep FILE``; with ``--keep URL`` it is one
in PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from foldline.memory.chunk import ChunkSettings
from foldline.memory.knowledge import Knowledge

PARAGRAPHS, WORDS = 20, 45
VOCABULARY = 60_000
DIMENSIONS = 384
GOAL_MS = 150.0
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il")]


def seeded(number: int) -> random.Random:
    return random.Random(number)  # noqa: S311  # the same documents on every run


@dataclass(frozen=True, slots=True)
class Vocabulary:
    words: list[str]
    weights: list[float]

    @classmethod
    def made(cls, size: int = VOCABULARY) -> Vocabulary:
        chance = seeded(7)
        words = sorted({"".join(chance.choices(SYLLABLES, k=4)) for _ in range(size)})
        chance.shuffle(words)
        return cls(words, list(accumulate(1 / (rank + 3) for rank in range(len(words)))))

    def paragraph(self, number: int) -> list[str]:
        chance = seeded(number)
        return chance.choices(self.words, cum_weights=self.weights, k=WORDS)


class Directions:
    """A stand-in for an embedding model: a distinct vector for every text, instantly."""

    name, dimensions = "directions-1", DIMENSIONS

    def understands(self, text: str) -> bool:
        return bool(text)

    def embed(self, texts: list[str]) -> list[list[float]]:
        import numpy

        out = []
        for text in texts:
            vector = numpy.random.default_rng(abs(hash(text))).standard_normal(DIMENSIONS)
            out.append(vector / numpy.linalg.norm(vector))
        return out


def documents(words: Vocabulary, size: int) -> Iterator[tuple[str, str]]:
    for document in range(size // PARAGRAPHS):
        numbers = range(document * PARAGRAPHS, (document + 1) * PARAGRAPHS)
        yield f"{document}.txt", "\n\n".join(" ".join(words.paragraph(n)) for n in numbers)


def build(knowledge: Knowledge, words: Vocabulary, size: int) -> float:
    began = time.perf_counter()
    for name, text in documents(words, size):
        knowledge.add_text(name, text)
    return time.perf_counter() - began


def queries(words: Vocabulary, size: int, count: int) -> list[tuple[str, int]]:
    """Return a few words of known paragraphs, each with the number of its paragraph."""
    chance = seeded(11)
    out = []
    for _ in range(count):
        number = chance.randrange(size // PARAGRAPHS * PARAGRAPHS)
        out.append(
            (" ".join(chance.sample(words.paragraph(number), chance.randint(3, 7))), number)
        )
    return out


def common(words: Vocabulary, count: int) -> list[tuple[str, int]]:
    chance = seeded(13)
    return [(" ".join(chance.sample(words.words[:100], 3)), -1) for _ in range(count)]


def measure(
    knowledge: Knowledge, queries: list[tuple[str, int]], words: Vocabulary
) -> dict[str, float]:
    times, found = [], 0
    for query, number in queries:
        began = time.perf_counter()
        findings = knowledge.search(query, 5, threshold=0.0)
        times.append((time.perf_counter() - began) * 1000)
        target = " ".join(words.paragraph(number)) if number >= 0 else ""
        found += any(target in passage.text for passage in findings)
    times.sort()
    return {
        "p50_ms": statistics.median(times),
        "p99_ms": times[int(0.99 * (len(times) - 1))],
        "first_ms": times[0],
        "found_in_5": found / len(queries),
    }


def run(path: Path | str, size: int, count: int, *, vectors: bool) -> dict[str, object]:
    words = Vocabulary.made()
    embedder = Directions() if vectors else None
    settings = ChunkSettings(target=80, overlap=0)
    with Knowledge.open(path, chunks=settings, embedder=embedder) as knowledge:
        seconds = build(knowledge, words, size) if not knowledge.stats().chunks else 0.0
        stats = knowledge.stats()
    before = resident()
    with Knowledge.open(path, chunks=settings, embedder=embedder) as knowledge:
        known = measure(knowledge, queries(words, size, count), words)
        often = measure(knowledge, common(words, count), words)
    return {
        "chunks": stats.chunks,
        "build_s": round(seconds, 1),
        "file_mb": round(stats.bytes / 1e6),
        "search_mb": round(resident() - before),
        "known": {name: round(value, 3) for name, value in known.items()},
        "common": {name: round(value, 3) for name, value in often.items()},
    }


def resident() -> float:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def show(result: dict[str, object]) -> None:
    known, often = result["known"], result["common"]
    print(f"{result['chunks']:,} chunks, built in {result['build_s']} s, {result['file_mb']} MB")
    print(f"memory that searching took: {result['search_mb']} MB")
    print(f"{'':24}{'p50':>8}{'p99':>8}   found in the first five")
    for name, row in (("words of a paragraph", known), ("common words only", often)):
        share = f"{row['found_in_5']:.0%}" if row is known else ""
        print(f"{name:24}{row['p50_ms']:7.1f} {row['p99_ms']:7.1f}   {share}")
    verdict = "ok" if known["p50_ms"] <= GOAL_MS else "OVER"
    print(f"goal: p50 of at most {GOAL_MS:.0f} ms: {verdict}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=100_000, help="chunks (100000)")
    options.add_argument("--queries", type=int, default=200)
    options.add_argument("--vectors", action="store_true", help="with 384 random numbers a chunk")
    options.add_argument("--keep", help="a file or URL to keep the store in, or to reuse")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.keep or Path(folder, "knowledge.db")
        result = run(path, given.size, given.queries, vectors=given.vectors)
    if given.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    main()
