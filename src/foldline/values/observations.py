"""
Observations: command outputs in messages of the user's role.

Agents without tool calls write a command at the end of their message; an answer by a person would
consist of sentences.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from foldline.frozen import replace
from foldline.lazy import lazy_pattern
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.protect import is_snapshot

_ACTION_END: Final = lazy_pattern(r"(?:```|</\w{1,30}>)\s*\Z")
_ACTION: Final = lazy_pattern(
    r"(?:```\w{0,20}|<(?:command|execute\w*)>)\n((?:(?!```|<command>|<execute).){1,4000}?)\n?(?:```|</\w{1,30}>)\s*\Z",
    re.DOTALL,
)
_PROMPT: Final = lazy_pattern(
    r"(?:\([\w.-]{1,40}\) )?(?!\d+ ?%)[\w@:~/.\[\]\\-]{0,80} ?[$#%>]{1,3}"
)
_STATUS: Final = lazy_pattern(
    r"(?:(?:\A|\n)\((?:Open file|Current directory|Interactive session): [^\n]{1,300}\)){1,3}\s*\Z"
)
"""The shell state that SWE-agent adds to every output."""

_SENTENCE: Final = lazy_pattern(r"(?<![a-z])[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}")

SHELL: Final = "$"
"""The tool name of calls made from such commands."""

STATUS: Final = 1_400
"""Number of characters before a prompt that are searched for such lines."""

ACTING: Final = 0.75
"""Fraction of the messages of an agent without tool calls that end with a command."""

SENTENCES: Final = 0.25
"""Minimum fraction of sentences among the lines of a message written by a person."""

PROMPTS: Final = 3
"""Number of outputs with the same last line that identify it as a shell prompt."""

LONG: Final = 1_000
"""Length from which code or data after a snapshot is the output of a folded command."""

ALIKE: Final = 24
"""Number of characters of a first line that identify another task."""

SAMPLE: Final = 200
"""Number of lines by which prose is distinguished from code and data."""


def observations(messages: Sequence[Message]) -> dict[int, bool]:
    """
    Find the user messages that hold the output of a command.

    There are none in a conversation with tool calls, or if the agent seldom ends with a command.

    Returns:
        Their positions, each with whether it is certain: a few words without a sentence may be
        a person's.
    """
    if any(
        isinstance(one, (ToolCall, ToolResult)) for message in messages for one in message.parts
    ):
        return {}
    acting = [_ends_with_command(message) for message in messages]
    if sum(acting) < ACTING * sum(message.role == "assistant" for message in messages):
        return {}  # It writes to a person, and quotes code.
    return dict(_observations(messages, acting))


def _observations(
    messages: Sequence[Message], acting: Sequence[bool]
) -> Iterator[tuple[int, bool]]:
    task = next((m.text for m in messages if m.role == "user"), "")
    prompts = Counter(_prompt(m.text) for m in messages if m.role == "user")
    for position in range(1, len(messages)):
        message, before = messages[position], messages[position - 1]
        text = message.text
        is_first = is_snapshot(before)  # The message before was folded.
        if not (acting[position - 1] or is_first) or message.role != "user":
            continue
        if is_snapshot(message) or _is_like(text, task):
            continue
        prompt = _prompt(text)
        has_prompt = bool(prompt) and prompts[prompt] >= PROMPTS
        is_data = not is_prose(text) and (not is_first or len(text) >= LONG or bool(prompt))
        if has_prompt or is_data:
            yield position, has_prompt


def with_calls(messages: Sequence[Message], observed: Mapping[int, bool]) -> tuple[Message, ...]:
    """
    Rewrite the commands of an agent without tool calls as calls, and their outputs as results.

    Args:
        messages: A conversation.
        observed: Its `observations`.

    Returns:
        The same messages at the same positions, for reading only.
    """
    return tuple(
        _with_result(message, str(position), has_prompt=observed[position])
        if position in observed
        else _with_call(message, str(position + 1))
        for position, message in enumerate(messages)
    )


def _with_call(message: Message, number: str) -> Message:
    action = _ACTION.search(message.text) if message.role == "assistant" else None
    if action is None:
        return message
    text = Text(message.text[: action.start()])
    call = ToolCall(number, SHELL, json.dumps({"command": action[1]}, ensure_ascii=False))
    return message.with_parts((text, call))


def _with_result(message: Message, number: str, *, has_prompt: bool) -> Message:
    text = message.text
    if has_prompt:
        text = text.rstrip().removesuffix(_prompt(text))
        status = _STATUS.search(text, max(0, len(text) - STATUS))
        text = text[: status.start()] if status else text
    return replace(message, role="tool", parts=(ToolResult(number, (Text(text),), SHELL),))


def _ends_with_command(message: Message) -> bool:
    return message.role == "assistant" and _ACTION_END.search(message.text[-400:]) is not None


def _is_like(text: str, task: str) -> bool:
    """Return True if a text starts with the same line as the user's first message."""
    line = task[:400].partition("\n")[0].strip()
    return len(line) >= ALIKE and text[:400].partition("\n")[0].strip() == line


def _prompt(text: str) -> str:
    """Return the last line of a text if it looks like a shell prompt, else ""."""
    line = text[-200:].rstrip().rpartition("\n")[2]
    return line if _PROMPT.fullmatch(line) else ""


def is_prose(text: str) -> bool:
    """Return True if a text consists of sentences rather than code or data."""
    lines = sample_lines(text)
    return count_sentences(lines) >= SENTENCES * max(1, len(lines))


def sample_lines(text: str) -> list[str]:
    """Return the first lines of a text, without blank ones, as a sample."""
    return [line for line in text[:40_000].split("\n")[:SAMPLE] if line.strip()]


def count_sentences(lines: Sequence[str]) -> int:
    """Return the number of lines with a sentence."""
    return sum(len(line) > 60 and _SENTENCE.search(line) is not None for line in lines)
