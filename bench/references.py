"""
Reference methods without a library: those of most agents, and a sketch of statements.

Each makes a text up to a number of characters; `within` finds the longest inside a budget of
tokens, so that all methods are measured alike.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

import foldline
from foldline.evaluation.future_use import identifiers
from histories import Messages, message_text, tokens_of

CLEARED = "[cleared]"
LEAST = 200
"""Minimum useful length, in characters."""

FRAME = re.compile(
    r"\s{0,9}(?:<[a-z_-]{3,40}[ >]|# AGENTS\.md|Base directory for this skill)", re.I
)
"""The start of messages that a harness sends in the user's name."""

VERDICT = re.compile(
    r"\b(?:error|failed|failure|fatal|exception|traceback|not found|no such|cannot|can't|panic"
    r"|undefined|denied|invalid|warning|passed|ok)\b|[✗✓]",
    re.IGNORECASE,
)
PROSE = re.compile(r"[a-z]{3,20} [a-z]{2,20} [a-z]{3,20}", re.IGNORECASE)
NOISE = ("description", "timeout", "workdir", "yield_time_ms", "max_output_tokens")
"""Uninformative arguments of a call."""

Way = Callable[[Messages, int], str]


def tail(messages: Messages, most: int) -> str:
    """Keep the newest whole messages; if the newest alone does not fit, keep its end."""
    return _newest([_line(message) for message in messages], most)


def clear_results(messages: Messages, most: int) -> str:
    """Clear all tool results but the newest that fit, then drop the oldest messages."""
    lines = [
        f"[tool] {CLEARED}" if message["role"] == "tool" else _line(message)
        for message in messages
    ]
    room = most - sum(map(len, lines))
    for index in reversed(range(len(messages))):
        if messages[index]["role"] == "tool":
            whole = _line(messages[index])
            room -= len(whole) - len(lines[index])
            if room < 0:
                break
            lines[index] = whole
    return _newest(lines, most)


def _line(message: dict[str, object]) -> str:
    return f"[{message['role']}] {message_text(message)}"


def _newest(lines: list[str], most: int) -> str:
    first, used = len(lines), 0
    while first and used + len(lines[first - 1]) <= most:
        first -= 1
        used += len(lines[first])
    return "\n".join(lines[first:]) if first < len(lines) else lines[-1][-most:]


class _Sketch:
    """A text under construction: pieces by position, and the remaining room."""

    def __init__(self, most: int) -> None:
        self.left = most
        self._pieces: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def add(self, place: int, order: int, text: str, least: float = 0) -> bool:
        """Add a piece unless that leaves less than ``least`` of the room."""
        if self.left - len(text) - 1 < least:
            return False
        self._pieces[place].append((order, text))
        self.left -= len(text) + 1
        return True

    def text(self) -> str:
        places = sorted(self._pieces)
        return "\n".join(text for place in places for _, text in sorted(self._pieces[place]))


def sketch(messages: Messages, most: int) -> str:
    """
    Keep statements first: user messages, the agent's prose, a line per call, lines of results.

    The rest after each kind is divided again: a message that must stay gets 45 % of all, other
    user messages a quarter of the rest, prose 55 %, calls 40 %, and lines of results what
    remains.
    """
    made = _Sketch(most)
    users = [i for i, message in enumerate(messages) if message["role"] == "user"]
    words = [i for i in users if not FRAME.match(message_text(messages[i]))]
    must = list(dict.fromkeys([*(words or users)[:1], *words[-1:]]))
    share = int(0.45 * most)
    whole = sum(len(message_text(messages[index])) for index in must) <= share
    for index in must:
        text = message_text(messages[index])
        made.add(index, 0, f"[user] {text if whole else _short(text, share // len(must))}")
    _fill(made, 0.25, _others(messages, [i for i in words if i not in must]), 0)
    _fill(made, 0.55, _prose(messages, made.left), 1)
    _fill(made, 0.40, _calls(messages), 2)
    for place, order, line in _results(messages, set(must)):
        made.add(place, 3 + order, f"→ {line}")
    return made.text()


def _fill(made: _Sketch, share: float, pieces: Iterator[tuple[int, str]], order: int) -> None:
    least = (1 - share) * made.left
    for place, text in pieces:
        made.add(place, order, text, least)


def _others(messages: Messages, places: list[int]) -> Iterator[tuple[int, str]]:
    for index in sorted(places, key=lambda i: (len(message_text(messages[i])) > 1_200, -i)):
        yield index, f"[user] {_short(message_text(messages[index]), 1_500)}"


def _prose(messages: Messages, room: int) -> Iterator[tuple[int, str]]:
    texts = [
        str(message.get("content") or "").strip() if message["role"] == "assistant" else ""
        for message in messages
    ]
    most = 1_800 if sum(map(len, texts)) < 1.1 * room else 500
    for index in reversed(range(len(texts))):
        if len(texts[index]) >= 25:
            yield index, _short(texts[index], most)


def _calls(messages: Messages) -> Iterator[tuple[int, str]]:
    for index in reversed(range(len(messages))):
        for call in messages[index].get("tool_calls") or ():
            function = call["function"]
            yield index, f"{function['name']}: {' '.join(_arguments(function).split())[:260]}"


def _arguments(function: dict[str, str]) -> str:
    try:
        found = json.loads(function["arguments"])
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return function["arguments"]
    return " ".join(f"{key}={value}"[:180] for key, value in found.items() if key not in NOISE)


def _results(messages: Messages, without: set[int]) -> Iterator[tuple[int, int, str]]:
    """Yield lines of results, first those with names that the agent wrote, best in prose."""
    own = [message for message in messages if message["role"] == "assistant"]
    written = {name: 1.0 for message in own for name in identifiers(message_text(message))}
    for message in own:
        written |= dict.fromkeys(identifiers(str(message.get("content") or "")), 2.5)
    found, seen = [], set[str]()
    for index, message in enumerate(messages):
        if message["role"] == "assistant" or index in without:
            continue
        short = len(message_text(message)) < 400
        for order, line in enumerate(message_text(message).split("\n")):
            text = line.strip()[:400]
            if len(text) >= 12 and text not in seen:
                seen.add(text)
                newer = 0.5 + 0.5 * (index + 1) / len(messages)
                worth = (_worth(text, written) + short) * newer / (len(text) + 14) ** 0.8
                found.append((-worth, index, order, text))
    for _, index, order, text in sorted(found):
        yield index, order, text


def _worth(line: str, written: dict[str, float]) -> float:
    names = sum(written.get(name, 0.15) for name in identifiers(line))
    return names + 2.0 * bool(VERDICT.search(line)) + 0.8 * bool(PROSE.search(line))


def _short(text: str, most: int) -> str:
    """Shorten a text to whole paragraphs: the first, then the last ones."""
    if len(text) <= most:
        return text
    parts = [part for part in re.split(r"\n\s{0,99}\n", text) if part.strip()]
    kept, used = [], 0
    for index in (0, *range(len(parts) - 1, 0, -1)):
        if parts and used + len(parts[index]) + 2 <= most:
            kept.append(index)
            used += len(parts[index]) + 2
    return "\n\n".join(parts[index] for index in sorted(kept)) + "\n[…]" if kept else text[:most]


WAYS: dict[str, Way] = {
    "trim to the tail": tail,
    "clear tool results": clear_results,
    "a sketch of statements": sketch,
}


def within(way: Way, messages: Messages, budget: int) -> str:
    """Return about the longest text of a method inside a budget of tokens; "" if there is none."""
    characters = 1.25 * sum(len(message_text(message)) for message in messages)
    tokens = foldline.count(messages)
    characters *= budget / tokens
    while characters > LEAST:
        text = way(messages, int(characters))
        used = tokens_of(text)
        if used <= budget:
            return text
        characters *= min(0.99, budget / used)
    return ""
