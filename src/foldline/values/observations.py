"""
Observations: what commands gave out, where it comes back in the user's name.

Agents without tool calls write a command at the end of their message; a person who answers would
write sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from foldline.lazy_patterns import lazy_pattern
from foldline.values.messages import Message
from foldline.values.snapshot_mark import SNAPSHOT_HEADERS

_ACTION_END: Final = lazy_pattern(r"(?:```|</\w{1,30}>)\s*\Z")
_ACTION: Final = lazy_pattern(
    r"(?:```\w{0,20}|<(?:command|execute\w*)>)\n((?:(?!```|<command>|<execute).){1,4000}?)\n?(?:```|</\w{1,30}>)\s*\Z",
    re.DOTALL,
)
_SENTENCE: Final = lazy_pattern(r"(?<![a-z])[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}")
_REMARK: Final = lazy_pattern(
    r"\s*[^\W\d_][\w'’-]*(?:[ ,;:]{1,3}[\w'’-]+){1,60}[.!?]*\s*\Z|\s*[^\x00-\x7f]{2,200}\s*\Z"
)

ACTING: Final = 0.75
"""Fraction of the messages of an agent without tool calls that end with a command."""

SENTENCES: Final = 0.25
"""Fraction of the lines of a user message that are sentences where a person wrote it."""

PROMPTS, ALIKE = 3, 24
"""
How many outputs end alike where a shell prompts, and characters of a first line by which another
task is known.
"""

SAMPLE: Final = 200
"""Lines by which that is judged."""


def observations(messages: Sequence[Message]) -> frozenset[int]:
    """
    Find the user messages that hold what a command gave out.

    There are none beside tool calls, and none where an agent seldom ends with a command.

    Returns:
        Their positions.
    """
    if any(message.calls or message.results for message in messages):
        return frozenset()
    return frozenset(_observations(messages))


def _observations(messages: Sequence[Message]) -> Iterator[int]:
    acting = {position for position, message in enumerate(messages) if _acts(message)}
    if len(acting) < ACTING * sum(message.role == "assistant" for message in messages):
        return  # It talks with a person, and shows code.
    behind = [
        position + 1
        for position in sorted(acting)
        if position + 1 < len(messages)
        and messages[position + 1].role == "user"
        and not messages[position + 1].is_sealed(*SNAPSHOT_HEADERS)
    ]
    task = next((m.text for m in messages if m.role == "user"), "")
    prompts = Counter(_last_line(messages[position].text) for position in behind)
    for position in behind:
        text = messages[position].text
        if _is_like(text, task):
            continue
        # A shell shows the same prompt again and again; a person may say no more than "go on".
        has_prompt = prompts[_last_line(text)] >= PROMPTS
        if has_prompt or not (is_prose(text) or _REMARK.match(text)):
            yield position


def without_action(text: str) -> tuple[str, str]:
    """Split what an agent without tool calls says from the command at its end, on one line."""
    action = _ACTION.search(text)
    return (text[: action.start()], " ".join(action[1].split())) if action else (text, "")


def _acts(message: Message) -> bool:
    return message.role == "assistant" and _ACTION_END.search(message.text[-400:]) is not None


def _is_like(text: str, task: str) -> bool:
    """Return True if a text begins with the same line as the first that the user said."""
    line = task[:400].partition("\n")[0].strip()
    return len(line) >= ALIKE and text[:400].partition("\n")[0].strip() == line


def _last_line(text: str) -> str:
    return text[-200:].rstrip().rpartition("\n")[2]


def is_prose(text: str) -> bool:
    """Return True if a text is made of sentences rather than of code or data."""
    lines = sample_lines(text)
    return count_sentences(lines) >= SENTENCES * max(1, len(lines))


def sample_lines(text: str) -> list[str]:
    """Return the first lines of a text by which it is judged; none of them is blank."""
    return [line for line in text[:40_000].split("\n")[:SAMPLE] if line.strip()]


def count_sentences(lines: Sequence[str]) -> int:
    """Return how many lines have a sentence."""
    return sum(len(line) > 60 and _SENTENCE.search(line) is not None for line in lines)
