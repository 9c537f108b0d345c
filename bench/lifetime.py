"""
A generated session of thousands of turns, with planted facts that must outlast it.

A turn is a tool call and its result, sometimes after a user message. Work comes in
episodes with a few recurring names each, as when an agent fixes one thing
after another. Any turn can be generated without those before it, so that a process can continue
where another was killed.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any, Literal

from synthetic import WORDS

Wire = list[dict[str, Any]]
Kind = Literal["preference", "decision", "cause", "path", "id"]

KINDS: tuple[Kind, ...] = ("preference", "decision", "cause", "path", "id")
EPISODE, SPOKEN, PLANTED = 40, 25, 50
"""Turns per episode, between two user messages, and between two facts."""

REMARKED = 0.12
"""Fraction of the turns with a conclusion of the model that is soon irrelevant."""

RESTATED, SUPERSEDED = 403, 607
"""Turns after which some facts are repeated, and some changed; never two in one turn."""

TASK = (
    "You look after the ledgers of forty shops. Go through the open tickets one by one, mend what "
    "is broken, and keep to what I tell you on the way."
)


@dataclass(frozen=True, slots=True)
class Fact:
    """
    A fact to remember: the ``value`` of ``subject``, from the turn that states it.

    ``turn`` is when it is first stated. Some are repeated at ``again``; some are changed
    at ``changed``, from when on ``later`` is the value.
    """

    number: int
    kind: Kind
    subject: str
    value: str
    turn: int
    again: int | None = None
    changed: int | None = None
    later: str = ""

    def true_at(self, turn: int) -> str:
        """Return the value after a turn."""
        return self.later if self.changed is not None and turn >= self.changed else self.value

    def stands_in(self, line: str, turn: int) -> bool:
        """Return True if a line states the value that is valid after a turn."""
        return self.subject in line and self.true_at(turn) in line


def facts(turns: int) -> list[Fact]:
    """List the facts of a session of ``turns`` turns."""
    return [_fact(number, turns) for number in range(turns // PLANTED)]


def _fact(number: int, turns: int) -> Fact:
    rng = random.Random(f"fact {number}")  # noqa: S311  # draws text, not secrets
    kind, turn = KINDS[number % len(KINDS)], number * PLANTED + 10
    subject = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{number}"
    again = turn + RESTATED if number % 4 == 1 else None
    changed = turn + SUPERSEDED if number % 4 == 3 else None
    return Fact(
        number,
        kind,
        subject,
        _value(kind, subject, rng),
        turn,
        again if again is not None and again < turns else None,
        changed if changed is not None and changed < turns else None,
        _value(kind, subject, rng),
    )


def _value(kind: Kind, subject: str, rng: random.Random) -> str:
    word, digits = rng.choice(WORDS), rng.randrange(1_000, 10_000)
    match kind:
        case "preference":
            return f"{word}-{digits}@ledgers.example"
        case "decision":
            return f"{word}-{digits // 1_000}.{digits % 1_000 // 10}"
        case "cause":
            return f"{word}_{digits}_overflow"
        case "path":
            return f"services/{subject}/{word}_{digits}.py"
        case "id":
            return f"dpl-{rng.getrandbits(32):08x}"


def begin() -> Wire:
    """Return the first messages of a session."""
    return [{"role": "user", "content": TASK}]


def turn(number: int, planted: dict[int, tuple[Fact, str]]) -> Wire:
    """Write one turn; ``planted`` is from `by_turn`."""
    rng = random.Random(f"turn {number}")  # noqa: S311  # draws text, not secrets
    names = _episode(number // EPISODE)
    told = planted.get(number)
    spoken = _spoken(rng, number, names, told)
    said, tool, arguments, output = _work(rng, names)
    if told is not None:
        said, tool, arguments, output = _planted(told, said, tool, arguments, output)
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }
    return [
        *spoken,
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": output},
    ]


def by_turn(known: list[Fact]) -> dict[int, tuple[Fact, str]]:
    """Return by turn the fact that it states, and the stated value."""
    said = {fact.turn: (fact, fact.value) for fact in known}
    said |= {fact.again: (fact, fact.value) for fact in known if fact.again is not None}
    said |= {fact.changed: (fact, fact.later) for fact in known if fact.changed is not None}
    return said


def _episode(number: int) -> list[str]:
    rng = random.Random(f"episode {number}")  # noqa: S311  # draws text, not secrets
    return [f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{rng.randrange(100)}" for _ in range(12)]


def _spoken(
    rng: random.Random, number: int, names: list[str], told: tuple[Fact, str] | None
) -> Wire:
    if told is not None and told[0].kind == "preference":
        fact, value = told
        rule = f"From now on, send whatever concerns {fact.subject} to {value}, never to me."
        return [{"role": "user", "content": f"One more thing. {rule}\nNow go on."}]
    if number % SPOKEN:
        return []
    text = f"Well done. The next ticket is about {rng.choice(names)}: {_words(rng, 14)}."
    return [{"role": "user", "content": text}]


def _work(rng: random.Random, names: list[str]) -> tuple[str, str, dict[str, Any], str]:
    path = f"src/{rng.choice(names)}.py"
    tool = rng.choice(("read_file", "search", "run"))
    said = f"I look at {rng.choice(names)} in {path}, since {_words(rng, 8)}."
    if rng.random() < REMARKED:
        said += f"\nIt turns out that {rng.choice(names)} is {_words(rng, 5)}."
    match tool:
        case "read_file":
            lines = (
                f"{n:5}\t    {rng.choice(names)} = {_name(rng)}({rng.randrange(10**4)})"
                for n in range(1, rng.randrange(8, 30))
            )
            return said, tool, {"path": path}, "\n".join(lines)
        case "search":
            lines = (
                f"src/{_name(rng)}.py:{rng.randrange(900)}: {_words(rng, 6)} {rng.choice(names)}"
                for _ in range(rng.randrange(4, 16))
            )
            return said, tool, {"pattern": rng.choice(names)}, "\n".join(lines)
        case _:
            passed = [f"tests/test_{_name(rng)}.py::test_{_name(rng)} PASSED" for _ in range(9)]
            passed.append(f"{rng.randrange(2, 90)} passed in {rng.random() * 9:.2f}s")
            return said, tool, {"command": f"pytest {path}"}, "\n".join(passed)


def _planted(
    told: tuple[Fact, str], said: str, tool: str, arguments: dict[str, Any], output: str
) -> tuple[str, str, dict[str, Any], str]:
    """State a fact where its kind belongs: in the model's text, a call, or a result."""
    fact, value = told
    match fact.kind:
        case "decision":
            said = f"{said}\nI decided to use {value} for {fact.subject}: nothing else fits."
        case "cause":
            failed = f"FAILED tests/test_{fact.subject}.py::test_total - ValueError: {value}"
            output = f"{output}\n{failed}"
            said = f"{said}\nThe root cause in {fact.subject} is {value}."
        case "path":
            text = f"# Totals of {fact.subject}.\n"
            tool, arguments = "write_file", {"path": value, "content": text}
            said = f"I write what {fact.subject} needs to {value}."
            output = f"Wrote {len(text)} bytes to {value}."
        case "id":
            half = len(output) // 2
            line = f"deployment of {fact.subject} finished: {value}"
            output = f"{output[:half].rpartition(chr(10))[0]}\n{line}\n{output[half:]}"
        case "preference":
            pass
    return said, tool, arguments, output


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def _name(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"
