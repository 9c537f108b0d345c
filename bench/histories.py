"""
Histories with facts that are needed after a cut, noted by readers of the whole history.

A fact counts as kept if one passage of at most `SPAN` characters has a member of each
of its groups of words: names scattered over a list do not count.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cuts
import foldline

FACTS = Path("data") / "facts" / "facts.jsonl"
SPAN = 500
"""Maximum passage in characters; a run of blanks counts as one."""

LEAST_BUDGET = 200
TOLERANCE = 1.1
"""Tolerance over the budget, as a factor, for libraries that count differently."""

Messages = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A question, its known answer, and the groups of words of which a passage needs one each."""

    kind: str
    question: str
    answer: str
    must: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, row: dict[str, Any]) -> Fact:
        """Parse a row of a file of facts."""
        must = tuple(tuple(map(plain, group)) for group in row["must"])
        return cls(row["kind"], row["question"], row["answer"], must)


@dataclass(frozen=True)
class History:
    """The messages before a cut, and the facts in them."""

    session: str
    messages: Messages
    facts: tuple[Fact, ...]

    @cached_property
    def tokens(self) -> int:
        """The size of the messages, by `foldline.count`."""
        return foldline.count(self.messages)

    def budget(self, share: float) -> int:
        """Return a share of the history, in tokens."""
        return max(LEAST_BUDGET, int(self.tokens * share))

    def kept(self, text: str) -> list[bool]:
        """Return for every fact whether a text states it."""
        text = plain(text)
        return [holds(text, fact.must) for fact in self.facts]


def there(shared: Path) -> bool:
    """Return True if the facts and their sessions can be read."""
    return (shared / FACTS).is_file() and cuts.there(shared)


def histories(shared: Path) -> list[History]:
    """Read the facts with their sessions, in a fixed order."""
    rows: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for line in (shared / FACTS).read_text(encoding="utf-8").splitlines():
        if line.strip():
            row = json.loads(line)
            rows[row["session"], row["cut"]].append(Fact.of(row))
    return list(_cut(shared, rows))


def _cut(shared: Path, rows: dict[tuple[str, int], list[Fact]]) -> Iterator[History]:
    # Sessions are decoded as everywhere in the bench: the positions of the cuts depend on it.
    wire = cuts.tool(shared, "retention").openai
    for name, steps in cuts.sessions(shared):
        for (session, cut), facts in rows.items():
            if session == name:
                body = [step for step in steps[:cut] if step["role"] != "system"]
                yield History(name, wire(body), tuple(facts))


def plain(text: str) -> str:
    """Return a text in lower case with normalized blanks."""
    return re.sub(r"\s+", " ", text).lower()


def holds(text: str, groups: Sequence[Sequence[str]], span: int = SPAN) -> bool:
    """
    Return True if one passage has a member of every group.

    Args:
        text: The text to search, already `plain`, as the groups are.
        groups: Alternatives, for every part of a fact.
        span: Maximum passage, in characters.
    """
    newest: dict[int, int] = {}
    for end, start, group in sorted(_places(text, groups)):
        newest[group] = max(start, newest.get(group, 0))
        if len(newest) == len(groups) and end - min(newest.values()) <= span:
            return True
    return False


def _places(text: str, groups: Iterable[Iterable[str]]) -> Iterator[tuple[int, int, int]]:
    for number, group in enumerate(groups):
        for words in group:
            start = text.find(words)
            while start >= 0:
                yield start + len(words), start, number
                start = text.find(words, start + 1)


def flat(messages: Iterable[dict[str, Any]]) -> str:
    """Return all text that a model reads in messages in chat format."""
    return "\n".join(f"[{message.get('role')}] {message_text(message)}" for message in messages)


def tokens_of(text: str) -> int:
    """Count a text as one message: the output of libraries may be too malformed otherwise."""
    return foldline.count([{"role": "user", "content": text}])


def message_text(message: dict[str, Any]) -> str:
    """Return the text of a message: its texts, and its calls with their arguments."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str))
    lines = [str(content or "")]
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        arguments = str(function.get("arguments") or "")
        lines.append(f"{function.get('name') or ''} {unescaped(arguments)}")
    return "\n".join(lines)


def unescaped(arguments: str) -> str:
    """Return arguments with line feeds and quotes unescaped."""
    return arguments.replace("\\n", "\n").replace('\\"', '"')
