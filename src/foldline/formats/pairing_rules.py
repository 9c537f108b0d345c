"""The rule that chat wires share: results stand directly behind their calls, each exactly once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foldline.formats.dialect import Violation


@dataclass(frozen=True, slots=True)
class Turn:
    """
    What the rule looks at in one wire message.

    ``calls`` are the ids of its calls with their fields; ``answers`` is the id that a result
    names, None where the message is not a result.
    """

    index: int
    calls: tuple[tuple[str, str], ...] = ()
    answers: str | None = None


def unpaired(turns: Iterable[Turn]) -> list[Violation]:
    """
    Report results without a call directly before, calls without a result, and repeated ids.

    The calls of the last message with calls may still wait while nothing else follows.
    """
    found: list[Violation] = []
    waiting: dict[str, Violation] = {}
    for turn in turns:
        if turn.answers is not None:
            if waiting.pop(turn.answers, None) is None:
                text = f"the result of {turn.answers!r} does not follow a message with that call"
                found.append(Violation(turn.index, "tool_call_id", "pairing", text))
            continue
        found += waiting.values()
        waiting = {}
        for number, field in turn.calls:
            if number in waiting:
                text = f"the id {number!r} occurs twice"
                found.append(Violation(turn.index, field, "duplicate", text))
            text = f"the call {number!r} has no result behind it"
            waiting[number] = Violation(turn.index, field, "pairing", text)
    return found
