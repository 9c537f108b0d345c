"""What is searched, and what a search finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Document:
    """
    One thing that may be found: a turn, a memory, a note, a paragraph.

    Args:
        id: Its name; the same id again replaces it.
        text: All that must be found: a title, who spoke, a caption, what was said.
        author: Who said it; a query that names them prefers it.
        group: The conversation, session or file it belongs to; its neighbours there are looked at
            too. Empty means that it stands alone.
        place: Its order inside the group.
        time: Seconds since 1970 of what it tells; for dates that a query names.
        terms: The text as terms, where it was cut before.
        vector: Its meaning, of length 1: numbers, or float16 as `pack` writes them.
    """

    id: str
    text: str = field(repr=False)
    author: str = ""
    group: str = ""
    place: float = 0.0
    time: float | None = None
    terms: tuple[str, ...] | None = field(default=None, repr=False)
    vector: Sequence[float] | bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """
    A document that was found, and why.

    Args:
        id: Which document.
        score: What it is ranked by; comparable inside one answer only.
        parts: What added up to the score: "words" (its own), "around" (its own and those of its
            neighbours), "author", "date", "meaning", "shape". What added nothing is left out.
        matched: The terms of the query that stand in the document itself.
        strength: 0 to 1, comparable between answers: the share of the information in the query
            that the document and its neighbours hold, or its similarity of meaning if that is
            more. A threshold belongs here.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """
    The numbers of a whole store, for an index that holds only candidates of it.

    Args:
        documents: How many the store holds.
        frequency: In how many of them a term occurs.
        length: Terms per document, on average.
    """

    documents: int
    frequency: Callable[[str], int]
    length: float
