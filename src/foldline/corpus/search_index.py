"""An index of the identifiers in a corpus, and search in it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any, ClassVar, Final

from foldline.corpus.operation import Row, Totals, Work, each_conversation
from foldline.corpus.output import OutputFolder, read_rows
from foldline.errors import InputError, StoreError
from foldline.evaluation.future_use import render_message
from foldline.formats.recording import RecordedConversation
from foldline.frozen import frozen
from foldline.relevance.terms import terms


@frozen
class BuildIndex:
    """
    Index the words of every conversation, for `foldline.corpus.search`.

    A row is a term of a conversation: its number of occurrences (``count``), the length of the
    conversation in terms (``length``), and the first message that has it (``message``, from 0).
    """

    name: ClassVar[str] = "index"
    order: ClassVar[tuple[str, ...]] = ("term", "path", "offset", "number")
    columns: ClassVar[dict[str, str]] = {
        "term": "text",
        "count": "int",
        "length": "int",
        "message": "int",
    }

    def start(self) -> Work:
        """Return a function that splits the conversations of a session into terms."""
        return lambda recording: each_conversation(recording, _postings)

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Count conversations, and the terms in them."""
        lengths = {row["number"]: row["length"] for row in rows}
        return {"conversations": len(lengths), "terms": sum(lengths.values())}


def _postings(conversation: RecordedConversation) -> Iterator[Row]:
    counts, first, length = dict[str, int](), dict[str, int](), 0
    for at, message in enumerate(conversation.transcript.messages):
        for term in terms(render_message(message)):
            counts[term] = counts.get(term, 0) + 1
            first.setdefault(term, at)
            length += 1
    for term, count in counts.items():
        yield {"term": term, "count": count, "length": length, "message": first[term]}


SATURATION: Final = 1.2
LENGTHS: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, 2009): k1 and b."""

_LOCATION: Final = ("path", "offset", "number", "conversation")

MOST_TERMS: Final = 64
"""Maximum terms of a query."""


@frozen
class CorpusMatch:
    """
    A matching conversation.

    ``offset`` is the start of its session in the file, in bytes; ``number`` counts from 1.
    ``message`` is the first one, from 0, that has the rarest term of the query; ``matched`` are
    the query terms in the conversation, as split by the index.
    """

    path: str
    offset: int
    number: int
    conversation: str
    score: float
    message: int
    matched: tuple[str, ...]


def search(out: str, query: str, k: int = 10) -> list[CorpusMatch]:
    """
    Find conversations in the index of a corpus.

    Args:
        out: The folder written by `BuildIndex`.
        query: Words, in any language.
        k: Maximum number of matches.

    Returns:
        The matches, best first, ties in order of path.

    Raises:
        InputError: ``k`` is not positive, or the query has no words.
        StoreError: There is no complete index.
    """
    if k < 1:
        raise InputError(f"k is {k}; it must be a positive number of conversations", field="k")
    query_terms = list(dict.fromkeys(terms(query[:8_000])))[:MOST_TERMS]
    if not query_terms:
        raise InputError("The query has no words to search for")
    place = OutputFolder(out)
    manifest = place.manifest()
    if manifest.get("operation") != "index" or not manifest.get("complete"):
        raise StoreError(f"{out} is no complete index.", hint="Run 'foldline corpus index' first.")
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for part in place.open_parts(manifest["parts"]):
        for row in read_rows(part, "term", query_terms):
            found[tuple(row[name] for name in _LOCATION)].append(row)
    return nsmallest(
        k,
        _rank(found, manifest["totals"]),
        key=lambda match: (-match.score, match.path, match.offset, match.number),
    )


def _rank(
    found: dict[tuple[Any, ...], list[dict[str, Any]]], totals: dict[str, float]
) -> list[CorpusMatch]:
    count = totals["conversations"]
    mean = max(1.0, totals["terms"] / max(1, count))
    documents = Counter(row["term"] for rows in found.values() for row in rows)
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
) -> CorpusMatch:
    score = 0.0
    for row in rows:
        norm = SATURATION * (1 - LENGTHS + LENGTHS * row["length"] / mean)
        score += rarity[row["term"]] * row["count"] * (SATURATION + 1) / (row["count"] + norm)
    matched = tuple(row["term"] for row in rows)
    path, offset, number, conversation = place
    return CorpusMatch(path, offset, number, conversation, score, rows[0]["message"], matched)
