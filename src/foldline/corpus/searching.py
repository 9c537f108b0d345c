"""Searching the index of a corpus: conversations ranked by the words of a query (BM25)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final

from foldline.corpus.output import Output
from foldline.corpus.parquet import read_rows
from foldline.errors import InputError, StoreError
from foldline.relevance.terms import terms

SATURATION: Final = 1.2
LENGTHS: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, 2009): k1 and b."""

_PLACE: Final = ("path", "offset", "number", "conversation")

MOST_TERMS: Final = 64
"""Terms of a query that are looked up."""


@dataclass(frozen=True, slots=True)
class Match:
    """
    A conversation that was found.

    ``offset`` is where its session begins in the file, in bytes; ``number`` counts from 1.
    ``message`` is the first one, from 0, that has the rarest term of the query; ``matched`` are
    the terms that stand in the conversation, as the index cuts them.
    """

    path: str
    offset: int
    number: int
    conversation: str
    score: float
    message: int
    matched: tuple[str, ...]


def search(out: str, query: str, k: int = 10) -> list[Match]:
    """
    Find conversations in the index of a corpus.

    Args:
        out: The folder into which `Index` wrote.
        query: Words, in any language.
        k: The most that are returned.

    Returns:
        The best first; of two alike the first by path.

    Raises:
        InputError: ``k`` is not positive, or the query has no words.
        StoreError: There is no whole index.
    """
    if k < 1:
        raise InputError(f"k is {k}; it is a number of conversations", field="k")
    wanted = list(dict.fromkeys(terms(query[:8_000])))[:MOST_TERMS]
    if not wanted:
        raise InputError("the query has no words to look for")
    place = Output(out)
    manifest = place.manifest()
    if manifest.get("operation") != "index" or not manifest.get("complete"):
        raise StoreError(f"{out} is no whole index.", hint="Run 'foldline corpus index' first.")
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for part in place.open_parts(manifest["parts"]):
        for row in read_rows(part, "term", wanted):
            found[tuple(row[name] for name in _PLACE)].append(row)
    return nsmallest(
        k,
        _ranked(found, manifest["totals"]),
        key=lambda match: (-match.score, match.path, match.offset, match.number),
    )


def _ranked(
    found: dict[tuple[Any, ...], list[dict[str, Any]]], totals: dict[str, float]
) -> list[Match]:
    count = totals["conversations"]
    mean = max(1.0, totals["terms"] / max(1, count))
    documents: dict[str, int] = defaultdict(int)
    for rows in found.values():
        for row in rows:
            documents[row["term"]] += 1
    rarity = {
        term: math.log(1 + (count - number + 0.5) / (number + 0.5))
        for term, number in documents.items()
    }
    return [
        _match(place, sorted(rows, key=lambda row: -rarity[row["term"]]), rarity, mean)
        for place, rows in found.items()
    ]


def _match(
    place: tuple[Any, ...], rows: list[dict[str, Any]], rarity: dict[str, float], mean: float
) -> Match:
    score = 0.0
    for row in rows:
        norm = SATURATION * (1 - LENGTHS + LENGTHS * row["length"] / mean)
        score += rarity[row["term"]] * row["count"] * (SATURATION + 1) / (row["count"] + norm)
    path, offset, number, conversation = place
    matched = tuple(row["term"] for row in rows)
    return Match(path, offset, number, conversation, score, rows[0]["message"], matched)
