"""
Narrative: a model tells what happened, from oldest to newest, and brings its account up to date.

An account that an earlier snapshot has is never summarised again: it is what the first request
updates. What does not fit into one request goes in several, each updating the account so far. An
answer is untrusted: it counts only when it was accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from foldline.core.asks import Ask, Reply, Steps
from foldline.core.protect import is_snapshot
from foldline.core.tokens import TokenCounter
from foldline.strategies.acceptance import Terms, accept
from foldline.strategies.excerpt import excerpt
from foldline.strategies.prompt import Prompt, Task, compose
from foldline.strategies.reading import Piece, chunk, fitted, pieces
from foldline.strategies.telling import LEAST, Telling

EIGHTH = 8
"""A piece takes at most this part of a request, so that little of one is left empty."""

SMALLER = 0.7
"""How large the next request is when the last one did not fit, as a fraction of it."""

PREVIOUS = 0.25
"""Fraction of the reader's window that the account so far may take."""

REACH = "(This account reaches to step {step}; what came later stands in the lines below.)"


@dataclass(frozen=True, slots=True)
class Told:
    """
    What a model told.

    ``problem`` says why there is no account, or why it does not reach to the end; "" when all is
    well, or when there was nothing to tell. ``marked`` counts its claims without evidence.
    """

    text: str = ""
    problem: str = ""
    marked: int = 0


@dataclass(frozen=True, slots=True)
class Course:
    """
    How far the telling is.

    ``left`` is what is still to be read, ``told`` the account so far and ``reach`` the step that
    it reaches to, "" while nothing was told. ``window`` is the reader's, in tokens; ``requests``
    how many may still be made, ``tries`` how many of them for the same steps. ``problem`` is what
    was wrong with the last answer.
    """

    left: tuple[Piece, ...]
    told: str
    window: int
    requests: int
    tries: int
    reach: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """An Ask with the steps that it holds, and those that are left for later ones."""

    ask: Ask
    prompt: Prompt
    task: Task
    now: tuple[Piece, ...]
    later: tuple[Piece, ...]


def narrate(telling: Telling) -> Steps[Told]:
    """
    Ask a model to tell what happened.

    Args:
        telling: What it is told about.

    Returns:
        Its account in plain lines, or as far as it came.
    """
    view, settings = telling.view, telling.settings
    read = pieces(view, telling.need, telling.positions)
    requests = min(telling.need.limits.attempts, settings.chunks + settings.retries)
    if not read:
        return Told()
    if requests < 1:
        return Told(problem="no request to a model is allowed")
    previous = _previous(telling)
    source = sum(piece.tokens for piece in read) + view.counter.text(previous)
    task = telling.task(source)
    if task.tokens < LEAST:
        return Told(problem="there is too little room for an account")
    course = Course(tuple(read), previous, telling.reader.window, requests, 1 + settings.retries)
    while course.left:
        request = _request(telling, telling.within(task, course.window), course)
        if request is None:
            words = f"the window of the summarizer, {course.window:,} tokens, is too small"
            return _as_far(course, words)
        reply = yield request.ask
        terms = Terms(request.task.template, request.task.tokens, source, view.counter.text)
        account, problem = accept(reply, request.ask, request.prompt, terms)
        course = _spent(course, reply)
        if account:
            course = _advanced(course, account, request, 1 + settings.retries)
        elif course.tries < 1 or course.requests < 1 or not _may_help(reply):
            return _as_far(course, f"the summarizer's answer {problem}")
        else:
            course = _repeated(course, request, reply, problem, view.counter)
    return Told(course.told)


def _request(telling: Telling, task: Task, course: Course) -> Request | None:
    """Write the next request; None when the window holds nothing."""
    view = telling.view
    before = max(view.counter.text(course.told), task.tokens)
    capacity = telling.capacity(task, before, course.window)
    if capacity < LEAST:
        return None
    rounds = max(1, min(telling.settings.chunks, course.requests - course.tries + 1))
    whole = sum(piece.tokens for piece in course.left) <= capacity
    room = max(capacity, capacity * rounds * (EIGHTH - 1) // EIGHTH)
    largest = capacity if whole else max(LEAST, capacity // EIGHTH)
    ready = fitted(course.left, view.counter, view.names, room, largest)
    now, later = chunk(ready, capacity)
    text = "\n".join(piece.read() for piece in now)
    prompt = compose(task, text, course.told, more=bool(later), problem=course.problem)
    attempts = min(course.tries, course.requests)
    ask = Ask(prompt.text, telling.cap(task), prompt.system, attempts=attempts)
    return Request(ask, prompt, task, tuple(now), tuple(later))


def _spent(course: Course, reply: Reply) -> Course:
    made = max(1, reply.attempts)
    return replace(course, requests=course.requests - made, tries=course.tries - made)


def _advanced(course: Course, account: str, request: Request, tries: int) -> Course:
    """Take an account as the one so far, and go on with the next steps."""
    reach = request.now[-1].handle
    course = replace(course, told=account, reach=reach, left=request.later)
    return replace(course, tries=tries, problem="")


def _repeated(
    course: Course, request: Request, reply: Reply, problem: str, counter: TokenCounter
) -> Course:
    """Ask for the same steps again: in less room if there was too little."""
    window = course.window
    if reply.stop == "overflow":
        ask = request.ask
        size = counter.text(ask.prompt) + counter.text(ask.system) + ask.max_tokens
        window = int(SMALLER * min(window, size, reply.limit or window))
    left = (*request.now, *request.later)
    # What a provider said stays out of what a model reads.
    return replace(course, left=left, window=window, problem="" if reply.error else problem)


def _may_help(reply: Reply) -> bool:
    return reply.retry or not reply.error or reply.stop == "overflow"


def _as_far(course: Course, problem: str) -> Told:
    """Keep what was told of the older steps: it is paid for, and says how far it reaches."""
    if not course.reach:
        return Told(problem=problem)
    return Told(f"{course.told}\n{REACH.replace('{step}', course.reach)}", problem)


def _previous(telling: Telling) -> str:
    """Return what earlier snapshots among the messages say, without their first lines."""
    view = telling.view
    texts: Sequence[str] = [
        view.messages[position].text.partition("\n")[2]
        for position in telling.positions
        if is_snapshot(view.messages[position])
    ]
    whole = "\n".join(text for text in texts if text)
    room = round(PREVIOUS * telling.reader.window)
    return excerpt(whole, room, view.counter, handle="the snapshot") if whole else ""
