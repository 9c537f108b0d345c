"""
Model summary: a model writes an account of the folded messages, oldest first, and updates it.

The account of an earlier snapshot is not summarized again: the first request updates it.
Messages that do not fit into one request are sent in several, each updating the account so far. An
answer is untrusted: it counts only after it was accepted.
"""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.asks import Ask, Reply, Steps
from foldline.core.summary_settings import ModelSummary
from foldline.frozen import frozen, replace
from foldline.relevance.language import Language
from foldline.snapshot.excerpt import excerpt
from foldline.snapshot.phrases import phrases_for
from foldline.summary.acceptance import Terms, accept
from foldline.summary.history_rendering import HistoryPiece, chunk, fit_pieces, pieces
from foldline.summary.prompt import SummaryPrompt, SummaryTask, compose
from foldline.summary.summary_request import LEAST, SummaryRequest, known_handles
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter

EIGHTH = 8
"""Divisor of the size of a request: the maximum size of a piece, so that requests are full."""

SMALLER = 0.7
"""Size of the next request after one that did not fit, as a fraction of it."""

PREVIOUS = 0.25
"""Fraction of the summarizer's window that the account so far may take."""


@frozen
class SummaryProgress:
    """
    The progress of a summary.

    ``left`` are the pieces still to be read, ``account`` the account so far and ``reach`` the last
    step in it, "" if there is none. ``window`` is the summarizer's, in tokens; ``requests`` how
    many may still be made, ``tries`` how many of them for the same steps. ``problem`` is why the
    last answer was rejected.
    """

    left: tuple[HistoryPiece, ...]
    account: str
    window: int
    requests: int
    tries: int
    reach: str = ""
    problem: str = ""


@frozen
class ChunkAsk:
    """An Ask with the steps that it contains, and the steps for later ones."""

    ask: Ask
    prompt: SummaryPrompt
    task: SummaryTask
    now: tuple[HistoryPiece, ...]
    later: tuple[HistoryPiece, ...]


def summarize_with_model(request: SummaryRequest) -> Steps[ModelSummary]:
    """
    Let a model write an account of the folded messages.

    Args:
        request: The messages, the size of the account and the settings.

    Returns:
        The account in plain lines; after a problem, as far as it was accepted.
    """
    view, settings = request.view, request.settings
    read = pieces(view, request.context, request.positions)
    requests = min(request.context.limits.attempts, settings.chunks + settings.retries)
    if not read:
        return ModelSummary()
    if requests < 1:
        return ModelSummary(problem="no request to a model is allowed")
    previous = _previous(request)
    source = sum(piece.tokens for piece in read) + view.counter.text(previous)
    source += request.cut_tokens()
    task = request.task(source)
    if task.tokens < LEAST:
        return ModelSummary(problem="there is too little room for an account")
    is_known = known_handles(view, request.context)
    progress = SummaryProgress(
        tuple(read), previous, request.reader.window, requests, 1 + settings.retries
    )
    while progress.left:
        chunk_ask = _chunk_ask(request, request.within(task, progress.window), progress)
        if chunk_ask is None:
            words = f"the window of the summarizer, {progress.window:,} tokens, is too small"
            return _partial(progress, words, request.language)
        reply = yield chunk_ask.ask
        terms = Terms(
            chunk_ask.task.template, chunk_ask.task.limit, source, view.counter.text, is_known
        )
        account, problem = accept(reply, chunk_ask.ask, chunk_ask.prompt, terms)
        made = max(1, reply.attempts)
        progress = replace(
            progress, requests=progress.requests - made, tries=progress.tries - made
        )
        if account:
            reach, tries = chunk_ask.now[-1].handle, 1 + settings.retries
            progress = replace(
                progress,
                account=account,
                reach=reach,
                tries=tries,
                problem="",
                left=chunk_ask.later,
            )
        elif progress.tries < 1 or progress.requests < 1 or not _may_help(reply):
            return _partial(progress, f"the summarizer's answer {problem}", request.language)
        else:
            progress = _repeat(progress, chunk_ask, reply, problem, view.counter)
    return ModelSummary(progress.account)


def _chunk_ask(
    request: SummaryRequest, task: SummaryTask, progress: SummaryProgress
) -> ChunkAsk | None:
    """Write the next request; None if the window is too small."""
    view = request.view
    waiting, before = sum(p.tokens for p in progress.left), view.counter.text(progress.account)
    capacity = request.capacity(task, before, progress.window)
    whole = waiting <= capacity
    if not whole:
        # The account grows from request to request.
        capacity = request.capacity(task, max(before, task.limit), progress.window)
    if capacity < LEAST:
        return None
    rounds = max(1, min(request.settings.chunks, progress.requests - progress.tries + 1))
    room = max(capacity, capacity * rounds * (EIGHTH - 1) // EIGHTH)
    largest = capacity if whole else max(LEAST, capacity // EIGHTH)
    ready = fit_pieces(progress.left, view.counter, view.names, room, largest)
    now, later = chunk(ready, capacity)
    text = "\n".join(piece.read() for piece in now)
    prompt = compose(task, text, progress.account, more=bool(later), problem=progress.problem)
    attempts = min(progress.tries, progress.requests)
    ask = Ask(prompt.text, request.cap(task), prompt.system, attempts=attempts)
    return ChunkAsk(ask, prompt, task, tuple(now), tuple(later))


def _repeat(
    progress: SummaryProgress,
    chunk_ask: ChunkAsk,
    reply: Reply,
    problem: str,
    counter: TokenCounter,
) -> SummaryProgress:
    """Prepare another request for the same steps, smaller after an overflow."""
    window = progress.window
    if reply.stop == "overflow":
        ask = chunk_ask.ask
        size = counter.text(ask.prompt) + counter.text(ask.system) + ask.max_tokens
        window = int(SMALLER * min(window, size, reply.limit or window))
    left = (*chunk_ask.now, *chunk_ask.later)
    # The error of a provider is not passed on to a model.
    return replace(progress, left=left, window=window, problem="" if reply.error else problem)


def _may_help(reply: Reply) -> bool:
    return reply.retry or not reply.error or reply.stop == "overflow"


def _partial(progress: SummaryProgress, problem: str, language: Language | None) -> ModelSummary:
    """Keep the account of the older steps, with a note on how far it reaches."""
    if not progress.reach:
        return ModelSummary(problem=problem)
    reach = phrases_for(language).reach.replace("{step}", progress.reach)
    return ModelSummary(f"{progress.account}\n{reach}", problem)


def _previous(request: SummaryRequest) -> str:
    """Return the texts of earlier snapshots among the messages, without their first lines."""
    view = request.view
    texts: Sequence[str] = [
        view.messages[position].text.partition("\n")[2]
        for position in request.positions
        if is_snapshot(view.messages[position])
    ]
    whole = "\n".join(text for text in texts if text)
    room = round(PREVIOUS * request.reader.window)
    return excerpt(whole, room, view.counter, handle="the snapshot") if whole else ""
