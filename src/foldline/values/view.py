"""The view: the messages sent to the model, with counts, groups and protected messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from operator import is_
from typing import Any, Final, TypeVar

from foldline.frozen import frozen, replace
from foldline.values.edits import Edit, Rewrite, apply, following
from foldline.values.groups import Group, Pairing, group, pair
from foldline.values.identity import shared_length
from foldline.values.messages import Message
from foldline.values.observations import observations, with_calls
from foldline.values.protect import Reason, protected
from foldline.values.tokens import TokenCounter
from foldline.values.vocabulary import Vocabulary

Value = TypeVar("Value")
Result = TypeVar("Result")

OF_LOG: Final = ("_words", "names", "likely_names", "_results")
"""Cached properties of the log, which no edit changes."""

OF_PARTS: Final = ("pairing", "groups", "positions", "tool_names")
"""Those that depend on the kinds of parts and their ids, which no new text changes."""


@frozen
class View:
    """
    The messages sent to the model, with the data that a strategy needs.

    ``originals`` holds every message of the log by id, so that a strategy reads the original even
    where the view has a stub. ``counts`` are tokens, one per message. ``unread`` are the ids of
    unanswered results that precede later messages of the model, because a repair moved them behind
    their calls.
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
        Create a view and count its messages.

        Args:
            messages: The messages.
            counter: The token counter.
            originals: The log; default these messages.
            dialect: The dialect whose rules apply.
            vocabulary: The log's vocabulary, if maintained; None to build it here.
        """
        log = messages if originals is None else originals
        visible = tuple(messages)
        counts = tuple(counter.message(message) for message in visible)
        return cls(
            visible, counts, counter, {message.id: message for message in log}, dialect, vocabulary
        )

    @cached_property
    def tokens(self) -> int:
        """The size of the messages, in tokens."""
        return sum(self.counts)

    @cached_property
    def pairing(self) -> Pairing:
        """The pairs of calls and results."""
        return pair(self.messages)

    @cached_property
    def history(self) -> tuple[Message, ...]:
        """
        The original message at every position.

        Commands of an agent without tool calls are calls, and their outputs results.
        """
        return with_calls(self._originals, self.observed) if self.observed else self._originals

    @cached_property
    def history_pairing(self) -> Pairing:
        """The pairs of calls and results in the original messages."""
        same = all(map(_pair_alike, self.history, self.messages))
        return self.pairing if same else pair(self.history)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups, by first member."""
        return group(self.messages, self.pairing)

    @cached_property
    def protected(self) -> dict[int, Reason]:
        """The reason of every protected position."""
        return protected(self.messages, self.groups, self.unread, self.observed)

    @cached_property
    def observed(self) -> dict[int, bool]:
        """The user messages that hold the output of a command, and whether that is certain."""
        return observations(self._originals)

    @cached_property
    def _originals(self) -> tuple[Message, ...]:
        return tuple([self.originals.get(message.id, message) for message in self.messages])

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of every message by id."""
        return {message.id: index for index, message in enumerate(self.messages)}

    @cached_property
    def tool_names(self) -> dict[str, str]:
        """Tool names by call id, for results without a tool name."""
        return {c.id: c.name for message in self.messages for c in message.calls if c.id}

    @cached_property
    def names(self) -> dict[str, float]:
        """The worth of every name written by user or agent, for statements that contain it."""
        return self._words.worths()

    @cached_property
    def likely_names(self) -> dict[str, float]:
        """The likelihood that every such name is needed again."""
        return self._words.likely()

    @cached_property
    def _words(self) -> Vocabulary:
        return self.vocabulary or Vocabulary.of(self.originals.values())

    @cached_property
    def _results(self) -> dict[Callable[[Any], Any], Callable[[Any], Any]]:
        return {}

    def once(self, function: Callable[[Value], Result]) -> Callable[[Value], Result]:
        """Return a function that calls another one once for each value, in all views of a log."""
        return self._results.setdefault(function, cache(function))

    def original(self, index: int) -> Message:
        """Return the original message at a position of the view."""
        message = self.messages[index]
        return self.originals.get(message.id, message)

    def kept_prefix(self, after: View) -> int:
        """Return the number of leading messages that are the same in another view."""
        return shared_length(self.messages, after.messages, is_)

    def after(self, edits: Sequence[Edit]) -> View:
        """Return the view after edits; only changed messages are counted again."""
        if not edits:
            return self
        sizes = dict(zip(map(id, self.messages), self.counts, strict=True))
        edited = apply(self.messages, edits)
        counts = tuple(sizes[id(m)] if id(m) in sizes else self.counter.message(m) for m in edited)
        unread = following(self.unread, edits)
        after = self.with_log(replace(self, messages=edited, counts=counts, unread=unread))
        only_texts = all(isinstance(edit, Rewrite) for edit in edits)
        if only_texts and all(map(_pair_alike, edited, self.messages)):
            after._take(self, OF_PARTS)
        return after

    def with_log(self, other: View) -> View:
        """Return another view of the same log with what is already known of that."""
        other._take(self, OF_LOG)
        return other

    def _take(self, other: View, names: Iterable[str]) -> None:
        """Take what another view already knows."""
        self.__dict__.update({k: other.__dict__[k] for k in names if k in other.__dict__})

    def foldable(self) -> list[Group]:
        """Return the closed groups without a protected member, oldest first."""
        return [
            group
            for group in self.groups
            if group.state != "pending" and not any(i in self.protected for i in group.members)
        ]


def _pair_alike(one: Message, other: Message) -> bool:
    """Return True if two versions of a message have parts of the same kinds: only texts differ."""
    return one is other or list(map(type, one.parts)) == list(map(type, other.parts))
