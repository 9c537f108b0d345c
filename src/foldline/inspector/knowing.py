"""Does the model still know it? Where a name, a sentence or an answer stands now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.evaluation.future_use import identifiers
from foldline.recall.answering import find
from foldline.recall.question import Question, understand
from foldline.recall.sections import sections
from foldline.values.frames import is_summary
from foldline.values.messages import Message, visible_texts
from foldline.values.protect import is_snapshot

Standing: TypeAlias = Literal["here", "snapshot", "handle", "never"]

WORDS: Final[dict[Standing, str]] = {
    "here": "stands in view here",
    "snapshot": "told in the snapshot",
    "handle": "only by handle: recall it",
    "never": "never said",
}

LONGEST: Final = 1_000
"""Characters of a query that are read."""

MOST: Final = 12
"""Passages that an answer has."""

POOL: Final = 200
"""Messages in which the answer to a question is looked for: those with most of its words."""

POOL_CHARACTERS: Final = 1_500_000
AROUND: Final = 160
"""Characters before and behind a hit."""


@dataclass(frozen=True, slots=True)
class Passage:
    """
    A text that answers, and where it stands.

    ``start`` and ``end`` are where the hit lies in ``text``, both 0 where there is none to mark.
    ``message`` is its id, ``handle`` what recalls it.
    """

    standing: Standing
    message: str
    handle: str
    role: str
    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known about a query: the best that holds, and the passages that show it."""

    query: str
    standing: Standing
    passages: tuple[Passage, ...]
    literal: bool


def ask(
    query: str,
    view: Sequence[Message],
    log: Sequence[Message],
    handles: Mapping[str, str],
) -> Answer:
    """
    Find out whether something that was said is still known.

    A name or a sentence is looked for as it is written, capitals aside; where it stands nowhere,
    a query of several words is answered by the passages that have to do with it.

    Args:
        query: A name, a sentence or a question.
        view: What the model sees.
        log: Everything that was said until then.
        handles: Handles by id.
    """
    wanted = " ".join(query[:LONGEST].split())
    if not wanted:
        return Answer("", "never", (), literal=True)
    found = tuple(_literal(wanted, view, log, handles))
    if found or " " not in wanted:
        return Answer(wanted, _best(found), found, literal=True)
    order = list(WORDS)
    near = tuple(
        sorted(
            _near(understand(wanted), view, log, handles),
            key=lambda passage: order.index(passage.standing),
        )
    )
    return Answer(wanted, _best(near), near, literal=False)


def _best(found: Iterable[Passage]) -> Standing:
    standings = {passage.standing for passage in found}
    return next((standing for standing in WORDS if standing in standings), "never")


def _literal(
    wanted: str, view: Sequence[Message], log: Sequence[Message], handles: Mapping[str, str]
) -> Iterator[Passage]:
    """Yield places where a text stands as it is: those in view first, then in the log."""
    pattern, longest = _pattern(wanted), max(wanted.split(" "), key=len)
    shown = {message.id: message for message in view}
    counts: dict[Standing, int] = dict.fromkeys(WORDS, 0)
    behind = (m for m in log if shown.get(m.id) is not m and shown.get(m.id) != m)
    places = [*_snapshots_last(view), *behind]
    # Most texts are passed over by a plain look, first as it is written.
    exact = [m for m in places if any(longest in text for text in visible_texts(m))]
    lower = longest.lower()
    for message in exact or places:
        if not exact and not any(lower in text.lower() for text in visible_texts(message)):
            continue
        standing: Standing = "handle"
        if shown.get(message.id) is message:
            standing = "snapshot" if _is_told(message) else "here"
        if counts[standing] >= MOST:
            continue
        hit = _hit(pattern, message)
        if hit is not None:
            counts[standing] += 1
            text, start, end = hit
            handle = handles.get(message.id, "")
            yield Passage(standing, message.id, handle, message.role, text, start, end)


def _snapshots_last(view: Sequence[Message]) -> list[Message]:
    return sorted(view, key=_is_told)


def _pattern(wanted: str) -> re.Pattern[str]:
    """Return what finds a text: blanks of any kind between its words, no letters around it."""
    words = r"\s{1,40}".join(map(re.escape, wanted.split(" ")))
    left = r"(?<!\w)" if wanted[0].isalnum() else ""
    right = r"(?!\w)" if wanted[-1].isalnum() else ""
    return re.compile(f"{left}{words}{right}", re.IGNORECASE)


def _hit(pattern: re.Pattern[str], message: Message) -> tuple[str, int, int] | None:
    for text in visible_texts(message):
        match = pattern.search(text)
        if match:
            first = max(0, match.start() - AROUND)
            passage = text[first : match.end() + AROUND]
            return passage, match.start() - first, match.end() - first
    return None


def _near(
    question: Question, view: Sequence[Message], log: Sequence[Message], handles: Mapping[str, str]
) -> Iterator[Passage]:
    """Yield the passages that have most to do with a question, and where each stands."""
    shown = {message.id: message for message in view}
    known = {message.id for message in log}
    told = [message for message in view if message.id not in known]
    pool = _pool(question, [*log, *told])
    by_handle = {handles.get(message.id, message.id): message for message in pool}
    snapshot = "\n".join(text for m in view if _is_told(m) for text in visible_texts(m))
    names = identifiers(snapshot)
    for passage in find(sections(pool, handles), question).passages[:MOST]:
        handle = passage.section.handle
        message = by_handle.get(handle.partition(".")[0])
        if message is None or not _answers(question, f"{passage.section.label}\n{passage.text}"):
            continue
        standing = _standing(passage.text, message, shown, snapshot, names)
        yield Passage(standing, message.id, handle, message.role, passage.text)


def _answers(question: Question, text: str) -> bool:
    """Return True if a text has every name of a question, and more than half of its words."""
    lower = text.lower()
    held = sum(any(one in lower for one in word.beginnings) for word in question.words)
    return all(name in lower for name in question.names) and 2 * held > len(question.words)


def _pool(question: Question, messages: Sequence[Message]) -> list[Message]:
    """Return the messages that hold most words of a question, in order."""
    scored = []
    for position, message in enumerate(messages):
        text = "\n".join(visible_texts(message)).lower()
        score = sum(any(one in text for one in word.beginnings) for word in question.words)
        score += sum(name in text for name in question.names)
        if score:
            scored.append((-score, len(text), position))
    chosen = list[int]()
    size = 0
    for _, length, position in sorted(scored)[:POOL]:
        size += length
        if chosen and size > POOL_CHARACTERS:
            break
        chosen.append(position)
    return [messages[position] for position in sorted(chosen)]


def _standing(
    text: str,
    message: Message,
    shown: Mapping[str, Message],
    snapshot: str,
    names: set[str],
) -> Standing:
    now = shown.get(message.id)
    if now is not None and _is_told(now):
        return "snapshot"
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if now is not None and (now == message or _stand(lines, "\n".join(visible_texts(now)))):
        return "here"
    if _stand(lines, snapshot):
        return "snapshot"
    own = identifiers(text)
    return "snapshot" if own and len(own & names) > len(own) / 2 else "handle"


def _stand(lines: Sequence[str], text: str) -> bool:
    """Return True if most of some lines stand in a text."""
    return bool(lines) and sum(line in text for line in lines) > len(lines) / 2


def _is_told(message: Message) -> bool:
    return is_snapshot(message) or (message.role == "user" and is_summary(message.text))
