"""Excerpts: the beginning, the end and the lines that matter of a text that is too long."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from foldline.core.salience.items import items
from foldline.core.salience.lines import Line, text_lines
from foldline.core.salience.select import candidates, select
from foldline.core.tokens import TokenCounter

Style: TypeAlias = Literal["head", "tail", "head_tail", "salient"]

HEAD_SHARE = {"head": 1.0, "tail": 0.0, "head_tail": 0.4, "salient": 0.1}
TAIL_SHARE = {"head": 0.0, "tail": 1.0, "head_tail": 0.6, "salient": 0.15}
"""Fractions of the budget for the first and the last characters; salient lines get the rest."""

MARKER_TOKENS = 40
"""What the sentence about the missing middle takes, in tokens."""

SEARCH = 7
"""How often an excerpt is cut anew to come close to its size."""

UNKNOWN = 0.05
"""Probability of use given to an item that no statistics know."""

ALARM_WEIGHT = 3.0
ALARMS = re.compile(
    "[Ee]rror|ERROR|[Ff]ail|FAIL|[Ee]xception|Traceback|panic|[Ff]atal|FATAL|错误|失败|异常"
)


def excerpt(
    text: str,
    tokens: int,
    counter: TokenCounter,
    *,
    handle: str,
    style: Style = "salient",
    values: Mapping[str, float] | None = None,
) -> str:
    """
    Shorten a text to a number of tokens, saying what is missing and how to read it.

    Args:
        text: The text.
        tokens: The most that the excerpt may take.
        counter: What counts.
        handle: Where the whole text is recalled.
        style: Which part to keep.
        values: Probability of use by item, for the salient style.

    Returns:
        The text itself when it is short enough, else an excerpt that takes at most ``tokens``, or
        the bare marker when not even that fits. Never longer than the text, in tokens.
    """
    whole = counter.text(text)
    if whole <= tokens:
        return text
    best = marker(handle, whole, text.count("\n") + 1)
    low, high = 0.0, 1.5 * tokens
    for _ in range(SEARCH):
        room = min(tokens - MARKER_TOKENS, high) if low == 0.0 else (low + high) / 2
        if room <= 0 or high - low < 8:
            break
        short = _cut(text, whole, room, handle, style, values or {})
        if counter.text(short) <= tokens:
            low, best = room, short
        else:
            high = room
    return best


def marker(handle: str, tokens: int, lines: int) -> str:
    """Say that a whole text is out of sight."""
    return f"[{tokens:,} tokens, {lines:,} lines left out; recall {handle}]"


def _cut(
    text: str, whole: int, room: float, handle: str, style: Style, values: Mapping[str, float]
) -> str:
    per_token = len(text) / whole
    first = _line_end(text, int(room * HEAD_SHARE[style] * per_token))
    last = _line_start(text, len(text) - int(room * TAIL_SHARE[style] * per_token), first)
    head, middle, tail = text[:first], text[first:last], text[last:]
    left = room * (1 - HEAD_SHARE[style] - TAIL_SHARE[style])
    kept = salient_lines(middle, left, per_token, values) if left > 0 else []
    start = text.count("\n", 0, first) + 1
    stop = start + middle.count("\n")
    hint = f"[… {whole:,} tokens in all; lines {start}-{stop} are shortened; recall {handle} …]"
    pieces = [head.rstrip("\n"), hint, *kept]
    if kept:
        pieces.append("[…]")
    pieces.append(tail.lstrip("\n"))
    return "\n".join(piece for piece in pieces if piece)


def _line_end(text: str, position: int) -> int:
    """Move a cut back to the end of a line, unless that would lose most of the piece."""
    end = text.rfind("\n", position // 2, position)
    return position if end < 0 else end + 1


def _line_start(text: str, position: int, floor: int) -> int:
    position = max(position, floor)
    start = text.find("\n", position, position + (len(text) - position) // 2)
    return position if start < 0 else start + 1


def salient_lines(
    middle: str, room: float, per_token: float, values: Mapping[str, float]
) -> list[str]:
    """
    Choose the lines of a text that tell most.

    Args:
        middle: The text.
        room: What they may take, in tokens.
        per_token: Characters of the text for each token.
        values: Probability of use by item.

    Returns:
        The lines, in order.
    """
    found = [Line(0, 0, number, line[:400]) for number, line in text_lines(middle)]
    known = {item: values.get(item, UNKNOWN) for line in found for item in items(line.text)}
    offered = candidates(
        found,
        known,
        cost=lambda line: len(line.text) / per_token,
        weight=lambda line: (ALARM_WEIGHT, 0.05) if is_alarm(line.text) else (1.0, 0.0),
    )
    chosen = sorted(select(offered, known, room), key=lambda c: c.line.number)
    return [candidate.line.text for candidate in chosen]


def is_alarm(line: str) -> bool:
    """Tell whether a line speaks of something that went wrong."""
    return ALARMS.search(line, 0, 400) is not None
