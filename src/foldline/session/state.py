"""
The state of a session, and the one way in which it changes.

A change is first recorded in the store, then applied in memory. If anything fails in between, the
session is stale, and is read again from the store before it is used.
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
from foldline.session.throttle import CompactionThrottle, measure_pressure
from foldline.stores.protocol import Change, Store, StoredMessage, StoredSession
from foldline.tokens.calibrate import Calibration
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from foldline.models.client import Client


ANSWERED_WITHIN: Final = 20
"""Number of newest messages that are searched for the model's last answer on opening."""

MOST_REPORTED: Final = 10**9
"""Maximum reported usage, in tokens; a larger one is ignored: no window is that large."""


@frozen
class SessionSettings:
    """
    The settings of a session, and the objects that it uses.

    ``clock`` returns seconds since 1970. ``by_format`` is True if the wire format, once it is
    known, decides by which provider's rules media are counted. ``reader`` is the limits of the
    summarizer, None without one. ``model`` is the name of the model that reads the view, "" if
    unknown. ``owned_client`` is the summarizer if it was created for this session.
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
        settings: Its settings.
        codec: Reads and writes its messages.
        stored: The session as loaded from the store.
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
            self.rebuild_view(stored)
            with reading(self.name):
                self.throttle.active = self._find_last_answer(stored)
        self._resume()
        self._remember(stored)
        self.level: Level = self.pressure.level
        # Last: after an exception above, the session is read again.
        self.stale = False

    def _load(self) -> StoredSession:
        found = self.settings.store.load(self.name)
        if found is None or found.number != self.number:
            raise StoreError(
                f"The session {self.name!r} is no longer in the store.",
                hint="Open it again to use the session that has its name now.",
            )
        return found

    def rebuild_view(self, stored: StoredSession | None = None) -> None:
        """Rebuild the view from the newest checkpoint and the later compactions in effect."""
        found = (stored or self._load()).checkpoint
        start = restore_checkpoint(self.current_view.log, found)
        self.checkpoint = -1 if found is None or start is None else found.number
        self.current_view.restore(self.history.steps(self.checkpoint + 1), start)

    def _read(self, item: StoredMessage) -> Message:
        return decode_stored(self.codec.dialect, item)

    def _find_last_answer(self, stored: StoredSession) -> float:
        """Return the time of the model's last answer, in seconds; an estimate if it is old."""
        for item in reversed(stored.messages[-ANSWERED_WITHIN:]):
            if self._read(item).role == "assistant":
                return item.time
        return stored.messages[max(0, len(stored.messages) - ANSWERED_WITHIN)].time

    def _resume(self) -> None:
        """Restore the growth since the last attempt, and the usage reported since."""
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
        """Restore the session memory, if the messages it covers are in view."""
        self.prepared_slot.void(self.current_view.tokens)
        self.prepared_slot.text = text_from_store(stored.memory)
        if stored.memory is None or not self.settings.config.memory.enabled:
            return
        found = from_store(stored.memory, tuple(self.current_view.messages.values()))
        if found is not None:
            behind = list(self.current_view.counts.values())[len(found.prepared.covered) :]
            self.prepared_slot.put(found, sum(behind))
            # Counted now, so that the counts are cached when it is used.
            self.settings.counter.messages(edit.snapshot for edit in found.prepared.folds)

    def refresh(self) -> None:
        """Read the session again from the store, if it is stale."""
        if self.stale:
            self._restore(self._load())

    @contextmanager
    def record(self, change: Change) -> Iterator[None]:
        """
        Record a change durably, then run the block, which applies it in memory.

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
        Use the usage that a provider reported with an answer.

        It counts only if the provider saw the current view: usage from before an edit is ignored.

        Args:
            message: The answer.
            tokens: Size of the view, with the answer, in tokens.
            count: Size of the answer, in tokens.
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
        Size of the view by the provider's own count, as far as it is known, in tokens.

        That is the total of the last reported usage (including the whole answer with its hidden
        reasoning: the next answer reports how much of it was sent again), and the local count of
        later messages, calibrated by earlier reports.
        """
        anchor, tokens = self.current_view.anchor, self.current_view.tokens
        if anchor is None:
            return self.calibration.apply(tokens)
        known = max(0, anchor.fill - self.settings.budget.overhead)
        return known + self.calibration.apply(tokens - anchor.tokens)

    def note_attempt(self) -> None:
        """Record that a compaction was tried or undone, so that the next one waits."""
        self.throttle.note_attempt(self.fill <= self.settings.budget.limit)

    @property
    def pressure(self) -> Pressure:
        """How full the window is, computed in constant time."""
        settings = self.settings
        return measure_pressure(self.fill, settings.budget, settings.policy, settings.config)

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
