"""The search index of a corpus: which term stands how often in which conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from foldline.corpus.operation import Row, Totals, Work
from foldline.evaluation.future_use import said
from foldline.formats.recording import Recording
from foldline.relevance.terms import terms
from foldline.values.messages import Message


@dataclass(frozen=True)
class Index:
    """
    Index the words of every conversation, for `foldline.corpus.search`.

    A row is a term of a conversation: how often it stands there (``count``), among how many
    (``length``), and the first message that has it (``message``, from 0).
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
        """Return what cuts the conversations of a session into terms."""
        return _rows

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Count conversations, and the terms in them."""
        lengths = {row["number"]: row["length"] for row in rows}
        return {"conversations": len(lengths), "terms": sum(lengths.values())}


def _rows(recording: Recording) -> Iterator[Row]:
    for number, conversation in enumerate(recording.conversations, 1):
        place = {"number": number, "conversation": conversation.name}
        for row in _postings(conversation.transcript.messages):
            yield {**place, **row}


def _postings(messages: Iterable[Message]) -> Iterator[Row]:
    counts, first, length = dict[str, int](), dict[str, int](), 0
    for at, message in enumerate(messages):
        for term in terms(said(message)):
            counts[term] = counts.get(term, 0) + 1
            first.setdefault(term, at)
            length += 1
    for term, count in counts.items():
        yield {"term": term, "count": count, "length": length, "message": first[term]}
