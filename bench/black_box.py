"""
Check a compaction from outside, by its input and output messages alone.

The promises are those of `foldline.testing` that need no receipt. Each check returns a
sentence about what is broken, or "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import foldline
from foldline.formats.registry import dialect
from foldline.testing.promises import check_accepted

Wire = Sequence[Mapping[str, Any]]

TOLERANCE = 1.1
"""Tolerance over the budget, as a factor, since every library counts differently."""

BEGINNING = 40
"""Characters of the first line of a large text that must stay when it is cut."""

LARGE = 0.1
"""A text above this share of the budget may be cut."""

REFUSAL = "can't help with that"
FAILURE = "timed out"

MEANINGS: Mapping[str, str] = {
    "valid": "a provider accepts the compacted form of a valid conversation",
    "repair": "a provider accepts the compacted form of a damaged one",
    "task": "the first user message stays, at worst cut",
    "latest": "the latest user message stays, at worst cut",
    "system": "the system prompt stays, word for word",
    "unread": "results that the model has not seen stay, at worst cut",
    "running": "a pending call stays",
    "grows": "nothing gets longer",
    "again": "compacting twice equals compacting once",
    "input": "the caller's messages are not changed",
    "summary": "a summarizer that fails never replaces the history",
}
"""The meaning of each promise."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    The result of a library on messages, in tokens of `foldline.count`.

    ``given`` is its input, ``said`` the whole history: they differ once the library
    receives its own summaries as input.
    """

    given: Wire
    said: Wire
    left: Wire
    budget: int
    before: int
    after: int
    summarizer: str

    @classmethod
    def of(cls, given: Wire, said: Wire, left: Wire, budget: int, summarizer: str) -> Outcome:
        """Count both sides."""
        return cls(given, said, left, budget, tokens(given), tokens(left), summarizer)

    @property
    def is_over(self) -> bool:
        """Whether the result exceeds the budget."""
        return self.after > self.budget * TOLERANCE

    @property
    def is_changed(self) -> bool:
        """Whether the messages changed."""
        return [_plain(m) for m in self.given] != [_plain(m) for m in self.left]


def tokens(messages: Wire) -> int:
    return foldline.count(list(messages), format="openai-chat") if messages else 0


def rejected(messages: Wire) -> str:
    """Return why a provider rejects messages, once pending calls have results."""
    found = dialect("openai-chat").validate(list(messages))
    if not found:
        return ""
    if not _waiting(messages):
        return str(found[0])
    try:
        check_accepted(dialect("openai-chat").decode(list(messages)), "openai-chat")
    except (AssertionError, foldline.FoldlineError) as error:
        return str(error)
    return ""


def broken(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield the promises that an outcome breaks, each with the problem."""
    why = rejected(outcome.left)
    if why:
        yield ("repair" if rejected(outcome.given) else "valid"), why
    for promise, check in _CHECKS.items():
        said = check(outcome)
        if said:
            yield promise, said


def _task(outcome: Outcome) -> str:
    messages = [text for text in _find_messages(outcome.said, "user") if text.strip()]
    return _missing(outcome, messages[:1])


def _latest(outcome: Outcome) -> str:
    messages = [text for text in _find_messages(outcome.said, "user") if text.strip()]
    return _missing(outcome, messages[-1:])


def _system(outcome: Outcome) -> str:
    head = []
    for message in outcome.said:
        if message["role"] not in ("system", "developer"):
            break
        head.append(_text(message))
    return _missing(outcome, head)


def _unread(outcome: Outcome) -> str:
    said = outcome.said
    answered = max((i for i, m in enumerate(said) if m["role"] == "assistant"), default=-1)
    results = [_text(m) for m in said[answered + 1 :] if m["role"] == "tool"]
    return _missing(outcome, results)


def _running(outcome: Outcome) -> str:
    before, after = _waiting(outcome.said), _waiting(outcome.left)
    lost = [name for name in before if name not in after]
    return f"the call of {lost[0]} is missing or answered" if lost else ""


def _waiting(messages: Wire) -> list[str]:
    """Return the names of the calls of the last turn that have no result yet."""
    last = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    if last < 0 or any(m["role"] != "tool" for m in messages[last + 1 :]):
        return []
    answered = {m.get("tool_call_id") for m in messages[last + 1 :]}
    calls = messages[last].get("tool_calls") or ()
    return [call["function"]["name"] for call in calls if call.get("id") not in answered]


def _grows(outcome: Outcome) -> str:
    if outcome.after > outcome.before:
        return f"{outcome.before} tokens became {outcome.after}"
    sizes: dict[str, int] = {}
    for message in outcome.given:
        if message["role"] == "tool":
            number = str(message.get("tool_call_id"))
            sizes[number] = max(sizes.get(number, 0), len(_text(message)))
    for message in outcome.left:
        number, size = str(message.get("tool_call_id")), len(_text(message))
        if message["role"] == "tool" and size > sizes.get(number, size):
            return f"a result of {sizes[number]} characters became {size}: {_text(message)[:60]!r}"
    return ""


def _summary(outcome: Outcome) -> str:
    if outcome.summarizer in ("extractive", "cut off"):
        return ""
    view = _everything(outcome.left)
    if REFUSAL in view or FAILURE in view:
        return "the summarizer's refusal or error is part of the history"
    if outcome.summarizer == "longer" and outcome.is_over:
        return f"a summary that is too long was taken: {outcome.after} of {outcome.budget} tokens"
    lost = [_text(m) for m in outcome.given if _text(m) and _text(m) not in view]
    lines = {line.strip() for text in lost for line in text.splitlines() if len(line) > 24}
    if lines and not any(line in view for line in lines):
        return f"{len(lost)} messages were dropped, and nothing replaces them"
    return ""


_CHECKS: Mapping[str, Callable[[Outcome], str]] = {
    "task": _task,
    "latest": _latest,
    "system": _system,
    "unread": _unread,
    "running": _running,
    "grows": _grows,
    "summary": _summary,
}


def _missing(outcome: Outcome, texts: Sequence[str]) -> str:
    view = _everything(outcome.left)
    for text in texts:
        large = foldline.count([{"role": "user", "content": text}]) > outcome.budget * LARGE
        expected = text.strip()
        if large:
            expected = expected.splitlines()[0][:BEGINNING].strip()
        if expected not in view:
            return f"missing: {text.strip()[:60]!r}"
    return ""


def _everything(messages: Wire) -> str:
    return "\n".join(map(_text, messages))


def _find_messages(messages: Wire, role: str) -> list[str]:
    return [_text(message) for message in messages if message["role"] == role]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        return "\n".join(str(part.get("text", "")) for part in parts)
    return content if isinstance(content, str) else ""


def _plain(message: Mapping[str, Any]) -> tuple[Any, ...]:
    calls = [
        (call.get("id"), (call.get("function") or {}).get("name"))
        for call in message.get("tool_calls") or ()
    ]
    return message["role"], _text(message), message.get("tool_call_id"), calls
