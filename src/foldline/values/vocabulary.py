"""
The vocabulary of a conversation: the names that user and agent wrote, kept up to date.

What user or agent wrote matters; what only stood in the output of a tool mostly does not. So only
words of people and models are indexed, which are a small part of a history.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import exp, log
from typing import Any, Final

from foldline.lazy import lazy_pattern
from foldline.relevance.names import blank_separators, mentions
from foldline.values.frames import segments
from foldline.values.messages import Message, Text, ToolCall
from foldline.values.protect import is_snapshot

MAX_TEXT: Final = 500_000
"""Characters of one text that are indexed."""

MAX_USER: Final = 4_000
"""Characters of a user's message that are indexed: what is longer was pasted."""

PROSE, REPEATED, WRITTEN, USER = 0.36, 0.3, 0.12, 0.17
"""
What a name is worth that stands in the agent's prose, by how much that grows with the logarithm
of how often, and what one is worth in call arguments only, or in the user's words besides.
"""

DEPTH: Final = 8
"""How deep the arguments of a call are looked at."""

FADING: Final = 0.35
"""Fraction of a conversation's steps in which a name that is not written again loses 1/e."""

LASTING, REUSED = 0.35, 0.9
"""
How likely a name is to be needed again, however old, beside one that was just written, and by how
much that grows with the logarithm of how often it was written.
"""

NUMBER, ARGUMENT, UNANSWERED = 0.5, 0.8, 0.25
"""
What is left of that for a number, of it for one that is not in the prose of the agent, and for a
name of the user that is not in that prose, whether or not it stands in call arguments.
"""


_HANDLE = lazy_pattern(r"^[0-9a-f]{6,32}(?:\.\d{1,6})? ", re.MULTILINE)
_ESCAPED = lazy_pattern(r"\\[nrt](?![a-z0-9])")


class Vocabulary:
    """
    Names with where they were written.

    ``prose`` counts the mentions in the agent's prose, ``uses`` the steps in which user or agent
    wrote a name at all, and ``last`` is the latest of these. ``user`` are the user's names.
    """

    def __init__(self) -> None:
        self.prose, self.uses = Counter[str](), Counter[str]()
        self.last: dict[str, int] = {}
        self.user: set[str] = set()
        self.steps = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Vocabulary:
        """Read a whole conversation."""
        vocabulary = cls()
        for message in messages:
            vocabulary.add(message)
        return vocabulary

    def add(self, message: Message) -> None:
        """Take the next message into account."""
        if message.role == "system":
            return
        self.steps += 1
        found = set[str]()
        quoted = is_snapshot(message)
        for part in message.parts:
            if isinstance(part, Text):
                text = (
                    _strip_handles(part.text) if quoted else _strip_frames(part.text, message.role)
                )
                found |= self._read(text, message.role)
            elif isinstance(part, ToolCall):
                found.update(_find_names(_render_arguments(part)[:MAX_TEXT]))
        self.uses.update(found)
        self.last.update(dict.fromkeys(found, self.steps))

    def _read(self, text: str, role: str) -> set[str]:
        names = list(_find_names(text[: MAX_TEXT if role == "assistant" else MAX_USER]))
        if role == "assistant":
            self.prose.update(names)
        else:
            self.user.update(names)
        return set(names)

    def worths(self) -> dict[str, float]:
        """Return what every name adds to a statement that has it."""
        worths = dict.fromkeys(self.last, WRITTEN)
        for name, times in self.prose.items():
            worths[name] = PROSE * (1 + REPEATED * log(times))
        for name in self.user:
            worths[name] += USER
        return worths

    def likely(self) -> dict[str, float]:
        """Return how likely every name is to be needed again, on a scale of its own."""
        fading = FADING * max(1, self.steps)
        unanswered = self.user - self.prose.keys()
        return {
            name: (1 + REUSED * log(times))
            * (LASTING + exp((self.last[name] - self.steps) / fading))
            * (1.0 if not _is_number(name) else NUMBER * (1 if name in self.prose else ARGUMENT))
            * (UNANSWERED if name in unanswered else 1.0)
            for name, times in self.uses.items()
        }


def _find_names(text: str) -> Iterator[str]:
    """Yield the names in a text; the letter of an escaped line feed is none of them."""
    return mentions(blank_separators(_ESCAPED.sub("  ", text) if "\\" in text else text))


def _is_number(name: str) -> bool:
    return name.replace(".", "").isdigit()


def _strip_frames(text: str, role: str) -> str:
    """Return a text without what a client put around the words of a user."""
    if role != "user":
        return text
    return "\n".join(one.text for one in segments(text) if one.kind in ("words", "summary"))


def _strip_handles(snapshot: str) -> str:
    """Return what an earlier snapshot quotes, without its first line and its handles."""
    return _HANDLE.sub("", snapshot.partition("\n")[2])


def _render_arguments(call: ToolCall) -> str:
    """
    Return what a call was given.

    Texts are as they are meant, so that no tab becomes part of a name; the names of the tool and
    of its arguments are no news.
    """
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    return "\n".join(_texts(value, DEPTH))


def _texts(value: Any, depth: int) -> Iterator[str]:
    if not isinstance(value, (dict, list)):
        yield str(value)
    elif depth:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, depth - 1)
