"""
The measure: what an agent used after a cut and could only know from before it.

*Need* is every identifier that the assistant wrote in its next `HORIZON` steps, in text or tool
arguments, that occurs before the cut, and that no tool result or user message had repeated
by then. *Deep* need excludes what occurs in the last tenth before the cut, which any
trimming would keep. The system prompt is ignored, since it is never removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline.frozen import frozen
from foldline.values.messages import Message, Omitted, Text, ToolCall, visible_texts

FRACTIONS = (0.4, 0.6, 0.8)
"""Positions of the cuts, as fractions of a session's characters."""

HORIZON = 30
"""Number of steps of the assistant after a cut that are examined."""

TAIL = 0.1
"""The part before a cut that is not deep, as a fraction of its characters."""

LEAST_DEEP = 3
"""Minimum number of deep identifiers for a cut to count."""

SHORTEST, LONGEST = 4, 120
"""Maximum length of an identifier, in characters."""

_IDENTIFIER = re.compile(
    r"(?:[\w.@~+-]{0,160}/){1,160}[\w.@+-]{1,160}"  # paths
    r"|[A-Za-z_]\w{0,160}(?:\.[A-Za-z_]\w{0,160}){1,160}"  # dotted names and file names
    r"|[A-Za-z]{1,160}_[A-Za-z0-9_]{1,160}"  # snake_case
    r"|[a-z]{1,160}[A-Z]\w{1,160}"  # camelCase
    r"|[A-Z][a-z0-9]{1,160}[A-Z]\w{1,160}"  # PascalCase
    r"|--?[a-z][\w-]{2,160}"  # flags
    r"|\b[0-9a-f]{7,40}\b"  # hashes
    r"|\b\d{3,160}\b"  # numbers
)
"""Every repetition has a bound above `LONGEST`, so that matching takes linear time."""

_AROUND = ".,:;()[]{}'\""


@frozen
class CutPoint:
    """
    A cut in a session, with the identifiers needed after it.

    ``at`` is the number of messages before it, ``fraction`` its position in the session.
    """

    at: int
    fraction: float
    need: frozenset[str]
    deep: frozenset[str]


def identifiers(text: str) -> set[str]:
    """Find the identifiers of a text: paths, names, flags, hashes and numbers."""
    found = (match[0] for match in _IDENTIFIER.finditer(text))
    return {word.strip(_AROUND) for word in found if SHORTEST <= len(word) <= LONGEST}


def render_message(message: Message) -> str:
    """Return the text of a message: its texts, calls with arguments, and results."""
    if message.role == "assistant":
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        calls = (part for part in message.parts if isinstance(part, ToolCall))
        return "".join(["\n".join(texts), *(f"\n{c.name} {_plain(c.arguments)}" for c in calls)])
    return "\n".join(visible_texts(message))


def _plain(arguments: str) -> str:
    """Unescape line feeds and quotes in JSON."""
    return arguments.replace("\\n", "\n").replace('\\"', '"')


def render_history(messages: Sequence[Message]) -> str:
    """Return the text of messages as a model reads it."""
    visible = (m for m in messages if not all(isinstance(part, Omitted) for part in m.parts))
    return "\n".join(f"[{message.role}] {render_message(message)}" for message in visible)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return messages without system messages."""
    return [message for message in messages if message.role != "system"]


def cuts(
    messages: Sequence[Message], fractions: Sequence[float] = FRACTIONS, horizon: int = HORIZON
) -> Iterator[CutPoint]:
    """
    Cut a session before messages of the assistant, and find what it needed afterwards.

    Args:
        messages: The whole session.
        fractions: Where to cut; each cut moves to the next message of the assistant.
        horizon: Number of steps of the assistant that are examined.

    Yields:
        Cuts after which something from deep in the history was needed.
    """
    texts = [render_message(message) for message in messages]
    for fraction in fractions:
        at = _place(messages, texts, fraction)
        if at is None:
            continue
        need = _need(messages, texts, at, horizon)
        deep = need - identifiers("\n".join(_newest(messages, texts, at)))
        if len(deep) >= LEAST_DEEP:
            yield CutPoint(at, fraction, frozenset(need), frozenset(deep))


def _place(messages: Sequence[Message], texts: Sequence[str], fraction: float) -> int | None:
    least, seen = fraction * sum(map(len, texts)), 0
    for index, text in enumerate(texts[:-1]):
        seen += len(text)
        turn = messages[index].role in ("tool", "user") and messages[index + 1].role == "assistant"
        if seen >= least and turn:
            return index + 1
    return None


def _need(messages: Sequence[Message], texts: Sequence[str], at: int, horizon: int) -> set[str]:
    used, back, steps = set[str](), set[str](), 0
    for message, text in zip(messages[at:], texts[at:], strict=True):
        if message.role != "assistant":
            back |= identifiers(text)
            continue
        used |= identifiers(text) - back
        steps += 1
        if steps >= horizon:
            break
    conversation, instructions = list[str](), list[str]()
    for message, text in zip(messages[:at], texts, strict=False):
        (instructions if message.role == "system" else conversation).append(text)
    return (used & identifiers("\n".join(conversation))) - identifiers("\n".join(instructions))


def _newest(messages: Sequence[Message], texts: Sequence[str], at: int) -> list[str]:
    """Return the texts of the last tenth before a cut."""
    before = [texts[i] for i in range(at) if messages[i].role != "system"]
    room, tail = TAIL * sum(map(len, before)), list[str]()
    for text in reversed(before):
        tail.append(text)
        room -= len(text)
        if room <= 0:
            break
    return tail
