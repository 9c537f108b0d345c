"""The compared methods to shorten a history."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from foldline.api import Compaction, compact_transcript
from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.evaluation.future_use import render_history, render_message
from foldline.frozen import frozen
from foldline.testing import check_transcript
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

LONGEST = 300
"""Maximum length of a sentence, in characters."""


def broken_promise(result: Compaction[Any], counter: TokenCounter) -> str:
    """
    Check a compaction of a recorded session.

    Args:
        result: The result of `foldline.api.compact_transcript`.
        counter: The counter of the compaction.

    Returns:
        A sentence that names the broken promise and the place; "" if all hold.
    """
    try:
        check_transcript(result, counter)
    except AssertionError as error:
        return str(error)[:LONGEST] or "a promise is broken"
    return ""


CLEARED: Final = "[cleared]"
"""The text that replaces a cleared tool result."""


@frozen
class ShortenedHistory:
    """
    A shortened history.

    ``text`` is what a model reads, and ``seconds`` the processor time.
    ``problem`` explains a failure, ``broken`` a broken promise; "" if there is none.
    """

    text: str
    seconds: float
    problem: str = ""
    broken: str = ""


@frozen
class Method:
    """A named method to shorten a transcript to a budget in tokens."""

    name: str
    make: Callable[[Transcript, TokenCounter, int], ShortenedHistory]


def trimming() -> Method:
    """Keep the newest whole messages that fit."""
    return _timed("trim to the tail", _trim)


def clearing() -> Method:
    """Clear all tool results but the newest that fit, then drop the oldest messages."""
    return _timed("clear tool results", _clear_results)


def _timed(name: str, shorten: Callable[[Sequence[Message], TokenCounter, int], str]) -> Method:
    def make(transcript: Transcript, counter: TokenCounter, budget: int) -> ShortenedHistory:
        start = time.process_time()
        text = shorten(transcript.messages, counter, budget)
        return ShortenedHistory(text, time.process_time() - start)

    return Method(name, make)


def _trim(messages: Sequence[Message], counter: TokenCounter, budget: int) -> str:
    texts = [f"[{message.role}] {render_message(message)}" for message in messages]
    return _newest(texts, list(map(counter.message, messages)), budget)


def policy_method(policy: Policy, config: Config | None = None) -> Method:
    """
    Compact with Foldline, and check its promises.

    Args:
        policy: The policy.
        config: Limits and other settings.
    """

    def make(transcript: Transcript, counter: TokenCounter, budget: int) -> ShortenedHistory:
        start = time.process_time()
        limit = Budget.of_tokens(budget)
        result = compact_transcript(transcript, counter, limit, policy, config=config)
        seconds = time.process_time() - start
        broken = broken_promise(result, counter)
        if result.receipt.status == "failed":
            return ShortenedHistory("", seconds, result.receipt.reason, broken)
        return ShortenedHistory(render_history(result.shown.messages), seconds, broken=broken)

    return Method(f"Foldline {policy.name}", make)


def _clear_results(messages: Sequence[Message], counter: TokenCounter, budget: int) -> str:
    texts, sizes = list[str](), list[int]()
    for message in messages:
        is_tool_result = message.role == "tool"
        texts.append(f"[{message.role}] {CLEARED if is_tool_result else render_message(message)}")
        sizes.append(counter.text(CLEARED) if is_tool_result else counter.message(message))
    room = budget - sum(sizes)
    for index in reversed(range(len(messages))):
        if messages[index].role != "tool":
            continue
        more = counter.message(messages[index]) - sizes[index]
        if more > room:
            break
        room -= more
        texts[index] = f"[tool] {render_message(messages[index])}"
        sizes[index] += more
    return _newest(texts, sizes, budget)


def _newest(texts: Sequence[str], sizes: Sequence[int], budget: int) -> str:
    """Join the newest texts that fit; if the newest alone does not fit, keep its end."""
    first, used = len(texts), 0
    while first and used + sizes[first - 1] <= budget:
        first -= 1
        used += sizes[first]
    if first == len(texts) and texts:
        share = budget / max(1, sizes[-1])
        return texts[-1][-max(1, int(share * len(texts[-1]))) :]
    return "\n".join(texts[first:])
