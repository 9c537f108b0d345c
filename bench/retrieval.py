"""
Measure the quality and speed of retrieval.

    python bench/retrieval.py                 LoCoMo by words alone, with baselines; Chinese; speed
    python bench/retrieval.py --dense         the same with all-MiniLM-L6-v2
    python bench/retrieval.py --fit           weights, with each conversation left out in turn
    python bench/retrieval.py --only speed --size 100000
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import locomo
from foldline.memory import Memory
from foldline.retrieval import Document, Embedder, Index, MiniLM, Weights
from foldline.tokens.choose import choose_counter
from locomo import Talk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "retrieval"))

ALL = 10_000
MEANING, MEANING_AROUND = 0.45, 0.65
"""Their proportion is fixed when weights are chosen: a match gives only their sum."""

PARTS = ("words", "around", "meaning", "author", "date", "question")


# --- rankings --------------------------------------------------------------------------------


def documents(talk: Talk) -> list[Document]:
    return [
        Document(turn.id, turn.line, turn.speaker, turn.session, place, turn.time)
        for place, turn in enumerate(talk.turns)
    ]


def ours(weights: Weights, embedder: Embedder | None = None) -> locomo.Ranking:
    def prepared(talk: Talk) -> Callable[[str], Sequence[str]]:
        index = Index(documents(talk), weights=weights, embedder=embedder)
        return lambda query: [hit.id for hit in index.search(query, ALL)]

    return prepared


def by_overlap(talk: Talk) -> Callable[[str], Sequence[str]]:
    """Rank by the share of common words, split at blanks, as in most simple memory modules."""
    words = {turn.id: set(turn.line.lower().split()) for turn in talk.turns}

    def rank(query: str) -> Sequence[str]:
        questions = set(query.lower().split())
        return sorted(
            words, key=lambda one: -len(questions & words[one]) / len(questions | words[one])
        )

    return rank


def by_fts5(talk: Talk) -> Callable[[str], Sequence[str]]:
    """Rank by SQLite's full-text search, with its stemmer and its BM25."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(line, tokenize = 'porter unicode61')")
    base.executemany("INSERT INTO t (line) VALUES (?)", [(turn.line,) for turn in talk.turns])

    def rank(query: str) -> Sequence[str]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query.lower()))
        rows = base.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank", (match,))
        return [talk.turns[row - 1].id for (row,) in rows]

    return rank


def by_ranks(embedder: Embedder) -> locomo.Ranking:
    """Rank by full text and vectors, fused by reciprocal ranks with k = 60, as in textbooks."""
    plain = Weights(words=0, around=0, meaning=1, meaning_around=0, author=0, date=0, question=0)

    def prepared(talk: Talk) -> Callable[[str], Sequence[str]]:
        text = by_fts5(talk)
        nameless = [replace(one, author="", group="") for one in documents(talk)]
        index = Index(nameless, weights=plain, embedder=embedder)

        def rank(query: str) -> Sequence[str]:
            near = [hit.id for hit in index.search(query, ALL)]
            scores: dict[str, float] = {}
            for ranking in (text(query), near):
                for place, name in enumerate(ranking, 1):
                    scores[name] = scores.get(name, 0.0) + 1 / (60 + place)
            return sorted(scores, key=lambda name: -scores[name])

        return rank

    return prepared


def table(embedder: Embedder | None) -> None:
    counter = choose_counter()
    talks = locomo.load(counter.count)
    questions = sum(len(talk.questions) for talk in talks)
    print(
        f"\nLoCoMo, {len(talks)} conversations, {questions:,} questions, tokens by {counter.name}"
    )
    heads = [f"r@{depth}" for depth in locomo.DEPTHS]
    heads += [f"all@{budget // 1000}k" for budget in locomo.BUDGETS]
    print(f"{'method':44}" + "".join(f"{head:>8}" for head in [*heads, "c5 r@5", "s"]))
    single = Weights(around=0, author=0, date=0, question=0)
    rows: list[tuple[str, locomo.Ranking]] = [
        ("keyword overlap (Jaccard)", by_overlap),
        ("SQLite FTS5, porter", by_fts5),
        ("BM25 of the turn alone", ours(single)),
        ("words and surroundings", ours(Weights(author=0, date=0, question=0))),
        ("foldline, no model", ours(Weights())),
    ]
    if embedder is not None:
        rows += [
            ("FTS5 + MiniLM, reciprocal ranks (k 60)", by_ranks(embedder)),
            ("foldline, with MiniLM", ours(Weights(), embedder)),
        ]
    for name, ranking in rows:
        began = time.perf_counter()
        found = locomo.evaluated(talks, ranking)
        figures = [*locomo.mean(found), locomo.mean(found, (5,))[0], time.perf_counter() - began]
        print(f"{name:44}" + "".join(f"{figure:8.1f}" for figure in figures), flush=True)
    for category in (1, 2, 3, 4):
        row = "".join(f"{figure:8.1f}" for figure in locomo.mean(found, (category,)))
        print(f"{'  of it, category ' + str(category):44}{row}")


# --- weights ---------------------------------------------------------------------------------


def fit(embedder: Embedder | None) -> None:
    """Choose weights on all conversations but one, and measure on that one, for each."""
    import numpy

    talks = locomo.load(choose_counter().count)
    unit = Weights(1, 1, MEANING, MEANING_AROUND, 1, 1, 1)
    seen = [_parts(talk, unit, embedder, numpy) for talk in talks]
    choices = [
        Weights(words, around, MEANING * more, MEANING_AROUND * more, author, date, question)
        for words, around, more, author, date, question in itertools.product(
            (0.2, 0.25, 0.3), (0.45, 0.55, 0.65), (0.8, 1.0, 1.25) if embedder else (1.0,),
            (1.9, 2.3, 2.7), (2.2, 3.0, 3.8), (0.3, 0.7, 1.0),
        )
    ]  # fmt: skip
    scores = numpy.array([[_sums(one, weights, numpy) for one in seen] for weights in choices])
    sums, counts = scores[..., :2], scores[..., 2]
    totals, sizes = sums.sum(1), counts.sum(1)
    held_out = numpy.zeros(2)
    for left in range(len(talks)):
        rest = (totals - sums[:, left]) / (sizes - counts[:, left])[:, None]
        best = int(rest.sum(-1).argmax())
        held_out += sums[best, left]
        print(f"without {talks[left].id}: {choices[best]}")
    best = int((totals / sizes[:, None]).sum(-1).argmax())
    whole, out = totals[best] / sizes[best], held_out / sizes[0]
    print(f"best on all: {choices[best]}")
    print(f"r@20 / all@1k, chosen on all {100 * whole[0]:.1f} / {100 * whole[1]:.1f}, "
          f"left out in turn {100 * out[0]:.1f} / {100 * out[1]:.1f}")  # fmt: skip


def _parts(talk: Talk, unit: Weights, embedder: Embedder | None, numpy):
    index = Index(documents(talk), weights=unit, embedder=embedder)
    out = []
    for question in talk.questions:
        if question.category in locomo.HEADLINE:
            hits = index.search(question.text, ALL)
            values = [[hit.parts.get(part, 0.0) for part in PARTS] for hit in hits]
            out.append((talk, question, [hit.id for hit in hits], numpy.array(values)))
    return out


def _sums(questions, weights: Weights, numpy) -> list[float]:
    meaning = weights.meaning / MEANING
    vector = numpy.array(
        [weights.words, weights.around, meaning, weights.author, weights.date, weights.question]
    )
    rows = []
    for talk, question, names, values in questions:
        order = numpy.argsort(-(values @ vector), kind="stable")[:120] if names else []
        measures = locomo.measured(talk, question, [names[at] for at in order])
        rows.append((measures[2], measures[4]))
    return [*numpy.array(rows).sum(0), len(rows)]


# --- Chinese ---------------------------------------------------------------------------------


def chinese() -> None:
    import chinese as collection

    cutters = {"characters and pairs": None}
    try:
        import rjieba

        cutters["rjieba and characters"] = rjieba.cut_for_search
    except ImportError:
        print("\n(rjieba is not installed; its row is left out)")
    print(f"\nChinese, {len(collection.PARAGRAPHS)} paragraphs: hit in the first 1 / 5, percent")
    for name, words in cutters.items():
        texts = collection.PARAGRAPHS.items()
        index = Index((Document(key, text) for key, text in texts), words=words)
        row = []
        for queries in (collection.KEYWORDS, collection.PARAPHRASES):
            for k in (1, 5):
                hits = [key in {h.id for h in index.search(q, k)} for q, key in queries.items()]
                row.append(100 * sum(hits) / len(hits))
        print(f"{name:28} keywords {row[0]:5.1f} {row[1]:5.1f}   "
              f"paraphrases {row[2]:5.1f} {row[3]:5.1f}")  # fmt: skip


# --- speed -----------------------------------------------------------------------------------


def speed(size: int, dimensions: int) -> None:
    """Time a memory of generated items: words with natural frequencies, conversations of 20."""
    print(f"\nmemory of {size:,} items")
    random_ = random.Random(7)  # noqa: S311  # the same figures every time
    letters = "abcdefghijklmnoprstuvwz"
    words = [
        "".join(one) for one in itertools.islice(itertools.product(letters, repeat=4), 50_000)
    ]
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))

    def some(count: int) -> list[str]:
        return random_.choices(words, cum_weights=weights, k=count)

    with tempfile.TemporaryDirectory() as folder:
        embedder = Noise(dimensions) if dimensions else None
        with Memory.open(Path(folder) / "memory.db", embedder=embedder) as memory:
            began = time.perf_counter()
            for number in range(size):
                memory.add(" ".join(some(25)), session=f"s{number // 20}", happened=1.7e9 + number)
            took = time.perf_counter() - began
            print(f"  add                 {1000 * took / size:8.2f} ms each")
            began = time.perf_counter()
            memory.search("first")
            print(f"  first search        {time.perf_counter() - began:8.2f} s (builds the index)")
            queries = [" ".join(some(random_.randint(2, 12))) for _ in range(300)]
            for name, filters in (("search", {}), ("search, filtered", {"min_importance": 0.4})):
                figures = sorted(_timed(lambda q: memory.search(q, **filters), queries))  # noqa: B023
                row = [1000 * figures[int(len(figures) * at)] for at in (0.5, 0.9, 0.99)]
                print(f"  {name:18}  p50 {row[0]:6.1f}  p90 {row[1]:6.1f}  p99 {row[2]:6.1f} ms")


def _timed(work: Callable[[str], object], queries: Sequence[str]) -> list[float]:
    out = []
    for query in queries:
        began = time.perf_counter()
        work(query)
        out.append(time.perf_counter() - began)
    return out


class Noise:
    """Random vectors for timing: as large as a model's, and as fast to search."""

    name = "noise"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def understands(self, text: str) -> bool:
        return bool(text)

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        import numpy

        made = []
        for text in texts:
            row = numpy.random.default_rng(abs(hash(text))).standard_normal(self.dimensions)
            made.append(row / numpy.linalg.norm(row))
        return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--dense", action="store_true", help="with all-MiniLM-L6-v2")
    parser.add_argument("--fit", action="store_true", help="choose weights, leaving one out")
    parser.add_argument("--only", choices=("locomo", "chinese", "speed"))
    parser.add_argument("--size", type=int, default=20_000, help="items of the memory")
    parser.add_argument("--vectors", type=int, default=0, help="dimensions of random vectors")
    given = parser.parse_args()
    embedder = MiniLM.open() if given.dense else None
    if given.fit:
        fit(embedder)
        return
    if given.only in (None, "locomo"):
        if locomo.FILE.exists():
            table(embedder)
        else:
            print(f"(LoCoMo is not at {locomo.FILE}; its table is left out)")
    if given.only in (None, "chinese"):
        chinese()
    if given.only in (None, "speed"):
        speed(given.size, given.vectors)


if __name__ == "__main__":
    main()
