"""Requests: what the user asked for, each with the statement that says best what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from foldline.core.strategy import CompactionContext
from foldline.lazy import lazy_pattern
from foldline.snapshot.announcements import is_chatter
from foldline.snapshot.format import handle_at, one_line
from foldline.snapshot.phrases import Phrases, request_row
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import COLONS, Slice, prose, sentences, shorten
from foldline.snapshot.worth import ASKING, Judge
from foldline.values.frames import user_words
from foldline.values.protect import is_snapshot
from foldline.values.view import View

MAX_REQUESTS, REQUEST, ANSWER = 40, 90, 220
"""How many of the newest requests are listed, and characters of each and of what came of it."""

NOTHING: Final = -1
"""The place of a statement that there is not."""

INTERRUPTED: Final = "[Request interrupted by user"
"""How a client reports in the user's name that the user stopped it."""

LONGEST: Final = 20_000
"""Characters of an answer that are looked at."""

OUTCOME: Final = 1.5
"""How much more a statement tells what came of a request that has a word of outcomes."""

CODE: Final = 60
"""Characters of a block of code that an answer shows."""

_OUTCOME = lazy_pattern(
    r"\b(?:done|fixed|added|removed|created|updated|changed|implemented|complete\w*|pass(?:es|ed)?"
    r"|works?|fail\w*|found|because|cannot|can't|should|is now|are now|root cause|conclusion)\b"
    r"|完成|修复|已|失败|通过|原因|✅|❌",
    re.IGNORECASE,
)
_FENCED = lazy_pattern(
    r"^[ \t]*(`{3,})[^`\n]*$\n?(.*?)(?:^[ \t]*\1`*[ \t]*$(?:\n[ \t]*(?=\n|\Z))*\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)
_TABLE = lazy_pattern(r"^[ \t]{0,8}\|[^\n]*\|[ \t\r]*(?:\n|\Z)", re.MULTILINE)


class Requests:
    """
    The requests of the user in some messages.

    Args:
        view: What the model sees.
        context: Handles.
        folded: The positions of the messages that are folded.
        judge: Says what statements are worth.
        phrases: The words of the rows.
    """

    def __init__(
        self,
        view: View,
        context: CompactionContext,
        folded: frozenset[int],
        judge: Judge,
        phrases: Phrases,
    ) -> None:
        self.view, self.context, self.folded = view, context, folded
        self.judge, self.phrases = judge, phrases
        self.messages = view.history

    def rows(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """List the requests of an earlier snapshot too; the last known outcome of each counts."""
        newer = list(islice(self._newest_first(), MAX_REQUESTS))[::-1]
        last = len(earlier) - 1 if not newer else -1
        found: dict[str, str] = {}
        for number, row in enumerate(earlier):
            row = request_row(row, self.phrases, is_latest=number == last)
            found[row.partition(" ")[0]] = row
        for row, has_outcome in newer:
            handle = row.partition(" ")[0]
            if has_outcome or handle not in found:
                found.pop(handle, None)
                found[handle] = row
        return tuple(found.values())

    def _newest_first(self) -> Iterator[tuple[str, bool]]:
        """
        Yield the requests of the user, each with the last statement before the next one.

        And whether there is such a statement.
        """
        requests = list(self._requests())
        messages = enumerate(self.view.messages)
        snapshots = {index for index, message in messages if is_snapshot(message)}
        first = {words: index for index, words in reversed(requests) if index in self.folded}
        listed, begin = set[str](), len(self.messages)
        for index, words in reversed(requests):
            end, begin = begin, index
            between, latest = range(index + 1, end), end == len(self.messages)
            if index not in self.folded and self.folded.isdisjoint(between):
                continue
            place, answer = self._answer(between, latest=latest)
            if index not in self.folded and place != NOTHING and place not in self.folded:
                if reply := self._reply_aside(index, words):
                    answer, begin = reply, end  # The interrupted work goes on behind it.
                elif not self._goes_on(index, place):
                    continue  # The reader sees both.
                else:
                    place, answer = self._answer(self._folded_of(between), latest=latest)
                    if place == NOTHING or _announces(self._statement(place)):
                        continue
            # A client may state it again, such as after a compaction of its own, or the user.
            repeated = first.get(words, index) < index or words in listed
            # What came of it may be in what an earlier snapshot left out.
            is_unknown = repeated or not snapshots.isdisjoint(between)
            if place == NOTHING and not latest and is_unknown:
                continue
            listed.add(words)
            whole = "" if index in self.folded else self.phrases.beside
            handle = handle_at(self.view, self.context, index)
            yield f"{handle} “{shorten(words, REQUEST)}”{whole}{answer}", place != NOTHING

    def _requests(self) -> Iterator[tuple[int, str]]:
        """Yield what the user says, each with its position."""
        for index, message in enumerate(self.messages):
            if message.role == "user" and not is_snapshot(self.view.messages[index]):
                words = one_line(user_words(message))
                if _asks(words):
                    yield index, words

    def _folded_of(self, positions: range) -> Sequence[int]:
        return [position for position in positions if position in self.folded]

    def _goes_on(self, request: int, place: int) -> bool:
        """Return True if work goes on in view, and what came of a request stands before it."""
        has_outcome = _OUTCOME.search(self._statement(place)) is not None
        return bool(self.messages[place].calls) and not has_outcome and min(self.folded) < request

    def _reply_aside(self, index: int, words: str) -> str:
        """Return a row for the folded answer to a question that interrupts work, "" if none is."""
        interrupts = index > 0 and self.messages[index - 1].role != "assistant"
        answer = self._statement(index + 1) if index + 1 in self.folded else ""
        if not (words.endswith(ASKING) and interrupts and answer) or _announces(answer):
            return ""
        return f"{self.phrases.answered}{shorten(answer, ANSWER)}"

    def _answer(self, between: Sequence[int], *, latest: bool) -> tuple[int, str]:
        """Return where a statement stands that says best what came of a request, and a row."""
        announced, place = "", NOTHING
        for index in reversed(between):
            if answer := self._statement(index):
                tells = not _announces(answer)
                working = latest and (not tells or bool(self.messages[index].calls or announced))
                came = self.phrases.working if working else self.phrases.answered
                row = f"{came}{shorten(answer, ANSWER)}"
                if tells:
                    return index, row
                # What it says next tells nothing; an earlier statement may.
                if not announced and (latest or _OUTCOME.search(answer)):
                    announced, place = row, index
        return place, announced or (self.phrases.silent if latest else self.phrases.unanswered)

    def _statement(self, index: int) -> str:
        """Return what a message of the agent says that is worth the most, "" for nothing."""
        message = self.messages[index]
        text = message.text.strip() if message.role == "assistant" else ""
        return one_line(self._telling(text[:LONGEST])) if text else ""

    def _telling(self, text: str) -> str:
        """Return the statement of an answer that is worth the most, whole if it is short."""
        unfenced = _FENCED.sub(_code_line, text)
        text = unfenced if unfenced.strip() else text
        beside = _TABLE.sub("", text)
        text = beside if _OUTCOME.search(beside) else text
        pieces = prose(text)
        best = pieces[0] if len(pieces) == 1 else self._best(text, pieces)
        statements = sentences(text[slice(*best)])
        first = next((n for n, s in enumerate(statements) if _OUTCOME.search(s)), 0)
        return ("… " if first else "") + " ".join(statements[first:])

    def _best(self, text: str, pieces: Sequence[Slice]) -> Slice:
        """Return the statement of an answer that is worth the most, the first of equal ones."""
        source = SourceText(0, 0, "agent", text, "", 0.25, 1.0)
        ranked = [
            worth * (OUTCOME if _OUTCOME.search(text, *piece) else 1.0)
            for piece, worth in zip(pieces, self.judge.worths(source, pieces), strict=True)
        ]
        return pieces[ranked.index(max(ranked))]


def _announces(answer: str) -> bool:
    """Return True if an answer only says what comes next."""
    return is_chatter(answer.removeprefix("… ")) or answer.endswith(COLONS)


def _asks(words: str) -> bool:
    """Return True if a user says something: neither a slip nor that a client was interrupted."""
    return not words.startswith(INTERRUPTED) and any(map(str.isalnum, words))


def _code_line(block: re.Match[str]) -> str:
    """Return what an answer shows of a block of code: its first line where it is announced."""
    before = block.string[max(0, block.start() - CODE) : block.start()].rstrip()
    if not before.endswith(COLONS):
        return "\n\n"
    line, _, rest = block[2].strip().partition("\n")
    if not line:
        return "\n"
    return f"`{line[:CODE].rstrip()}`{' …' if rest or len(line) > CODE else ''}\n"
