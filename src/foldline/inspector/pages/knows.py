"""Does it still know…? Find the answer to a question in view or log, and write the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from typing import Final, Literal, TypeAlias

from foldline.evaluation.future_use import identifiers
from foldline.frozen import frozen
from foldline.inspector.comparison import SnapshotText
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import Links, form, link, note, number, search
from foldline.inspector.trace import SessionTrace
from foldline.recall.answers import find_passages
from foldline.recall.ranking import RecallQuery, parse_query
from foldline.recall.sections import cut_sections
from foldline.values.frames import is_summary
from foldline.values.messages import Message, visible_texts
from foldline.values.protect import is_snapshot

Standing: TypeAlias = Literal["here", "snapshot", "handle", "never"]

STANDINGS: Final[dict[Standing, str]] = {
    "here": "in view, here",
    "snapshot": "in the snapshot",
    "handle": "only by handle: recall it",
    "never": "never mentioned",
}

LONGEST: Final = 1_000
"""Maximum length of a query, in characters."""

MOST: Final = 12
"""Maximum passages of an answer."""

POOL: Final = 200
"""Maximum messages searched for an answer: those with most words of the question."""

POOL_CHARACTERS: Final = 1_500_000
AROUND: Final = 160
"""Characters of context on each side of a match."""


@frozen
class Mention:
    """
    A passage that matches, and where it is.

    ``start`` and ``end`` delimit the match in ``text``, both 0 if there is none to mark.
    ``message`` is its id, ``handle`` what recalls it.
    """

    standing: Standing
    message: str
    handle: str
    role: str
    text: str
    start: int = 0
    end: int = 0


@frozen
class KnowledgeCheck:
    """The answer to a query: the best standing, and the passages that show it."""

    query: str
    standing: Standing
    passages: tuple[Mention, ...]
    literal: bool


def check_knowledge(
    query: str, view: Sequence[Message], log: Sequence[Message], handles: Mapping[str, str]
) -> KnowledgeCheck:
    """
    Determine whether the model still knows something.

    A name or a sentence is searched literally, ignoring case; if it is not found,
    a query of several words is answered by the passages most related to it.

    Args:
        query: A name, a sentence or a question.
        view: What the model sees.
        log: All messages until then.
        handles: Handles by id.
    """
    text = " ".join(query[:LONGEST].split())
    if not text:
        return KnowledgeCheck("", "never", (), literal=True)
    places = _Places(view, log, handles)
    question = parse_query(text) if " " in text else None
    found, pool = places.search(_Phrase(text), question)
    if found or question is None:
        return KnowledgeCheck(text, _best(found), tuple(found), literal=True)
    order = list(STANDINGS)
    near = sorted(places.find_related(question, pool), key=lambda one: order.index(one.standing))
    return KnowledgeCheck(text, _best(near), tuple(near), literal=False)


def _best(found: Iterable[Mention]) -> Standing:
    standings = {mention.standing for mention in found}
    return next((standing for standing in STANDINGS if standing in standings), "never")


class _Phrase:
    """A literal text: any whitespace between its words, no letters around it."""

    def __init__(self, text: str) -> None:
        words = text.lower().split(" ")
        self.words = sorted(words, key=len, reverse=True)
        self._bounds = text[0].isalnum(), text[-1].isalnum()
        # Without flags, and starting with the first word, the pattern matches many times faster.
        self._pattern = re.compile(r"\s{1,40}".join(map(re.escape, words)))

    def find(self, message: Message) -> tuple[str, int, int] | None:
        """Return a match with its context, and its start and end in that."""
        for text in visible_texts(message):
            lower = text.lower()
            if len(lower) != len(text):  # a few capitals become two characters
                text = lower
            for match in self._pattern.finditer(lower):
                start, end = match.span()
                if not self._within_word(lower, start, end):
                    first = max(0, start - AROUND)
                    return text[first : end + AROUND], start - first, end - first
        return None

    def _within_word(self, text: str, start: int, end: int) -> bool:
        left, right = self._bounds
        return (left and _is_letter(text[max(0, start - 1) : start])) or (
            right and _is_letter(text[end : end + 1])
        )


def _is_letter(text: str) -> bool:
    return text.isalnum() or text == "_"


@frozen
class _Places:
    """All messages until a request, and the view of the model at that time."""

    view: Sequence[Message]
    log: Sequence[Message]
    handles: Mapping[str, str]

    @cached_property
    def view_by_id(self) -> dict[str, Message]:
        """The messages in view, by id."""
        return {message.id: message for message in self.view}

    @cached_property
    def snapshots(self) -> list[Message]:
        """The messages in view that replace others."""
        return [m for m in self.view if _stands_for_others(m)]

    def search(
        self, phrase: _Phrase, question: RecallQuery | None
    ) -> tuple[list[Mention], list[Message]]:
        """
        Search all texts once, those in view first.

        Returns:
            The literal matches of a phrase; if there are none, the messages that have
            the most words of a question.
        """
        in_view = self.view_by_id
        view = sorted(self.view, key=_stands_for_others)  # replacements last
        behind = [m for m in self.log if in_view.get(m.id) is not m and in_view.get(m.id) != m]
        hidden = {message.id for message in behind}
        found: list[Mention] = []
        scored: list[tuple[int, int, Message]] = []
        counts: dict[Standing, int] = dict.fromkeys(STANDINGS, 0)
        forms = _forms(question)
        for index, message in enumerate((*view, *behind)):
            lower = "\n".join(visible_texts(message)).lower()
            if all(map(lower.__contains__, phrase.words)):
                standing = self._literal_standing(message)
                hit = phrase.find(message) if counts[standing] < MOST else None
                if hit is not None:
                    counts[standing] += 1
                    handle = self.handles.get(message.id, "")
                    found.append(Mention(standing, message.id, handle, message.role, *hit))
            elif forms and not found and (index >= len(view) or message.id not in hidden):
                score = _score(lower, forms)
                if score:
                    scored.append((-score, len(lower), message))
        return found, [] if found else self._pool(scored)

    def _literal_standing(self, message: Message) -> Standing:
        if self.view_by_id.get(message.id) is not message:
            return "handle"
        return "snapshot" if _stands_for_others(message) else "here"

    def _pool(self, scored: list[tuple[int, int, Message]]) -> list[Message]:
        """Return the best messages in log order; those not in the log come last."""
        order = {message.id: index for index, message in enumerate(self.log)}
        last = len(order)
        chosen = list[Message]()
        size = 0
        for _, length, message in nsmallest(
            POOL, scored, key=lambda one: (*one[:2], order.get(one[2].id, last))
        ):
            size += length
            if chosen and size > POOL_CHARACTERS:
                break
            chosen.append(message)
        return sorted(chosen, key=lambda message: order.get(message.id, last))

    def find_related(self, question: RecallQuery, pool: Sequence[Message]) -> Iterator[Mention]:
        """Yield the passages most related to a question, each with its standing."""
        by_handle = {self.handles.get(message.id, message.id): message for message in pool}
        snapshot = SnapshotText(self.snapshots)
        for passage in find_passages(cut_sections(pool, self.handles), question).passages[:MOST]:
            handle, text = passage.section.handle, passage.text
            message = by_handle.get(handle.partition(".")[0])
            if message is not None and _answers(question, f"{passage.section.label}\n{text}"):
                standing = self._standing(text, message, snapshot)
                yield Mention(standing, message.id, handle, message.role, text)

    def _standing(self, text: str, message: Message, snapshot: SnapshotText) -> Standing:
        now = self.view_by_id.get(message.id)
        if now is not None and _stands_for_others(now):
            return "snapshot"
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        if now is not None and (
            now == message or 2 * SnapshotText([now]).quotes(lines) > len(lines)
        ):
            return "here"
        own = identifiers(text)
        named = own and len(own & snapshot.names) > len(own) / 2
        return "snapshot" if named or 2 * snapshot.quotes(lines) > len(lines) else "handle"


def _forms(question: RecallQuery | None) -> list[tuple[str, ...]]:
    if question is None:
        return []
    return [*(word.beginnings for word in question.words), *((n,) for n in question.names)]


def _score(text: str, forms: Sequence[Sequence[str]]) -> int:
    """Count the words of which a form occurs in a text."""
    return sum(any(map(text.__contains__, one)) for one in forms)


def _answers(question: RecallQuery, text: str) -> bool:
    """Return True if a text has all names of a question, and more than half of its words."""
    lower = text.lower()
    held = _score(lower, [word.beginnings for word in question.words])
    return all(name in lower for name in question.names) and 2 * held > len(question.words)


def _stands_for_others(message: Message) -> bool:
    return is_snapshot(message) or (message.role == "user" and is_summary(message.text))


SIGNS = {"here": "=", "snapshot": "❝", "handle": "#", "never": "×"}
"""The symbol of each standing, in addition to its colour."""


def knows(trace: SessionTrace, links: Links, query: str, at: int | None) -> Html:
    """
    Write the page that answers whether the model knows something.

    Args:
        trace: The session.
        links: The addresses of its pages.
        query: A name, a sentence or a question.
        at: Number of the request; None for now.
    """
    points = trace.timeline.points
    point = points[at] if at is not None else trace.timeline.now
    when = "now" if at is None else f"at request {at:,}"
    if query.strip():
        view, log = trace.view(point.request), trace.log_until(point.request)
        found = check_knowledge(query, view, log, trace.handles)
        answer = _answer(trace, links, found, when)
    else:
        answer = note("Search for a name, a sentence or a question.")
    heading = h("h1", "Does it still know…?")
    return h("section", heading, _form(trace, links, query, at), answer)


def _form(trace: SessionTrace, links: Links, query: str, at: int | None) -> Html:
    """Write the search form."""
    last = str(len(trace.timeline.points) - 1)
    chosen = None if at is None else str(at)
    words = "a name, a sentence, a question"
    return form(
        links,
        "/knows",
        h("label", "Ask ", search(query, words, size="40", maxlength="1000")),
        h("label", " at request ", number("at", chosen, max=last, placeholder="now")),
        h("button", "Does it know?"),
        role="search",
        data_live=True,
    )


def _answer(trace: SessionTrace, links: Links, answer: KnowledgeCheck, when: str) -> Html:
    words = STANDINGS[answer.standing]
    if answer.standing == "handle" and not trace.is_ours:
        words = "out of view: only in the agent's file"
    how = "There is no literal match; the most related passages:"
    if answer.literal:
        how = "Found literally." if answer.passages else ""
    verdict = [_sign(answer.standing), " ", h("strong", words), f", {when}."]
    return h(
        "div",
        h("p", verdict, class_="verdict", role="status"),
        note(how) if how else None,
        h("ol", [_passage(trace, links, one) for one in answer.passages], class_="passages"),
    )


def _sign(standing: Standing) -> Html:
    return h("span", SIGNS[standing], aria_hidden="true", class_=f"standing {standing}")


def _passage(trace: SessionTrace, links: Links, one: Mention) -> Html:
    words = STANDINGS[one.standing]
    if one.standing == "handle" and not trace.is_ours:
        words = "out of view"
    position = trace.positions.get(one.message)
    name = "the snapshot" if position is None else f"{one.role} #{position:,}"
    head = join(_sign(one.standing), f" {words} · ", link(name, links.message(one.message)))
    if one.standing == "handle" and trace.is_ours:
        head = join(head, " · ", h("code", f"foldline recall {one.handle}"))
    text: Child = one.text
    if one.end > one.start:
        hit = h("mark", one.text[one.start : one.end])
        text = [one.text[: one.start], hit, one.text[one.end :]]
    return h("li", h("p", head), h("pre", text, dir="auto"))
