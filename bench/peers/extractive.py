"""
A stand-in for a summarizing model, the same for every library.

It quotes: first user messages, which every summary prompt requests, then those lines
with the most names that recur in the rest of the text, all in order, up to its
cap. So a library loses only what it did not pass on, or left no room for.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

NAMES = re.compile(
    r"(?:[\w.@~+-]*/)+[\w.@+-]+"  # paths
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # dotted names
    r"|[A-Za-z]+_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+"  # identifiers
    r"|\b[0-9a-f]{7,40}\b|\b\d{3,}\b"  # hashes and numbers
)
SAID = re.compile(r"^.{0,24}?\b(?:user|human)\b\W{0,2}[\]:>]", re.IGNORECASE)
"""The start of a line marked as the user's: user:, [user], <message type="human">."""

SAID_SHARE = 1 / 3
"""The share of a summary for user messages."""

LONGEST_LINE = 400
"""Maximum characters quoted of a line."""

SHORTEST = 20
"""Minimum room in characters to search for more lines."""

ACCOUNTS = "accounts:"
"""Prefix of a kind that names a folder: prompts are written there, their accounts read there."""

KINDS = ("extractive", "refusal", "empty", "blank", "error", "longer", "cut off")


class Failed(RuntimeError):
    """The summarizer did not answer, as in a timeout or a refusal of service."""


@dataclass
class Tally:
    """The number of calls of the stand-in, and their processor time in seconds."""

    calls: int = 0
    seconds: float = 0.0
    largest: int = 0


@dataclass(frozen=True)
class Standin:
    """
    Answers prompts.

    ``kind`` is one of `KINDS`, or `ACCOUNTS` with a folder; ``characters`` caps a summary, and
    ``tally`` is shared by copies.
    """

    kind: str = "extractive"
    characters: int = 4_000
    rate: float = 0.25
    tally: Tally = field(default_factory=Tally)

    def within(self, tokens: int) -> Standin:
        """Return the same stand-in with another cap, in tokens."""
        return replace(self, characters=max(40, int(tokens / max(self.rate, 1e-6))))

    def answer(self, prompt: str) -> str:
        """
        Answer a prompt.

        Raises:
            Failed: The kind is "error".
        """
        began = time.process_time()
        self.tally.calls += 1
        self.tally.largest = max(self.tally.largest, len(prompt))
        try:
            return self._answer(prompt)
        finally:
            self.tally.seconds += time.process_time() - began

    def _answer(self, prompt: str) -> str:
        if self.kind.startswith(ACCOUNTS):
            folder = Path(self.kind.removeprefix(ACCOUNTS))
            return recorded(folder, prompt, self.characters)
        match self.kind:
            case "extractive":
                return extract(prompt, self.characters)
            case "refusal":
                return "I'm sorry, but I can't help with that."
            case "empty":
                return ""
            case "blank":
                return " \n\t "
            case "longer":
                return "It went on and on, as was said before. " * (2 + len(prompt) // 20)
            case "cut off":
                return extract(prompt, self.characters)[:-7].rstrip() + " and then the"
            case _:
                raise Failed("the summarizer timed out after 30 s")


def recorded(folder: Path, prompt: str, most: int) -> str:
    """
    Return the recorded account of a prompt, in at most ``most`` characters.

    Raises:
        Failed: There is none yet; the prompt is now in the folder.
    """
    number = sha256(prompt.encode()).hexdigest()[:16]
    account = folder / f"{number}.txt"
    if account.is_file():
        return account.read_text(encoding="utf-8")[:most]
    text = f"(At most {most} characters; into {account.name}.)\n\n{prompt}"
    (folder / f"{number}.prompt").write_text(text, encoding="utf-8")
    raise Failed(f"{account} has to be written")


def extract(text: str, most: int) -> str:
    """Return the lines with the most names, in order, in at most ``most`` characters."""
    lines = [line.strip()[:LONGEST_LINE] for line in text.splitlines()]
    named = [set(NAMES.findall(line)) for line in lines]
    often = Counter(name for names in named for name in names)

    def worth(index: int) -> float:
        value = sum(1.0 + math.log(min(often[name], 8)) for name in named[index])
        return value / (12 + len(lines[index]) ** 0.8)

    said = list(_find_statements(lines))
    chosen = _filled(lines, said, int(most * SAID_SHARE), {})
    rest = sorted(range(len(lines)), key=lambda index: (-worth(index), index))
    chosen = _filled(lines, rest, most, chosen)
    return "\n".join(lines[index] for index in sorted(chosen.values()))


def _find_statements(lines: list[str]) -> Iterator[int]:
    for index, line in enumerate(lines):
        mark = SAID.match(line)
        if mark:
            # A mark on a separate line precedes the text.
            yield min(index + (mark.end() == len(line)), len(lines) - 1)


def _filled(
    lines: list[str], order: Iterable[int], most: int, chosen: dict[str, int]
) -> dict[str, int]:
    """Take lines in an order, none twice, as long as they fit; return the position of each."""
    chosen, left = dict(chosen), most - sum(len(line) + 1 for line in chosen)
    for index in order:
        line = lines[index]
        if line and line not in chosen and len(line) < left:
            chosen[line] = index
            left -= len(line) + 1
        if left < SHORTEST:
            break
    return chosen
