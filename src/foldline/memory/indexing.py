"""The memories of one user, indexed in memory and kept like the file by reading what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from foldline.memory.rows import Fact, Filter
from foldline.memory.tables import LIVE
from foldline.relevance.terms import terms
from foldline.retrieval import TERMS_VERSION, Cutter, Document, Hit, Index, Weights
from foldline.sql import Connection

NO_CUTTER = "characters"


def cut_name(words: Cutter | None) -> str:
    """Return what terms are cut with; those that were cut with something else are cut anew."""
    name = NO_CUTTER if words is None else getattr(words, "__qualname__", type(words).__name__)
    return f"{TERMS_VERSION}/{name}"


class UserIndex:
    """
    An index of what is live; built when it is first asked. Not for several threads at once.

    Args:
        user: Whose memories.
        weights: How much each sign of relevance counts.
        model: The model whose vectors are compared; "" for none.
        words: Cuts runs of Chinese into words.
    """

    def __init__(
        self, user: str, *, weights: Weights | None, model: str, words: Cutter | None
    ) -> None:
        self._user, self._model, self._words = user, model, words
        self._weights = weights
        self._cut = cut_name(words)
        self._era, self._clock = -1, 0
        self._index = self._empty()
        self._facts: dict[str, Fact] = {}
        self._expiring = set[str]()

    def _empty(self) -> Index:
        return Index(weights=self._weights, words=self._words)

    def refresh(self, connection: Connection) -> None:
        """Take in what was changed since the last time, by any process."""
        row = connection.execute(
            "SELECT era, clock FROM users WHERE name = ?", (self._user,)
        ).fetchone()
        era, clock = row or (0, 0)
        if era != self._era:
            self._index, self._facts, self._expiring = self._empty(), {}, set()
            self._era, self._clock = era, 0
        if clock == self._clock:
            return
        self._drop_ended(connection)
        self._index.add(self._changed(connection))
        self._clock = clock

    def search(
        self,
        query: str,
        k: int,
        wanted: Filter,
        vector: Sequence[float] | None,
        least: float = 0.0,
    ) -> list[Hit]:
        """Find memories that a filter admits, of at least some strength."""
        facts, over = self._facts, self._over(wanted.now)
        admits = wanted.admits()
        only: Callable[[str], bool] | None = None
        if admits is not None and over:
            only = lambda name: name not in over and admits(facts[name])  # noqa: E731
        elif admits is not None:
            only = lambda name: admits(facts[name])  # noqa: E731
        elif over:
            only = lambda name: name not in over  # noqa: E731
        return self._index.search(query, k, now=wanted.now, only=only, vector=vector, least=least)

    def _over(self, now: float) -> set[str]:
        """Return the memories whose time is over."""
        ends = ((name, self._facts[name].expires) for name in self._expiring)
        return {name for name, end in ends if end is not None and end <= now}

    def _drop_ended(self, connection: Connection) -> None:
        if not self._clock:
            return
        for (name,) in connection.execute(
            'SELECT id FROM memories WHERE "user" = ? AND changed > ? AND state <> ?',
            (self._user, self._clock, LIVE),
        ):
            self._index.remove([name])
            self._facts.pop(name, None)
            self._expiring.discard(name)

    def _changed(self, connection: Connection) -> Iterator[Document]:
        rows = connection.execute(
            "SELECT id, kind, content, importance, happened, expires, session, author,"
            " terms, cut, CASE WHEN model = ? AND model <> '' THEN vector END"
            ' FROM memories WHERE "user" = ? AND changed > ? AND state = ? ORDER BY number',
            (self._model, self._user, self._clock, LIVE),
        )
        for name, kind, content, weight, happened, expires, session, author, *rest in rows:
            told, cut, vector = rest
            self._facts[name] = Fact(kind, weight, happened, expires, session)
            if expires is not None:
                self._expiring.add(name)
            kept = told.split() if cut == self._cut else terms(content, words=self._words)
            yield Document(
                name,
                content,
                author=author,
                group=session,
                place=happened,
                time=happened,
                terms=tuple(kept),
                vector=vector,
            )
