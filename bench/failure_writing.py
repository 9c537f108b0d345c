"""A failure case, and shorthands to write its messages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from foldline.testing.histories import sample

Wire = list[dict[str, Any]]

USELESS = ("refusal", "empty", "blank", "error", "longer")
"""The answers of the stand-in as a failing summarizer."""


@dataclass(frozen=True, slots=True)
class Case:
    """
    One input.

    ``budget`` is in tokens, or a share of the input. ``summarizer`` is how the stand-in
    behaves. ``later`` has the messages to add after each compaction. ``fits``
    is whether the mandatory content fits the budget, so that a compaction can reach it.
    """

    name: str
    rows: tuple[str, ...]
    messages: Wire
    budget: float = 0.3
    summarizer: str = "extractive"
    later: tuple[Wire, ...] = ()
    fits: bool = True


# --- messages ------------------------------------------------------------------------------


def s(text: str) -> Wire:
    return [{"role": "system", "content": text}]


def u(text: str) -> Wire:
    return [{"role": "user", "content": text}]


def a(text: str) -> Wire:
    return [{"role": "assistant", "content": text}]


def c(*numbers: str, name: str = "read_file", arguments: str = '{"path": "src/app.py"}') -> Wire:
    calls = [
        {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
        for number in numbers
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}]


def t(number: str, text: str) -> Wire:
    return [{"role": "tool", "tool_call_id": number, "content": text}]


def work(first: int, count: int, lines: int = 40, kind: str = "log") -> Wire:
    """Return ``count`` calls, each with a result."""
    out: Wire = []
    for index in range(first, first + count):
        path = json.dumps({"path": f"src/part_{index}.py", "limit": lines})
        out += c(f"call_{index}", arguments=path)
        out += t(f"call_{index}", f"part {index} of service_{index}\n" + sample(kind, lines))
    return out


SYSTEM = s("You are a careful engineer in the repository orders-api. Never push to main.")
TASK = u("ORIGINAL TASK: find why POST /orders times out, and keep the port 8443 as it is.")
NEXT = u("And now: what did service_3 say about request 8f3a91c2?")
OLD = [*SYSTEM, *TASK, *work(0, 10)]
"""The start of most cases."""

DONE = [*a("I have read ten parts; the retry limit is what I would look at."), *NEXT]
