"""
The vocabulary of a conversation: the names that user and agent wrote, updated incrementally.

Names written by user or agent matter; names found only in tool outputs mostly do not. So only
user and model text is indexed, which is a small part of a history.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import exp, log
from typing import Any, Final

from foldline.lazy import lazy_pattern
from foldline.relevance.names import blank_separators, mentions
from foldline.values.call_arguments import parse_arguments
from foldline.values.frames import segments
from foldline.values.messages import Message, Text, ToolCall
from foldline.values.protect import is_snapshot

MAX_TEXT: Final = 500_000
"""Maximum number of indexed characters of one text."""

MAX_USER: Final = 4_000
"""Maximum number of indexed characters of a user message: longer text was pasted."""

PROSE, REPEATED, WRITTEN, USER = 0.36, 0.3, 0.12, 0.17
"""
The worth of a name in the agent's prose, its growth with the logarithm of the number of mentions,
the worth of a name found only in call arguments, and the extra worth of one in the user's words.
"""

DEPTH: Final = 8
"""Maximum depth to which call arguments are searched."""

FADING: Final = 0.35
"""Steps after which 1/e is left of the worth of an unused name, as a fraction of all steps."""

LASTING, REUSED = 0.35, 0.9
"""
Likelihood that a name is needed again at any age, relative to one just written, and its growth
with the logarithm of the number of mentions.
"""

NUMBER, ARGUMENT, UNANSWERED = 0.5, 0.8, 0.25
"""
Factors of that likelihood for a number, for a name that is not in the agent's prose, and for a
user's name that is not in that prose, with or without a use in call arguments.
"""


_HANDLE = lazy_pattern(r"^[0-9a-f]{6,32}(?:\.\d{1,6})? ", re.MULTILINE)
_ESCAPED = lazy_pattern(r"\\[nrt](?![a-z0-9])")


class Vocabulary:
    """
    Names with their mentions.

    ``prose`` counts the mentions in the agent's prose, ``uses`` the steps in which user or agent
    wrote a name, and ``last`` is the latest of these. ``user`` are the user's names.
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
        """Add the next message."""
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
        """Return the worth of every name, for statements that contain it."""
        worths = dict.fromkeys(self.last, WRITTEN)
        for name, times in self.prose.items():
            worths[name] = PROSE * (1 + REPEATED * log(times))
        for name in self.user:
            worths[name] += USER
        return worths

    def likely(self) -> dict[str, float]:
        """Return the likelihood that every name is needed again, on its own scale."""
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
    """Yield the names in a text, without the letter of an escaped line feed."""
    return mentions(blank_separators(_ESCAPED.sub("  ", text) if "\\" in text else text))


def _is_number(name: str) -> bool:
    return name.replace(".", "").isdigit()


def _strip_frames(text: str, role: str) -> str:
    """Return a text without the frames that a client added around the user's words."""
    if role != "user":
        return text
    return "\n".join(one.text for one in segments(text) if one.kind in ("words", "summary"))


def _strip_handles(snapshot: str) -> str:
    """Return the quotes of an earlier snapshot, without its first line and its handles."""
    return _HANDLE.sub("", snapshot.partition("\n")[2])


def _render_arguments(call: ToolCall) -> str:
    """
    Return the argument values of a call.

    Strings are unescaped, so that no tab becomes part of a name; the names of the tool and of its
    arguments carry no information.
    """
    value = parse_arguments(call.arguments)
    return call.arguments if value is None else "\n".join(_texts(value, DEPTH))


def _texts(value: Any, depth: int) -> Iterator[str]:
    if not isinstance(value, (dict, list)):
        yield str(value)
    elif depth:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, depth - 1)
