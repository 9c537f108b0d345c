"""Who decides what is sent: nobody, Foldline by its settings, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from foldline.core.config import Config
from foldline.engine.policies import configure
from foldline.evaluation.pricing import Show, Wire, clear_every_step, in_session, nothing
from foldline.formats.registry import dialect
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TokenCounter
from peer import Peer, Running
from replaying import Asked

ACT, TARGET = 0.8, 0.4
"""Fractions of the window from which on a peer is called, and to which; as Foldline's own."""

Begin = Callable[[int, Asked], Show]
"""From a window, and where to note what summaries cost, to what decides for one session."""


@dataclass(frozen=True, slots=True)
class Payer:
    """
    A way to manage the context.

    ``config`` is how a session of Foldline is set, ``most`` the window that it is given if that is
    less than the model's; ``peer`` is another library. Neither is one that needs none.
    """

    name: str
    config: Config | None = None
    most: int = 0
    peer: Peer | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is Foldline."""
        return self.config is not None

    @contextmanager
    def ready(self) -> Iterator[Begin]:
        """Start what it needs, for any number of sessions."""
        if self.peer is not None:
            with self.peer.running() as running:
                yield lambda window, asked: called(running, window, asked)
        elif self.config is not None:
            yield self._session
        else:
            make = clear_every_step if self.name == CLEAR else nothing
            yield lambda _window, _asked: make()

    def _session(self, window: int, _: Asked) -> Show:
        assert self.config is not None
        window = min(window, self.most or window)
        return in_session(configure(self.config), window, counter(), self.config)


CLEAR = "clear at every step"
THRIFTLESS = {"enabled": False}
PLAIN = (
    Payer("no compaction"),
    Payer(CLEAR),
    Payer("Foldline", Config()),
    Payer("Foldline, economy off", Config(economy=THRIFTLESS)),  # type: ignore[arg-type]  # a mapping will do
    Payer("Foldline, to 64,000", Config(economy={"keep": 64_000})),  # type: ignore[arg-type]  # as above
    Payer("Foldline, to 24,000", Config(economy={"keep": 24_000})),  # type: ignore[arg-type]  # as above
    Payer("Foldline in 32,000", Config(), 32_000),
    Payer("Foldline clear", Config(policy="clear")),
)


def called(running: Running, window: int, asked: Asked) -> Show:
    """Call a library once the window is nearly full, and go on from what it returns."""
    sizes, state, seen = _Sizes(), Wire(), 0
    failed_at = 0

    def show(history: Wire) -> Wire:
        nonlocal state, seen, failed_at
        state = [*state, *history[seen:]]
        seen = len(history)
        before = sum(map(sizes, state))
        # After a call in vain, it is not called again before a twentieth more was said.
        if before <= max(ACT * window, failed_at):
            return state
        answer = running.compact(state, int(TARGET * window))
        failed_at = 0
        if answer.messages is None:
            asked.failed += 1
            failed_at = before + window // 20
            return state
        made = _same_objects(state, answer.messages)
        after = sum(map(sizes, made))
        if after > ACT * window:
            failed_at = after + window // 20
        if answer.model_calls:
            kept = sum(sizes(m) for m in made if any(m is old for old in state))
            asked.read += before - kept
            asked.written += after - kept
        state = made
        return state

    return show


def _same_objects(old: Wire, new: Wire) -> Wire:
    """Return messages that came back through a pipe as the objects that went in, where equal."""
    known = {repr(message): message for message in old}
    return [known.get(repr(message), message) for message in new]


def counter() -> TokenCounter:
    """Return what counts for everybody."""
    return TokenCounter(choose_counter())


class _Sizes:
    """Counts messages, each object once."""

    def __init__(self) -> None:
        self._counter = counter()
        self._known: dict[int, tuple[dict[str, Any], int]] = {}

    def __call__(self, message: dict[str, Any]) -> int:
        known = self._known.get(id(message))
        if known is None:
            read = dialect("openai-chat").decode([message]).messages
            known = self._known[id(message)] = (message, self._counter.messages(read))
        return known[1]
