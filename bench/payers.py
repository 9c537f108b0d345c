"""Policies that decide what is sent: none, Foldline with various settings, and its peers."""

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
"""Fractions of the window at which a peer is called, and its target; as in Foldline."""

Begin = Callable[[int, Asked], Show]
"""Maps a window, and a record of summary costs, to a policy for one session."""


@dataclass(frozen=True, slots=True)
class Payer:
    """
    A way to manage the context.

    ``config`` configures a session of Foldline, ``most`` limits its window if that is
    less than the model's; ``peer`` is another library. Without both, nothing is compacted.
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
        """Start its process, for any number of sessions."""
        if self.peer is not None:
            with self.peer.running() as running:
                yield lambda window, summary_costs: called(running, window, summary_costs)
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


def called(running: Running, window: int, summary_costs: Asked) -> Show:
    """Call a library when the window is nearly full, and continue from its result."""
    sizes, state, seen = _Sizes(), Wire(), 0
    failed_at = 0

    def show(history: Wire) -> Wire:
        nonlocal state, seen, failed_at
        state = [*state, *history[seen:]]
        seen = len(history)
        before = sum(map(sizes, state))
        # After a failed call, it is not called again before the history grew by a twentieth.
        if before <= max(ACT * window, failed_at):
            return state
        answer = running.compact(state, int(TARGET * window))
        failed_at = 0
        if answer.messages is None:
            summary_costs.failed += 1
            failed_at = before + window // 20
            return state
        made = _same_objects(state, answer.messages)
        after = sum(map(sizes, made))
        if after > ACT * window:
            failed_at = after + window // 20
        if answer.model_calls:
            kept = sum(sizes(m) for m in made if any(m is old for old in state))
            summary_costs.read += before - kept
            summary_costs.written += after - kept
        state = made
        return state

    return show


def _same_objects(old: Wire, new: Wire) -> Wire:
    """Replace messages returned through a pipe by the original objects, where equal."""
    known = {repr(message): message for message in old}
    return [known.get(repr(message), message) for message in new]


def counter() -> TokenCounter:
    """Return the token counter of all policies."""
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
