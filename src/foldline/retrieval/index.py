"""
An index of documents in memory, searched by words, surroundings, authors, dates and meaning.

    index = Index([Document("1", "Ann: the launch moved to May", author="Ann", group="chat")])
    for hit in index.search("When is the launch?"):
        print(hit.id, hit.score, dict(hit.parts))

Each sign of relevance is scored by itself, brought to one scale, weighed and added up. Scores are
added rather than ranks: how much better the best is than the next is kept that way, and measured
better (recall of evidence in the first five 68 % against 63 to 67 %, on long conversations).
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
"""Documents among which scores are spread; in a larger store the best must not count for more."""

PARTS = ("words", "around", "meaning", "author", "date", "question")
"""The signs of relevance, in the order in which they are added up."""

NEAREST = 120
"""Documents that are looked at for their meaning alone, or their date alone."""

LONGEST_QUERY = 8_000
"""Characters of a query that are read."""


@frozen
class IndexEntry:
    """What the index keeps of a document."""

    number: int
    id: str
    author: str
    time: float | None
    asks: bool


@frozen
class ParsedQuery:
    """A query, understood."""

    says: Mapping[str, float] = field(repr=False)
    authors: frozenset[str]
    windows: tuple[DateWindow, ...]
    likeness: Similarities | None = field(repr=False)


@frozen
class SemanticScore:
    """How like a query a document is; how far above the mean, it and it with its neighbours."""

    cosine: float
    above: float
    near: float


class Index:
    """
    Documents, and the search among them. Not for several threads at once.

    Args:
        documents: What to begin with.
        weights: How much each sign of relevance counts.
        embedder: Embeds documents that bring no vector, and queries; None goes by words alone.
        words: Cuts runs of Chinese into words; see `terms`.
        statistics: The numbers of the whole, where these documents are candidates of a larger
            store.
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
        self._surroundings = lexical.Neighbours()
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

    def __contains__(self, id: object) -> bool:  # noqa: A002  # as the field is called
        return id in self._numbers

    def add(self, documents: Iterable[Document]) -> None:
        """
        Add documents; one whose id is there takes the place of the old one.

        Raises:
            InputError: A vector has no direction, or other dimensions than the others.
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
            self._surroundings.add(number, document.group, document.place)
            self._names.add(document.author)
            if document.time is not None:
                insort(self._times, (document.time, number))
            asks = document.text.rstrip()[-1:] in ("?", "？")
            entry = IndexEntry(number, document.id, document.author, document.time, asks)
            self._entries[number] = entry
            self._numbers[document.id] = number

    def remove(self, ids: Iterable[str]) -> int:
        """Remove documents; return how many were there."""
        count = 0
        for one in ids:
            number = self._numbers.pop(one, None)
            if number is None:
                continue
            count += 1
            entry = self._entries.pop(number)
            self._postings.remove(number)
            self._surroundings.remove(number)
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
        Find the documents that a query means.

        Args:
            query: A question or words, in any language.
            k: The most that are returned.
            now: Seconds since 1970, for "last week" and the like.
            only: Whether a document, by its id, may be found at all.
            vector: The query's own vector, where it was embedded before.
            least: The least strength, 0 to 1, of what is returned; see `Hit`.

        Returns:
            The best first; of two alike the later one. Fewer than ``k``, or none, where nothing
            more has to do with the query.

        Raises:
            InputError: ``k`` is negative, or the vector does not fit.
        """
        if k < 0:
            raise InputError(f"k must be a number of documents, not {k!r:.40}", field="k")
        parsed_query = self._parse(query[:LONGEST_QUERY], now, vector)
        allowed = None if only is None else (lambda number: only(self._entries[number].id))
        numbers = self._pool(parsed_query, allowed)
        return self._rank(parsed_query, numbers, k, least) if k else []

    # --- what a query means ----------------------------------------------------------------

    def _parse(self, query: str, now: float | None, vector: Sequence[float] | None) -> ParsedQuery:
        named = self._names.named(query)
        cut = terms(named.rest, words=self._words) or terms(query, words=self._words)
        likeness = None
        if len(self._matrix):
            if vector is None:
                vector = embed_text(self._embedder, named.rest or query)
            likeness = None if vector is None else self._matrix.compare(vector, self._sample)
        says = lexical.weigh_terms(self._postings, cut)
        return ParsedQuery(says, named.authors, date_windows(query, now), likeness)

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

    # --- which documents are looked at ------------------------------------------------------

    def _pool(self, query: ParsedQuery, allowed: Callable[[int], bool] | None) -> list[int]:
        pool = lexical.find_candidates(self._postings, self._surroundings, query.says, allowed)
        if query.likeness is not None:
            pool.update(query.likeness.nearest(NEAREST, allowed))
        for number in self._find_dated(query.windows):
            if allowed is None or allowed(number):
                pool.add(number)
        return sorted(pool)

    def _find_dated(self, windows: Iterable[DateWindow]) -> Iterable[int]:
        """Go through the documents inside the windows of time, or right after."""
        for start, end in windows:
            first = bisect_left(self._times, (start, -1))
            last = bisect_left(self._times, (end + LATER * DAY, -1))
            for _, number in self._times[first : min(last, first + NEAREST)]:
                yield number

    # --- what they are worth ----------------------------------------------------------------

    def _rank(self, query: ParsedQuery, numbers: Sequence[int], k: int, least: float) -> list[Hit]:
        seen = lexical.score_documents(self._postings, self._surroundings, query.says, numbers)
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
        """Weigh each sign of relevance; in the order of `PARTS`."""
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
        windows = {number: self._surroundings.window(number) for number in numbers}
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
    """Return how strong the evidence is, from 0 to 1; comparable between answers."""
    cosine = meanings[number].cosine if number in meanings else 0.0
    return min(max(seen.share.get(number, 0.0), cosine, 0.0), 1.0)
