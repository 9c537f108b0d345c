"""
The cost of a session, replayed request by request with a model of the prompt cache.

Before each answer of the assistant, a context strategy decides what is sent. The prefix that a
request shares with the previous one is read from the cache, the rest is written to
it, and the recorded answer is billed as output. The cache never expires between requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.evaluation.methods import CLEARED
from foldline.formats.registry import dialect
from foldline.frozen import frozen
from foldline.repair.repair import repair
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.values.edits import apply
from foldline.values.identity import shared_length
from foldline.values.messages import Message, Usage
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

Wire: TypeAlias = list[dict[str, Any]]
Show: TypeAlias = Callable[[Wire], Wire]

WIRE: Final = "openai-chat"
"""The format in which all sessions are replayed."""

KEPT_RESULTS: Final = 3
"""Number of tool results kept when the others are cleared at every step."""


@frozen
class Bill:
    """Billed tokens; ``over`` counts requests that exceed the window."""

    usage: Usage
    requests: int
    over: int

    def __add__(self, other: Bill) -> Bill:
        usage = self.usage + other.usage
        return Bill(usage, self.requests + other.requests, self.over + other.over)


NOTHING_PAID: Final = Bill(Usage(), 0, 0)


def nothing() -> Show:
    """Send the whole history."""
    return lambda history: history


def clear_every_step() -> Show:
    """Clear all tool results but the newest, at every request."""
    cleared: dict[int, dict[str, Any]] = {}

    def show(history: Wire) -> Wire:
        results = [i for i, message in enumerate(history) if message["role"] == "tool"]
        for i in results[:-KEPT_RESULTS]:
            if i not in cleared:
                cleared[i] = history[i] | {"content": CLEARED}
        return [cleared.get(i, message) for i, message in enumerate(history)]

    return show


def in_session(policy: Policy, window: int, counter: TokenCounter, config: Config) -> Show:
    """Send the view of a Foldline session, which compacts when due."""
    session = Session.open(
        None,
        "replay",
        store=MemoryStore(),
        window=window,
        policy=policy,
        format=WIRE,
        counter=counter,
        config=config,
    )

    def show(history: Wire) -> Wire:
        session.extend(history[len(session.messages) :])
        view: Wire = session.view()
        return view

    return show


def as_wire(transcript: Transcript) -> Wire:
    """Return a conversation as wire messages, without its system prompt."""
    dialogue = [message for message in transcript.messages if message.role != "system"]
    return dialect(WIRE).messages(apply(dialogue, repair(dialogue, WIRE)))


def replay(history: Wire, show: Show, window: int, counter: TokenCounter) -> Bill:
    """
    Add up the tokens of every request of a session.

    Args:
        history: The whole session.
        show: Returns the messages to send for the history so far.
        window: The window of the model, in tokens.
        counter: Counts messages.
    """
    sizes, before, bill = _Sizes(counter), Wire(), NOTHING_PAID
    for position, message in enumerate(history):
        if not position or message["role"] != "assistant":
            continue
        sent = show(history[:position])
        shared = shared_length(before, sent)
        read, written = sum(map(sizes, sent[:shared])), sum(map(sizes, sent[shared:]))
        usage = Usage(0, sizes(message), cache_read=read, cache_write=written)
        bill += Bill(usage, 1, int(read + written > window))
        before = sent
    return bill


class _Sizes:
    """Counts messages, each object once; keeps references so that object ids stay unique."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[int, tuple[dict[str, Any], int]] = {}

    def __call__(self, message: dict[str, Any]) -> int:
        known = self._known.get(id(message))
        if known is None:
            read: Sequence[Message] = dialect(WIRE).decode([message]).messages
            known = self._known[id(message)] = (message, self._counter.messages(read))
        return known[1]
