"""The view: what the model sees now, counted, grouped and with its protected messages known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import is_
from typing import Final

from foldline.frozen import frozen, replace
from foldline.values.edits import Edit, apply, following
from foldline.values.groups import Group, Pairing, group, pair
from foldline.values.identity import shared_length
from foldline.values.messages import Message
from foldline.values.observations import observations, with_calls
from foldline.values.protect import Reason, protected
from foldline.values.tokens import TokenCounter
from foldline.values.vocabulary import Vocabulary

OF_LOG: Final = ("_words", "names", "likely_names")
"""What is read from the log, so that no edit changes it."""


@frozen
class View:
    """
    What the model sees, with what a strategy needs to judge it.

    ``originals`` holds every message of the log by id, so that a strategy reads what was really
    said even where the view shows a stub. ``counts`` are tokens, one a message. ``unread`` are the
    ids of results that the model has not answered although they do not stand behind everything
    that it said: a repair has moved them behind their calls.
    """

    messages: tuple[Message, ...]
    counts: tuple[int, ...]
    counter: TokenCounter
    originals: Mapping[str, Message]
    dialect: str = ""
    vocabulary: Vocabulary | None = None
    unread: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        counter: TokenCounter,
        *,
        originals: Iterable[Message] | None = None,
        dialect: str = "",
        vocabulary: Vocabulary | None = None,
    ) -> View:
        """
        Count messages and take them as the view.

        Args:
            messages: What is shown.
            counter: What counts.
            originals: The log; default these messages.
            dialect: Whose rules count.
            vocabulary: That of the log where it is kept up to date; None to read it here.
        """
        log = messages if originals is None else originals
        visible = tuple(messages)
        counts = tuple(counter.message(message) for message in visible)
        return cls(
            visible, counts, counter, {message.id: message for message in log}, dialect, vocabulary
        )

    @cached_property
    def tokens(self) -> int:
        """What the messages take, in tokens."""
        return sum(self.counts)

    @cached_property
    def pairing(self) -> Pairing:
        """Which result answers which call."""
        return pair(self.messages)

    @cached_property
    def history(self) -> tuple[Message, ...]:
        """
        The original message at every position.

        Commands of an agent without tool calls are calls, and what came of them their results.
        """
        return with_calls(self._originals, self.observed) if self.observed else self._originals

    @cached_property
    def history_pairing(self) -> Pairing:
        """Which result answers which call in the original messages."""
        same = all(map(is_, self.history, self.messages))
        return self.pairing if same else pair(self.history)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups, by first member."""
        return group(self.messages, self.pairing)

    @cached_property
    def protected(self) -> dict[int, Reason]:
        """Why a position must stay, for those that must."""
        return protected(self.messages, self.groups, self.unread, self.observed)

    @cached_property
    def observed(self) -> dict[int, bool]:
        """The user messages that hold what a command gave out, and whether that is certain."""
        return observations(self._originals)

    @cached_property
    def _originals(self) -> tuple[Message, ...]:
        return tuple(map(self.original, range(len(self.messages))))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where the message with an id stands."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def tool_names(self) -> dict[str, str]:
        """The name of a tool by the id of its call, for results that do not carry it."""
        return {c.id: c.name for message in self.messages for c in message.calls if c.id}

    @cached_property
    def names(self) -> dict[str, float]:
        """What every name that user or agent wrote adds to a statement that has it."""
        return self._words.worths()

    @cached_property
    def likely_names(self) -> dict[str, float]:
        """How likely every such name is to be needed again."""
        return self._words.likely()

    @cached_property
    def _words(self) -> Vocabulary:
        return self.vocabulary or Vocabulary.of(self.originals.values())

    def original(self, index: int) -> Message:
        """Return the original message at a position of the view."""
        message = self.messages[index]
        return self.originals.get(message.id, message)

    def kept_prefix(self, after: View) -> int:
        """Return how many messages at the start another view shows as they are here."""
        return shared_length(self.messages, after.messages, is_)

    def after(self, edits: Sequence[Edit]) -> View:
        """Return the view that edits would give; only changed messages are counted again."""
        if not edits:
            return self
        known = dict(zip(map(id, self.messages), self.counts, strict=True))
        edited = apply(self.messages, edits)
        counts = tuple(known[id(m)] if id(m) in known else self.counter.message(m) for m in edited)
        after = replace(self, messages=edited, counts=counts, unread=following(self.unread, edits))
        # What was said is the same, and has been read by now if anything needed it.
        after.__dict__.update({k: self.__dict__[k] for k in OF_LOG if k in self.__dict__})
        return after

    def foldable(self) -> list[Group]:
        """Return the closed groups without a protected member, oldest first."""
        return [
            group
            for group in self.groups
            if group.state != "pending" and not any(i in self.protected for i in group.members)
        ]
