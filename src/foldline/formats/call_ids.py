"""Call ids of other wires, made legal and unique; results follow their calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from foldline.formats.foreign import is_own
from foldline.values.groups import Site, pair
from foldline.values.messages import Message, ToolCall, ToolResult

MAX_LENGTH = 64
"""Longest id that OpenAI accepts, in characters."""

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def wire_ids(messages: Sequence[Message], dialect: str) -> dict[Site, str]:
    """
    Choose the ids of calls and results that another dialect, or Foldline itself, has made.

    An id is kept where it is legal (letters, digits, ``_`` and ``-``, at most 64) and new. A call
    without one, or with one that an earlier call has, gets one that depends on its message only,
    so that it is the same on the next request. A result gets the id of the call that it answers.

    Args:
        messages: The conversation in order.
        dialect: The format that is written; ids of its own messages stay.

    Returns:
        An id for every call and result, or nothing when no message needs one.
    """
    if all(is_own(m, dialect) or not (m.calls or m.results) for m in messages):
        return {}
    pairing = pair(messages)
    numbers: dict[Site, str] = {}
    taken: set[str] = set()
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                kept = (part.id or "") if is_own(message, dialect) else _new(part.id, taken)
                numbers[Site(index, position)] = kept or _made_up(message, index, position)
                taken.add(numbers[Site(index, position)])
    numbers |= {result: numbers[call] for call, result in pairing.answers.items()}
    numbers |= {late: numbers[call] for late, call in pairing.late.items()}
    for site in pairing.orphans:
        message = messages[site.message]
        part = message.parts[site.part]
        number = legal_id(part.call_id or "") if isinstance(part, ToolResult) else ""
        numbers[site] = number or _made_up(message, site.message, site.part)
    return numbers


def legal_id(number: str) -> str:
    """Return an id in the letters and the length that every provider accepts."""
    legal = _ILLEGAL.sub("_", number)
    if len(legal) <= MAX_LENGTH:
        return legal
    digest = blake2b(number.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{legal[: MAX_LENGTH - 17]}_{digest}"


def _new(number: str | None, taken: set[str]) -> str:
    legal = legal_id(number or "")
    return "" if legal in taken else legal


def _made_up(message: Message, index: int, position: int) -> str:
    return f"call_{message.id[:16] or index}_{position}"
