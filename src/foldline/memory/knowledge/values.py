"""What is put into a store of knowledge, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from foldline.memory.documents import Skipped

Outcome: TypeAlias = Literal["added", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """What became of one document; ``warnings`` say what of it could not be read."""

    document: str
    outcome: Outcome
    chunks: int
    tokens: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of a file or of the files of a folder."""

    documents: tuple[AddedDocument, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    removed: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Return how many documents had this outcome."""
        return sum(one.outcome == outcome for one in self.documents)


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in a store; ``added`` in seconds since 1970, ``chars`` is its length."""

    name: str
    title: str
    kind: str
    chunks: int
    tokens: int
    chars: int
    added: float


@dataclass(frozen=True, slots=True)
class Passage:
    """
    A piece of a document that was found.

    ``first`` and ``last`` are what its citation counts: lines, or pages of a PDF file. ``score``
    ranks it inside one answer, and its ``parts`` say what that is made of; ``strength``, 0 to 1,
    is comparable between answers. ``fresh`` is where in the text what it repeats ends.
    """

    document: str
    title: str
    heading: tuple[str, ...]
    unit: str
    first: int
    last: int
    text: str = field(repr=False)
    tokens: int
    score: float
    strength: float
    parts: Mapping[str, float]
    matched: tuple[str, ...] = ()
    number: int = 0
    fresh: int = field(default=0, repr=False)

    @property
    def place(self) -> str:
        """Where in its document it stands: ``lines 3-9``, ``page 2``."""
        if self.first == self.last:
            return f"{self.unit} {self.first}"
        return f"{self.unit}s {self.first}-{self.last}"

    @property
    def source(self) -> str:
        """The citation: document, place, headings."""
        under = f" ({' > '.join(self.heading)})" if self.heading else ""
        return f"{self.document}, {self.place}{under}"

    def to_dict(self) -> dict[str, Any]:
        """Return the passage as JSON values."""
        return {
            "document": self.document,
            "title": self.title,
            "heading": list(self.heading),
            "unit": self.unit,
            "first": self.first,
            "last": self.last,
            "source": self.source,
            "text": self.text,
            "tokens": self.tokens,
            "score": round(self.score, 4),
            "strength": round(self.strength, 4),
            "parts": {name: round(part, 4) for name, part in self.parts.items()},
            "matched": list(self.matched),
        }


@dataclass(frozen=True, slots=True)
class KnowledgeResult:
    """
    The answer of a search: passages, the best first, or the news that there is no evidence.

    ``strongest`` is the strength of the best that was seen, and ``threshold`` what it takes.
    """

    query: str
    passages: tuple[Passage, ...]
    threshold: float
    strongest: float = 0.0

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def evidence(self) -> bool:
        """Whether anything was found that is strong enough."""
        return bool(self.passages)

    @property
    def message(self) -> str:
        """What was found, in one sentence."""
        if self.passages:
            count = len(self.passages)
            return f"{count} passage{'' if count == 1 else 's'} found."
        if self.strongest <= 0:
            return "No evidence: no document has to do with the query."
        return (
            f"No evidence: the nearest passage has strength {self.strongest:.2f}, "
            f"and {self.threshold:.2f} is the threshold."
        )


@dataclass(frozen=True, slots=True)
class KnowledgeStats:
    """What a namespace holds; ``bytes`` is the size of the whole file."""

    namespace: str
    documents: int
    chunks: int
    tokens: int
    embedded: int
    embedder: str
    namespaces: tuple[str, ...]
    bytes: int
