"""
The task of every adapter: the budget, the counter, and the summarizer.

It is the same for all libraries: characters are counted at the rate of this very conversation, so
that none must guess the density of its text, and the same share of the budget is left to a
summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from extractive import Standin

SUMMARY_SHARE = 0.45
"""
The share of a budget for a summary, if a library writes one. Of 0.3, 0.45 and 0.6
this retained the most of what was needed later, as the mean of three libraries on recorded
sessions.
"""

FRAME = 400
"""Characters reserved for the words that libraries put around a summary."""


@dataclass(frozen=True)
class Task:
    """
    One compaction.

    ``budget`` is in tokens, ``rate`` in tokens per character.
    """

    budget: int
    rate: float
    model: Standin

    def tokens(self, characters: int) -> int:
        """Return the tokens of a number of characters."""
        return round(characters * self.rate)

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return self.tokens(len(text))

    @property
    def summary(self) -> int:
        """Room for a summary, in tokens."""
        return max(1, int(self.budget * SUMMARY_SHARE))

    @property
    def kept(self) -> int:
        """Room for unchanged messages next to a summary, in tokens."""
        return max(1, self.budget - self.summary - min(self.frame, self.budget // 4))

    @property
    def frame(self) -> int:
        """Room for the words around a summary, in tokens."""
        return self.tokens(FRAME)

    def rest(self, messages: Iterable[dict[str, Any]]) -> Task:
        """Return the remaining task if these messages, in chat format, always stay."""
        taken = self.tokens(sum(map(characters, messages)))
        left = max(1, self.budget - taken)
        return Task(left, self.rate, self.model.within(self.summary))


def fitting(sizes: Sequence[int], most: int) -> int:
    """Return how many of the last sizes fit, at least one if there are any."""
    count = 0
    for size in reversed(sizes):
        most -= size
        if most < 0:
            break
        count += 1
    return min(len(sizes), max(1, count))


def characters(message: dict[str, Any]) -> int:
    """Return the number of characters that a model reads of a message in chat format."""
    calls = message.get("tool_calls") or ()
    functions = [call.get("function") or {} for call in calls if isinstance(call, dict)]
    return len(text_of(message.get("content"))) + sum(
        len(str(function.get("name", ""))) + len(str(function.get("arguments", "")))
        for function in functions
    )


def text_of(content: Any) -> str:
    """Return the text of a content in chat format."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = [part for part in content if isinstance(part, dict)]
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call in chat format as an object; other values are wrapped."""
    written = (call.get("function") or {}).get("arguments") or "{}"
    try:
        value = json.loads(written)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"arguments": written}


def chat_call(number: str | None, name: str, arguments: Any) -> dict[str, Any]:
    """Return a call in chat format."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": number or "", "type": "function", "function": function}


def split_system(
    messages: list[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split off the system prompt at the head, which most agents store separately."""
    for index, message in enumerate(messages):
        if message.get("role") not in ("system", "developer"):
            return messages[:index], messages[index:]
    return messages, []


def chat_names(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return tool names by the ids of their calls."""
    return {
        str(call.get("id", "")): str((call.get("function") or {}).get("name", ""))
        for message in messages
        for call in message.get("tool_calls") or ()
    }
