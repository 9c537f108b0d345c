"""Searching the messages of many sessions, the newest first, within a bound of time and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from foldline.errors import RecallError, StoreError
from foldline.frozen import frozen, replace
from foldline.recall import answers
from foldline.recall.fitting import Fits
from foldline.recall.ranking import RecallQuery, parse_query
from foldline.recall.sections import MessageSection, cut_sections
from foldline.values.messages import Message

SECONDS: Final = 8.0
"""How long a search goes on to older sessions."""

MOST_KEPT: Final = 3_000_000
"""Characters of texts with a word of the query that are ranked."""

DIGITS: Final = 12
"""Of a handle that is to be unique in a whole archive."""

BATCH: Final = 64
"""Messages that are read between two looks at the clock."""


@frozen
class PastSession:
    """A session that is searched: its name, and its messages, read on demand."""

    title: str
    messages: Iterable[Message]


@frozen
class PastAnswer:
    """What a search found; ``searched`` is how many sessions were read to their end."""

    text: str
    found: int
    searched: int


def search_past(
    past: Iterable[PastSession],
    query: str,
    fits: Fits,
    *,
    start: int = 0,
    clock: Callable[[], float],
    seconds: float = SECONDS,
) -> PastAnswer:
    """
    Return the passages of past sessions that answer a question best.

    Args:
        past: The sessions, the one that matters most first.
        query: Words of the question, names and quoted phrases.
        fits: The cap of the answer.
        start: How many passages were given before.
        clock: Returns seconds.
        seconds: After so many no further messages are read.

    Raises:
        RecallError: The query has no words, or ``start`` is past the end.
        StoreError: No session could be read to its end, since one is damaged.
    """
    question = parse_query(query)
    if not (question.words or question.names):
        raise RecallError("The query has no words to look for.", hint="Name what it is about.")
    gathered = _Gathered(question, clock, clock() + seconds)
    for session in past:
        if not gathered.read(session):
            break
    if gathered.damage is not None and not gathered.searched:
        raise gathered.damage
    hits = answers.find_passages(gathered.kept, question)
    count = len(hits.passages)
    answers.check_start(start, count, "passages")
    return PastAnswer(answers.write_answer(hits, start, fits), count, gathered.searched)


class _Gathered:
    """The texts that have to do with a question, until a bound is reached."""

    def __init__(self, question: RecallQuery, clock: Callable[[], float], until: float) -> None:
        self.kept = list[MessageSection]()
        self.searched = 0
        self.damage: StoreError | None = None
        self._signs = tuple(
            {*(one for word in question.words for one in word.beginnings), *question.names}
        )
        self._clock = clock
        self._until = until
        self._room = MOST_KEPT

    def read(self, session: PastSession) -> bool:
        """Take in what can be read of a session; return False if a bound was reached."""
        batch = list[Message]()
        try:
            for message in session.messages:
                batch.append(message)
                if len(batch) == BATCH:
                    self._take(batch, session.title)
                    batch = []
                    if self._is_over():
                        return False
            self.searched += 1
        except StoreError as error:  # one damaged session must not hide the others
            self.damage = self.damage or error
        self._take(batch, session.title)
        return not self._is_over()

    def _is_over(self) -> bool:
        return self._room < 0 or self._clock() > self._until

    def _take(self, messages: list[Message], title: str) -> None:
        handles = {message.id: message.id[:DIGITS] for message in messages}
        for section in cut_sections(messages, handles):
            text = f"{section.label}\n{section.text}".lower()
            if any(sign in text for sign in self._signs):
                self._room -= len(section.text)
                self.kept.append(replace(section, label=f"{section.label} · {title}".lstrip()))
