"""Does it still know…? A question, and where its answer stands."""

from __future__ import annotations

from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.knowledge_check import (
    STANDINGS,
    KnowledgeCheck,
    Mention,
    Standing,
    check_knowledge,
)
from foldline.inspector.pages.layout import Links, form, link, note, number, search
from foldline.inspector.trace import SessionTrace

SIGNS = {"here": "=", "snapshot": "❝", "handle": "#", "never": "×"}
"""What stands for each standing beside its colour."""


def knows(trace: SessionTrace, links: Links, query: str, at: int | None) -> Html:
    """
    Answer whether the model knows something.

    Args:
        trace: The session.
        links: Where its pages are.
        query: A name, a sentence or a question.
        at: At which request; None for now.
    """
    points = trace.timeline.points
    point = points[at] if at is not None else trace.timeline.now
    when = "now" if at is None else f"at request {at:,}"
    if query.strip():
        view, log = trace.view(point.request), trace.log_until(point.request)
        found = check_knowledge(query, view, log, trace.handles)
        answer = _answer(trace, links, found, when)
    else:
        answer = note("A name, a sentence or a question: where does the answer stand?")
    heading = h("h1", "Does it still know…?")
    return h("section", heading, _form(trace, links, query, at), answer)


def _form(trace: SessionTrace, links: Links, query: str, at: int | None) -> Html:
    """Write the box in which one asks."""
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
    how = "Nothing says it in these words; the passages that have most to do with it:"
    if answer.literal:
        how = "Found as it is written." if answer.passages else ""
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
