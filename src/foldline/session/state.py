"""
What a session knows, and the one way in which it changes.

A change is first recorded in the store and then shown. If anything goes wrong in between, the
session is stale and reads itself again from the store before it does anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from foldline.ask_runner import ModelLike
from foldline.core.asks import ModelLimits
from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.engine.events import Level, Pressure
from foldline.errors import FoldlineError, StoreError
from foldline.frozen import field, frozen, replace
from foldline.session.batches import restore_history
from foldline.session.checkpoint import restore_checkpoint
from foldline.session.codec import Codec, decode_stored
from foldline.session.current_view import Anchor, CurrentView
from foldline.session.damage import reading
from foldline.session.hooks import Hooks
from foldline.session.log import Log
from foldline.session.memory import PreparedSlot, from_store, text_from_store
from foldline.session.message_ids import MessageIds
from foldline.session.throttle import CompactionThrottle, pressure
from foldline.stores.protocol import Change, Store, StoredMessage, StoredSession
from foldline.tokens.calibrate import Calibration
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from foldline.models.client import Client


ANSWERED_WITHIN: Final = 20
"""Among so many messages the model's last answer is looked for when a session is taken up."""

MOST_REPORTED: Final = 10**9
"""Tokens of a request from which on a report is not believed: no window is that large."""


@frozen
class SessionSettings:
    """
    What a session works with.

    ``clock`` returns seconds since 1970. ``by_format`` says that the provider whose rules count
    media is the one of the wire format, once that is known. ``reader`` is who answers an Ask, None
    when nobody does. ``model`` is the name of the model that reads the view, "" when unknown.
    ``summarizer`` is who answers; ``owned_client`` is the same if it was made for this session.
    """

    store: Store
    counter: TokenCounter
    budget: Budget
    policy: Policy
    clock: Callable[[], float]
    by_format: bool = False
    reader: ModelLimits | None = None
    config: Config = field(default_factory=Config)
    hooks: Hooks = field(default_factory=Hooks)
    model: str = ""
    summarizer: ModelLike | None = None
    owned_client: Client | None = None


class SessionState:
    """
    One session in memory.

    Args:
        setting: What it works with.
        codec: Reads and writes its messages.
        stored: What the store has of it.
    """

    def __init__(self, settings: SessionSettings, codec: Codec, stored: StoredSession) -> None:
        self.settings = settings
        self.codec = codec
        self.name = stored.head.name
        self.requested: str | None = None
        self.prepared_slot = PreparedSlot(settings.config.breaker.closed())
        self._restore(stored)

    # --- from and to the store -------------------------------------------------------------

    def _restore(self, stored: StoredSession) -> None:
        self.generation = stored.generation
        self.number = stored.number
        log = Log(stored, self._read, self._load)
        self.current_view = CurrentView(self.settings.counter, log, self.settings.config.files)
        self.ids = MessageIds(log.positions)
        self.history = restore_history(stored, self._load)
        self.checkpoint = -1
        self.calibration = Calibration()
        self.throttle = CompactionThrottle(rules=self.settings.config.pace)
        self.viewed = 0
        self.known_dialect = stored.head.dialect
        with reading(self.name):
            self.codec.follow(self.known_dialect)
        if stored.messages:
            self.show_again(stored)
            with reading(self.name):
                self.throttle.active = self._find_last_answer(stored)
        self._resume()
        self._remember(stored)
        self.level: Level = self.pressure.level
        # Last: what an exception left half read is read again.
        self.stale = False

    def _load(self) -> StoredSession:
        found = self.settings.store.load(self.name)
        if found is None or found.number != self.number:
            raise StoreError(
                f"The session {self.name!r} is no longer in the store.",
                hint="Open it again to go on with what has its name now.",
            )
        return found

    def show_again(self, stored: StoredSession | None = None) -> None:
        """Show what the compactions in effect leave, beginning at what the newest showed."""
        found = (stored or self._load()).checkpoint
        start = restore_checkpoint(self.current_view.log, found)
        self.checkpoint = -1 if found is None or start is None else found.number
        self.current_view.restore(self.history.steps(self.checkpoint + 1), start)

    def _read(self, item: StoredMessage) -> Message:
        return decode_stored(self.codec.dialect, item)

    def _find_last_answer(self, stored: StoredSession) -> float:
        """Return when the model last answered, in seconds; where that is long ago, about when."""
        for item in reversed(stored.messages[-ANSWERED_WITHIN:]):
            if self._read(item).role == "assistant":
                return item.time
        return stored.messages[max(0, len(stored.messages) - ANSWERED_WITHIN)].time

    def _resume(self) -> None:
        """Take up where the last process was: growth since the last attempt, reported usage."""
        attempt = self.history.attempt()
        start = attempt or 0
        late = self.current_view.log[start:]
        counts = [self.current_view.counts.get(message.id, 0) for message in late]
        tokens = self.current_view.tokens - sum(counts)
        if attempt is not None:
            self.throttle.note_attempt(tokens <= self.settings.budget.limit, sum(counts))
        self.viewed = self.current_view.epoch
        for message, count in zip(late, counts, strict=True):
            tokens += count
            self.observe(message, tokens, count)

    def _remember(self, stored: StoredSession) -> None:
        """Take up the session memory, as long as exactly what it covers is shown."""
        self.prepared_slot.void(self.current_view.tokens)
        self.prepared_slot.text = text_from_store(stored.memory)
        if stored.memory is None or not self.settings.config.memory.enabled:
            return
        found = from_store(stored.memory, tuple(self.current_view.messages.values()))
        if found is not None:
            behind = list(self.current_view.counts.values())[len(found.prepared.covered) :]
            self.prepared_slot.put(found, sum(behind))
            # Counted once now, so that it costs nothing when it is taken up.
            self.settings.counter.messages(edit.snapshot for edit in found.prepared.folds)

    def refresh(self) -> None:
        """Read the session again from the store, if it was left half way."""
        if self.stale:
            self._restore(self._load())

    @contextmanager
    def record(self, change: Change) -> Iterator[None]:
        """
        Record a change durably, then let the block show it.

        Raises:
            StoreError: Nothing was recorded, and the block does not run.
        """
        self.stale = True
        change = replace(change, session=self.number)
        try:
            generation = self.settings.store.commit(self.name, self.generation, change)
        except FoldlineError:
            self.stale = False
            raise
        yield
        self.generation = generation
        self.stale = False

    # --- how full the window is ------------------------------------------------------------

    def observe(self, message: Message, tokens: int, count: int) -> None:
        """
        Learn from the usage that a provider reported with an answer.

        It counts only if the provider saw what is shown now: usage from before an edit is void.

        Args:
            message: The answer.
            tokens: What the shown messages take with it.
            count: What it takes alone.
        """
        usage = message.usage
        if usage is None or message.role != "assistant":
            return
        unseen = self.current_view.epoch and self.viewed != self.current_view.epoch
        if usage.read <= 0 or usage.total > MOST_REPORTED or unseen:
            return
        self.current_view.anchor = Anchor(usage.total, tokens)
        overhead = self.settings.budget.overhead
        self.calibration = self.calibration.observe(tokens - count, usage.read, overhead)

    @property
    def fill(self) -> int:
        """
        What the shown messages take by the provider's own count, as far as it is known, in tokens.

        That is the total of the last reported usage (the whole answer included, hidden reasoning
        too: the next answer reports what of it was sent again), and what was appended since as
        counted here, corrected by what earlier answers taught.
        """
        anchor, tokens = self.current_view.anchor, self.current_view.tokens
        if anchor is None:
            return self.calibration.apply(tokens)
        known = max(0, anchor.fill - self.settings.budget.overhead)
        return known + self.calibration.apply(tokens - anchor.tokens)

    def note_attempt(self) -> None:
        """Note that a compaction was tried or taken back, so that the next one waits."""
        self.throttle.note_attempt(self.fill <= self.settings.budget.limit)

    @property
    def pressure(self) -> Pressure:
        """How full the window is, known in constant time."""
        settings = self.settings
        return pressure(self.fill, settings.budget, settings.policy, settings.config)

    def is_due(self) -> bool:
        """Return True if a compaction should be tried now, in constant time."""
        budget, fill = self.settings.budget, self.fill
        if not self.settings.config.enabled or fill <= budget.target:
            return False
        due = budget.is_due(self.settings.policy.trigger, fill)
        return due and not self.throttle.holds(budget, fill)

    def is_memory_due(self) -> bool:
        """Return True if the next compaction should be prepared now, in constant time."""
        config, budget = self.settings.config, self.settings.budget
        if not (config.enabled and config.memory.enabled) or self.fill <= budget.target:
            return False
        return self.prepared_slot.appended >= max(
            config.memory.every, config.pace.growth * budget.scale
        )
