"""
An in-memory index of documents, searched by words, neighbours, authors, dates and meaning.

    index = Index([Document("1", "Ann: the launch moved to May", author="Ann", group="chat")])
    for hit in index.search("When is the launch?"):
        print(hit.id, hit.score, dict(hit.parts))

Each relevance feature is scored separately, normalized, weighted and summed. Scores are summed
rather than ranks: this keeps the distance between the best and the next, and measured better
(recall@5 of evidence 68 % against 63 to 67 %, on long conversations).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest

from foldline.errors import InputError
from foldline.frozen import field, frozen
from foldline.relevance.terms import Cutter, terms
from foldline.retrieval import lexical
from foldline.retrieval.documents import Document, Hit, Statistics, Weights
from foldline.retrieval.embedding import Embedder, Matrix, Similarities, embed_text
from foldline.retrieval.query_mentions import (
    DAY,
    LATER,
    AuthorNames,
    DateWindow,
    date_windows,
    nearness,
)

SCALE = 600
"""The store size up to which scores are spread; a larger store must not raise the best ones."""

PARTS = ("words", "around", "meaning", "author", "date", "question")
"""The relevance features, in the order in which they are summed."""

NEAREST = 120
"""The number of candidates by meaning alone, and by date alone."""

LONGEST_QUERY = 8_000
"""The maximum length of a query in characters."""


@frozen
class IndexEntry:
    """The indexed fields of a document."""

    number: int
    id: str
    author: str
    time: float | None
    asks: bool


@frozen
class ParsedQuery:
    """A parsed query."""

    information: Mapping[str, float] = field(repr=False)
    authors: frozenset[str]
    windows: tuple[DateWindow, ...]
    likeness: Similarities | None = field(repr=False)


@frozen
class SemanticScore:
    """The similarity of a document to a query, and its z-score, alone and with neighbours."""

    cosine: float
    above: float
    near: float


class Index:
    """
    A searchable set of documents. Not thread-safe.

    Args:
        documents: The initial documents.
        weights: The weights of the relevance features.
        embedder: Embeds documents without a vector, and queries; None searches by words alone.
        words: Splits runs of Chinese into words; see `terms`.
        statistics: Statistics of the whole store, if these documents are candidates of a larger
            one.
    """

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        weights: Weights | None = None,
        embedder: Embedder | None = None,
        words: Cutter | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self._weights = weights or Weights()
        self._embedder = embedder
        self._words = words
        self._postings = lexical.Postings(statistics)
        self._neighbours = lexical.Neighbours()
        self._names = AuthorNames()
        self._matrix = Matrix()
        self._sample = None if statistics is None else statistics.sample
        self._entries: dict[int, IndexEntry] = {}
        self._numbers: dict[str, int] = {}
        self._times: list[tuple[float, int]] = []
        self._next = 0
        for author in () if statistics is None else statistics.authors:
            self._names.add(author)
        self.add(documents)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id: object) -> bool:  # noqa: A002  # the name of the field
        return id in self._numbers

    def add(self, documents: Iterable[Document]) -> None:
        """
        Add documents; an existing id is replaced.

        Raises:
            InputError: A vector is zero or not finite, or has other dimensions than the others.
        """
        listed = list(documents)
        vectors = enumerate(self._vectors(listed), self._next)
        self._matrix.add({number: one for number, one in vectors if one is not None})
        for document in listed:
            self.remove([document.id])
            number, self._next = self._next, self._next + 1
            cut = document.terms
            if cut is None:
                cut = tuple(terms(document.text, words=self._words))
            self._postings.add(number, cut)
            self._neighbours.add(number, document.group, document.place)
            self._names.add(document.author)
            if document.time is not None:
                insort(self._times, (document.time, number))
            asks = document.text.rstrip()[-1:] in ("?", "？")
            entry = IndexEntry(number, document.id, document.author, document.time, asks)
            self._entries[number] = entry
            self._numbers[document.id] = number

    def remove(self, ids: Iterable[str]) -> int:
        """Remove documents; return the number that existed."""
        count = 0
        for one in ids:
            number = self._numbers.pop(one, None)
            if number is None:
                continue
            count += 1
            entry = self._entries.pop(number)
            self._postings.remove(number)
            self._neighbours.remove(number)
            self._names.remove(entry.author)
            self._matrix.remove(number)
            if entry.time is not None:
                del self._times[bisect_left(self._times, (entry.time, number))]
        return count

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        now: float | None = None,
        only: Callable[[str], bool] | None = None,
        vector: Sequence[float] | None = None,
        least: float = 0.0,
    ) -> list[Hit]:
        """
        Find the documents relevant to a query.

        Args:
            query: A question or words, in any language.
            k: The maximum number of hits.
            now: The time, in seconds since 1970, for dates such as "last week".
            only: A filter of documents by id.
            vector: The vector of the query, if already embedded.
            least: The minimum strength of a hit, 0 to 1; see `Hit`.

        Returns:
            The hits, the best first; among equals the later document. Fewer than ``k``, or none,
            if no more documents are relevant.

        Raises:
            InputError: ``k`` is negative, or the vector does not fit.
        """
        if k < 0:
            raise InputError(f"k must be a number of documents, not {k!r:.40}", field="k")
        parsed_query = self._parse(query[:LONGEST_QUERY], now, vector)
        allowed = None if only is None else (lambda number: only(self._entries[number].id))
        numbers = self._pool(parsed_query, allowed)
        return self._rank(parsed_query, numbers, k, least) if k else []

    # --- parsing ---------------------------------------------------------------------------

    def _parse(self, query: str, now: float | None, vector: Sequence[float] | None) -> ParsedQuery:
        named = self._names.named(query)
        cut = terms(named.rest, words=self._words) or terms(query, words=self._words)
        likeness = None
        if len(self._matrix):
            if vector is None:
                vector = embed_text(self._embedder, named.rest or query)
            likeness = None if vector is None else self._matrix.compare(vector, self._sample)
        information = lexical.weigh_terms(self._postings, cut)
        return ParsedQuery(information, named.authors, date_windows(query, now), likeness)

    def _vectors(self, documents: Sequence[Document]) -> list[Sequence[float] | bytes | None]:
        out = [document.vector for document in documents]
        model = self._embedder
        if model is None:
            return out
        bare = [
            at
            for at, one in enumerate(documents)
            if one.vector is None and one.text.strip() and model.understands(one.text)
        ]
        if bare:
            made = model.embed([documents[at].text for at in bare])
            for at, vector in zip(bare, made, strict=True):
                out[at] = vector
        return out

    # --- candidates ------------------------------------------------------------------------

    def _pool(self, query: ParsedQuery, allowed: Callable[[int], bool] | None) -> list[int]:
        pool = lexical.find_candidates(
            self._postings, self._neighbours, query.information, allowed
        )
        if query.likeness is not None:
            pool.update(query.likeness.nearest(NEAREST, allowed))
        for number in self._find_dated(query.windows):
            if allowed is None or allowed(number):
                pool.add(number)
        return sorted(pool)

    def _find_dated(self, windows: Iterable[DateWindow]) -> Iterable[int]:
        """Yield the documents within or shortly after the time windows."""
        for start, end in windows:
            first = bisect_left(self._times, (start, -1))
            last = bisect_left(self._times, (end + LATER * DAY, -1))
            for _, number in self._times[first : min(last, first + NEAREST)]:
                yield number

    # --- scoring ---------------------------------------------------------------------------

    def _rank(self, query: ParsedQuery, numbers: Sequence[int], k: int, least: float) -> list[Hit]:
        seen = lexical.score_documents(
            self._postings, self._neighbours, query.information, numbers
        )
        meanings = self._meanings(query.likeness, numbers)
        whole = min(self._postings.documents, SCALE)
        spreads = lexical.spread(seen.own, whole), lexical.spread(seen.around, whole)
        strong = (n for n in numbers if least <= 0 or _strength(seen, meanings, n) >= least)
        parts = {n: self._parts(query, seen, meanings, spreads, n) for n in strong}
        scored = ((sum(those), number) for number, those in parts.items())
        best = nlargest(k, scored, key=lambda one: (one[0], self._entries[one[1]].time or 0.0))
        out = list[Hit]()
        for score, number in best:
            contributions = {
                name: part for name, part in zip(PARTS, parts[number], strict=True) if part
            }
            strength = _strength(seen, meanings, number)
            matched = tuple(seen.matched.get(number, ()))
            out.append(Hit(self._entries[number].id, score, contributions, matched, strength))
        return out

    def _parts(
        self,
        query: ParsedQuery,
        seen: lexical.LexicalHits,
        meanings: Mapping[int, SemanticScore],
        spreads: tuple[float, float],
        number: int,
    ) -> tuple[float, ...]:
        """Return the weighted relevance features, in the order of `PARTS`."""
        weights, entry = self._weights, self._entries[number]
        own, around = spreads
        meaning = date = 0.0
        if number in meanings:
            there = meanings[number]
            meaning = weights.meaning * there.above + weights.meaning_around * there.near
        if query.windows and entry.time is not None:
            date = weights.date * nearness(entry.time, query.windows)
        return (
            weights.words * seen.own.get(number, 0.0) / own,
            weights.around * seen.around.get(number, 0.0) / around,
            meaning,
            weights.author if entry.author in query.authors else 0.0,
            date,
            -weights.question if entry.asks else 0.0,
        )

    def _meanings(
        self, like: Similarities | None, numbers: Sequence[int]
    ) -> dict[int, SemanticScore]:
        if like is None:
            return {}
        windows = {number: self._neighbours.window(number) for number in numbers}
        cosines = like.of(set().union(*windows.values()))
        out = dict[int, SemanticScore]()
        for number, window in windows.items():
            cosine = cosines.get(number)
            if cosine is None:
                continue
            at, total, weight = window.index(number), 0.0, 0.0
            for place, other in enumerate(window):
                if other in cosines:
                    share = lexical.NEIGHBOUR_WEIGHTS[place - at]
                    total, weight = total + share * cosines[other], weight + share
            near = (total / weight - like.mean) / like.spread
            out[number] = SemanticScore(cosine, (cosine - like.mean) / like.spread, near)
        return out


def _strength(
    seen: lexical.LexicalHits, meanings: Mapping[int, SemanticScore], number: int
) -> float:
    """Return the strength of the evidence, from 0 to 1; comparable between searches."""
    cosine = meanings[number].cosine if number in meanings else 0.0
    return min(max(seen.share.get(number, 0.0), cosine, 0.0), 1.0)
