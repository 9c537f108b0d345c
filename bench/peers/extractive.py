"""
A stand-in for the model that writes summaries, the same for every library.

It quotes: first what the user said, which every prompt for summaries asks for, then those lines
which name the most things that the rest of the text names again, all in their order, up to its
cap. So what a library loses is what it did not show, or did not leave room for.
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
"""How a line begins that is marked as the user's: user:, [user], <message type="human">."""

SAID_SHARE = 1 / 3
"""The share of a summary for what the user said."""

LONGEST_LINE = 400
"""Characters of a line that are quoted."""

SHORTEST = 20
"""With less room than so many characters, nothing more is looked for."""

ACCOUNTS = "accounts:"
"""A kind that begins so names a folder: a prompt is written there, its account is read there."""

KINDS = ("extractive", "refusal", "empty", "blank", "error", "longer", "cut off")


class Failed(RuntimeError):
    """The summarizer did not answer; what a provider's time-out or refusal of service is."""


@dataclass
class Tally:
    """How often the stand-in was called, and how long it took, in seconds of the processor."""

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
    Return the account that somebody wrote of a prompt, in at most so many characters.

    Raises:
        Failed: Nobody did yet; the prompt lies in the folder now.
    """
    number = sha256(prompt.encode()).hexdigest()[:16]
    account = folder / f"{number}.txt"
    if account.is_file():
        return account.read_text(encoding="utf-8")[:most]
    text = f"(At most {most} characters; into {account.name}.)\n\n{prompt}"
    (folder / f"{number}.prompt").write_text(text, encoding="utf-8")
    raise Failed(f"{account} has to be written")


def extract(text: str, most: int) -> str:
    """Return the lines that name the most, in their order, in at most so many characters."""
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
            # A mark on a line of its own stands before what was said.
            yield min(index + (mark.end() == len(line)), len(lines) - 1)


def _filled(
    lines: list[str], order: Iterable[int], most: int, chosen: dict[str, int]
) -> dict[str, int]:
    """Take lines in an order, none twice, as long as they fit; return where each stands."""
    chosen, left = dict(chosen), most - sum(len(line) + 1 for line in chosen)
    for index in order:
        line = lines[index]
        if line and line not in chosen and len(line) < left:
            chosen[line] = index
            left -= len(line) + 1
        if left < SHORTEST:
            break
    return chosen
