"""The log and the current view of it, counted and updated message by message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foldline.core.retention_settings import FileSettings
from foldline.formats.conversion import is_context_free, is_own
from foldline.formats.dialect import Dialect
from foldline.frozen import frozen, replace
from foldline.repair.repair import is_empty
from foldline.session.log import Log, ReplayStart, Step, replay_log
from foldline.session.statistics import HORIZON, SessionStatistics
from foldline.values.messages import Message
from foldline.values.provider_rules import ONE_ANSWER
from foldline.values.tokens import TokenCounter
from foldline.values.view import View


@frozen
class Anchor:
    """
    The last usage that the provider reported.

    ``fill`` is the tokens in the window after an answer, everything included; ``tokens`` the
    local count of the messages at that time. Later messages are counted and added.
    """

    fill: int
    tokens: int


class CurrentView:
    """
    The messages of a session: the whole log, and the view.

    The cost of appending does not depend on the length of the log; ``statistics`` are updated with
    it, so that a compaction need not read the log for them. ``tokens`` is the size of the view;
    ``epoch`` counts its changes other than by appending; ``damaged`` is True if a provider would
    reject it.

    Args:
        counter: The token counter.
        log: The log.
        files: Names of the tools that access files.
    """

    def __init__(self, counter: TokenCounter, log: Log, files: FileSettings) -> None:
        self.counter = counter
        self.log = log
        self.messages: dict[str, Message] = {}
        self.counts: dict[str, int] = {}
        self.tokens = 0
        self.epoch = 0
        self.damaged = False
        self.anchor: Anchor | None = None
        self._files = files
        self._statistics = None if len(log) else SessionStatistics(files)
        self._open: set[str] = set()
        self._call_order: list[str] = []
        self._wires: list[Any] = []
        self._encoded = True
        self._written = ""
        self._loose = False

    @property
    def statistics(self) -> SessionStatistics:
        """
        Statistics of the log.

        They are read from the log on first use in a resumed session, and now and then
        in a long one, to drop what was folded long ago.
        """
        if self._statistics is None or self._statistics.is_stale:
            self._statistics = SessionStatistics.of(self.log, self.messages, self._files)
        return self._statistics

    @property
    def originals(self) -> Mapping[str, Message]:
        """The log by id."""
        return self.log.originals

    def append(self, message: Message) -> int:
        """Add a message to the log, show it, and return its tokens."""
        if self._statistics is not None:
            self._statistics.add(len(self.log), message)
        self.log.append(message)
        return self._add(message)

    def _add(self, message: Message) -> int:
        count = self.counter.message(message)
        self._check(message)
        self.messages[message.id] = message
        self.counts[message.id] = count
        self.tokens += count
        pristine = self._encoded and not self._written  # sent as received, in any dialect
        if pristine or self._is_written_as_it_came(message):
            self._wires.append(message.raw)
        else:
            self._encoded = False
        return count

    def _is_written_as_it_came(self, message: Message) -> bool:
        """Return True if the messages before are written, and this one needs no writing."""
        as_it_came = message.intact and is_own(message, self._written)
        self._loose = as_it_came and (self._loose or is_context_free(message, self._written))
        return self._encoded and self._loose

    def note_import(self, count: int) -> None:
        """Defer the statistics of a large import until they are needed."""
        if count > HORIZON:
            self._statistics = None

    def restore(self, steps: Iterable[Step], start: ReplayStart | None = None) -> None:
        """
        Restore the view of the log with its edits.

        Args:
            steps: The edits, in the order in which they were made.
            start: The view before the first of them, where that is known.
        """
        made = tuple(steps)
        if made or start is not None or self.messages:
            self.replay(made, start)
        else:
            for message in replay_log(self.log, ()):
                self._add(message)

    def _check(self, message: Message) -> None:
        """Record open calls, and damage that needs repair: unpaired results, empty messages."""
        for result in message.results:
            if result.call_id:
                self.damaged |= result.call_id not in self._open
                self._open.discard(result.call_id)
        if message.dialect in ONE_ANSWER:
            self.damaged |= self._is_disordered(message)
        self.damaged |= is_empty(message) or (message.role == "user" and bool(self._open))
        self._open.update(call.id for call in message.calls if call.id)

    def _is_disordered(self, message: Message) -> bool:
        """Return True if results come in another order than the calls of the last step."""
        if message.has_calls:
            self._call_order = [call.id or call.name for call in message.calls]
            return False
        given = [result.call_id or result.name for result in message.results]
        left = set(given)
        return len(left) > 1 and [one for one in self._call_order if one in left] != given

    def view(self, dialect: str) -> View:
        """Return the view as strategies read it."""
        messages = tuple(self.messages.values())
        counts = tuple(map(self.counts.__getitem__, self.messages))
        return View(messages, counts, self.counter, self.originals, dialect)

    def show(self, view: View) -> None:
        """Replace the view; usage that the provider reported for the old one is discarded."""
        self.messages = {message.id: message for message in view.messages}
        self.counts = dict(zip(self.messages, view.counts, strict=True))
        self.tokens = sum(view.counts)
        self.anchor = None
        self.damaged = False
        self._open = set()
        for message in view.messages:
            self._check(message)
        self._note_change()
        self.log.release(self.messages)

    def replay(self, steps: Iterable[Step], start: ReplayStart | None = None) -> None:
        """Replace the view by the log with these edits and no others."""
        self.show(View.of(replay_log(self.log, steps, start), self.counter))

    def rewrite(self, number: str, replacement: Message) -> int:
        """Replace one message of the view and return the difference in tokens."""
        count = self.counter.message(replacement)
        more = count - self.counts[number]
        self.messages[number] = replacement
        self.counts[number] = count
        self.tokens += more
        self._note_change()
        return more

    def pin(self, number: str) -> None:
        """Pin a message in the log and in the view, whose content does not change."""
        self.log.put(replace(self.originals[number], pinned=True))
        current = self.messages.get(number)
        if current is not None:
            self.messages[number] = replace(current, pinned=True)

    def reread(self, messages: Sequence[Message], steps: Iterable[Step]) -> None:
        """Replace the log by its reading in another dialect, with the same edits."""
        for message in messages:
            self.log.put(message)
        self.messages = {message.id: message for message in messages}
        self._statistics = None
        if self.epoch:
            self.replay(steps)

    def wires(self, dialect: Dialect) -> list[Any]:
        """Return the view in its wire format: a new list of the same messages."""
        if not self._encoded:
            self._wires = dialect.messages(tuple(self.messages.values()))
            self._encoded, self._written = True, dialect.name
        return list(self._wires)

    def _note_change(self) -> None:
        self.epoch += 1
        self._encoded = self._loose = False
