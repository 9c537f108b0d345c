"""Search in the messages of many sessions, newest first, with limits of time and text."""

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
"""Time after which a search does not continue to older sessions."""

MOST_KEPT: Final = 3_000_000
"""Maximum characters of matching texts that are ranked."""

DIGITS: Final = 12
"""Length of a handle that must be unique in a whole archive."""

BATCH: Final = 64
"""Number of messages that are read between two checks of the clock."""


@frozen
class PastSession:
    """A session to search: its name, and its messages, read on demand."""

    title: str
    messages: Iterable[Message]


@frozen
class PastAnswer:
    """The result of a search; ``searched`` is how many sessions were read to their end."""

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
        past: The sessions, the most important first.
        query: Words of the question, names and quoted phrases.
        fits: The size limit of the answer.
        start: Number of passages on earlier pages.
        clock: Returns seconds.
        seconds: Time limit; after it no further messages are read.

    Raises:
        RecallError: The query has no words, or ``start`` is past the end.
        StoreError: No session could be read to its end, because one is damaged.
    """
    question = parse_query(query)
    if not (question.words or question.names):
        raise RecallError("The query has no words to look for.", hint="Name what it is about.")
    candidates = _Candidates(question, clock, clock() + seconds)
    for session in past:
        if not candidates.read(session):
            break
    if candidates.damage is not None and not candidates.searched:
        raise candidates.damage
    hits = answers.find_passages(candidates.kept, question)
    count = len(hits.passages)
    answers.check_start(start, count, "passages")
    return PastAnswer(answers.write_answer(hits, start, fits), count, candidates.searched)


class _Candidates:
    """The sections with words of a question, collected until a limit is reached."""

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
        """Collect the sections of a session; return False if a limit was reached."""
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
