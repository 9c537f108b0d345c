"""A generated agent session of any size, the same on every machine: no local file is read."""

from __future__ import annotations

import json
import random
from typing import Any

WORDS = """
account adapter amount archive balance batch branch budget cache client column commit config
count cursor customer default delta driver entry event export field filter format handle
header import index invoice item ledger limit line loader log merge message model module
number offset order owner page parser path payment policy price query queue range receipt
record region report request result retry row rule sample schema session shard source state
store stream table target tax test token total trace user value version window worker
""".split()  # noqa: SIM905  # to be read as prose
TASK = "The nightly export drops rows when a ledger has two currencies. Find out why and mend it."


def session(size: int, seed: int = 7) -> list[dict[str, Any]]:
    """
    Write an agent's session in the format of OpenAI Chat Completions.

    Args:
        size: Its size as JSON, in bytes, to within one turn.
        seed: The random seed.
    """
    rng = random.Random(seed)  # noqa: S311  # draws text, not secrets
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    written = 0
    while written < size:
        turn = turn_of(rng, len(messages))
        written += len(json.dumps(turn))
        messages += turn
    return messages


def message(number: int, tokens: int = 100) -> dict[str, Any]:
    """Write one short unique message of about ``tokens`` tokens."""
    rng = random.Random(number)  # noqa: S311  # draws text, not secrets
    role = "assistant" if number % 2 else "user"
    words = (rng.choice(WORDS) for _ in range(round(tokens * 0.9)))
    return {"role": role, "content": f"{number}: {' '.join(words)}"}


def turn_of(rng: random.Random, number: int) -> list[dict[str, Any]]:
    """Write a call and its result, sometimes after a user message."""
    path = _path(rng)
    tool, arguments, output = rng.choice((_read, _search, _run_tests, _query))(rng, path)
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }
    thought = f"I look at {path}, because {_words(rng, 12)}."
    turn = [
        {"role": "assistant", "content": thought, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": output},
    ]
    if rng.random() < 0.04:
        turn.insert(0, {"role": "user", "content": f"And what about the {_words(rng, 20)}?"})
    return turn


def _read(rng: random.Random, path: str) -> tuple[str, dict[str, Any], str]:
    lines = (
        f"{n:5}\t    {_name(rng)} = {_name(rng)}({rng.randrange(10**4)})  # {_words(rng, 6)}"
        for n in range(1, rng.randrange(20, 160))
    )
    return "read_file", {"path": path}, "\n".join(lines)


def _search(rng: random.Random, path: str) -> tuple[str, dict[str, Any], str]:
    lines = (
        f"{_path(rng)}:{rng.randrange(900)}: {_words(rng, 8)} {_name(rng)}"
        for _ in range(rng.randrange(5, 60))
    )
    return "search", {"pattern": _name(rng), "path": path}, "\n".join(lines)


def _run_tests(rng: random.Random, path: str) -> tuple[str, dict[str, Any], str]:
    lines = [f"tests/test_{_name(rng)}.py::test_{_name(rng)} PASSED" for _ in range(40)]
    lines += [
        f"E   AssertionError: {_name(rng)} is {rng.randrange(10**6)}, not {rng.randrange(10**6)}",
        f"{path}:{rng.randrange(900)}: AssertionError",
    ]
    return "run", {"command": f"pytest {path}"}, "\n".join(lines)


def _query(rng: random.Random, path: str) -> tuple[str, dict[str, Any], str]:
    rows = [
        {"id": f"{rng.getrandbits(64):016x}", _name(rng): rng.randrange(10**6), "path": path}
        for _ in range(rng.randrange(5, 50))
    ]
    return "query", {"table": _name(rng)}, json.dumps(rows, indent=1)


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def _name(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"


def _path(rng: random.Random) -> str:
    return f"src/{rng.choice(WORDS)}/{_name(rng)}.py"
