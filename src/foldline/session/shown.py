"""The log and what is shown of it, counted and kept up to date message by message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foldline.core.edits import Edit, apply
from foldline.core.messages import Message
from foldline.core.repair import says_nothing
from foldline.core.salience.index import SalienceIndex
from foldline.core.tokens import TokenCounter
from foldline.core.view import View
from foldline.formats.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Anchor:
    """
    The last fill that the provider reported.

    ``fill`` is the tokens in the window after an answer, everything included; ``tokens`` what the
    messages counted then. What came later is counted and added.
    """

    fill: int
    tokens: int


class Shown:
    """
    The messages of a session: all of them, and what the model sees.

    Appending costs the same however long the log is; ``index`` grows with it, so that a compaction
    does not read the log for its statistics. ``tokens`` is what the shown messages take;
    ``epoch`` counts the times that the shown messages changed other than by appending; ``damaged``
    says that a provider would not accept them as they are.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.log: list[Message] = []
        self.originals: dict[str, Message] = {}
        self.messages: dict[str, Message] = {}
        self.counts: dict[str, int] = {}
        self.tokens = 0
        self.epoch = 0
        self.index = SalienceIndex()
        self.damaged = False
        self.anchor: Anchor | None = None
        self._calls: set[str] = set()
        self._open: set[str] = set()
        self._wires: list[Any] = []
        self._pristine = True
        self._encoded = True

    def append(self, message: Message) -> int:
        """Add a message to the log, show it, and return its tokens."""
        count = self.counter.message(message)
        self.index.add(message)
        self._check(message)
        self.log.append(message)
        self.originals[message.id] = message
        self.messages[message.id] = message
        self.counts[message.id] = count
        self.tokens += count
        if self._pristine:
            self._wires.append(message.raw)
        else:
            self._encoded = False
        return count

    def _check(self, message: Message) -> None:
        """Note open calls, and what has to be mended: a half of a pair, or a silent message."""
        for result in message.results:
            if result.call_id:
                self.damaged |= result.call_id not in self._calls
                self._open.discard(result.call_id)
        self.damaged |= says_nothing(message) or (message.role == "user" and bool(self._open))
        numbers = {call.id for call in message.calls if call.id}
        self._calls |= numbers
        self._open |= numbers

    def view(self, dialect: str) -> View:
        """Return what is shown as strategies read it."""
        messages = tuple(self.messages.values())
        counts = tuple(self.counts[number] for number in self.messages)
        return View(messages, counts, self.counter, self.originals, dialect, self.index)

    def show(self, view: View) -> None:
        """Show a view in place of what was shown; what the provider reported no longer holds."""
        self.messages = {message.id: message for message in view.messages}
        self.counts = dict(zip(self.messages, view.counts, strict=True))
        self.tokens = sum(view.counts)
        self.anchor = None
        self.damaged = False
        self._calls, self._open = set(), set()
        for message in view.messages:
            self._check(message)
        self._changed()

    def replay(self, edits: Iterable[Edit]) -> None:
        """Show the log with these edits and no others."""
        self.show(View.of(apply(self.log, edits), self.counter))

    def rewrite(self, number: str, shown: Message) -> int:
        """Show one message otherwise and return by how many tokens that is more."""
        count = self.counter.message(shown)
        more = count - self.counts[number]
        self.messages[number] = shown
        self.counts[number] = count
        self.tokens += more
        self._changed()
        return more

    def pin(self, number: str) -> None:
        """Pin a message of the log, and what is shown of it; nothing is shown otherwise."""
        pinned = replace(self.originals[number], pinned=True)
        index = next(i for i, message in enumerate(self.log) if message.id == number)
        self.log[index] = self.originals[number] = pinned
        shown = self.messages.get(number)
        if shown is not None:
            self.messages[number] = replace(shown, pinned=True)

    def reread(self, messages: Sequence[Message], edits: Iterable[Edit]) -> None:
        """Take the same log as another dialect reads it, and show it with the same edits."""
        self.log = list(messages)
        self.originals = {message.id: message for message in messages}
        self.messages = dict(self.originals)
        self.index = SalienceIndex.of(messages)
        if self.epoch:
            self.replay(edits)

    def wires(self, dialect: Dialect) -> list[Any]:
        """Return the shown messages in their wire format; a list of its own, the same messages."""
        if not self._encoded:
            self._wires = dialect.messages(tuple(self.messages.values()))
            self._encoded = True
        return list(self._wires)

    def _changed(self) -> None:
        self.epoch += 1
        self._pristine = self._encoded = False
