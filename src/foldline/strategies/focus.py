"""Focus: what the caller wants to be kept above all, as words to look for in a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from foldline.core.names import items, words

LONGEST = 2_000
"""Characters of a focus that are looked at."""

NAME, WORD = 1.0, 0.34
"""What a name, and what an ordinary word of the focus, counts where a line has it."""

WEIGHT, BASE = 6.0, 0.38
"""How much more a line is worth that has all of the focus, by factor and by addition."""

COMMON = frozenset(
    re.findall(
        r"\w+",
        "about above all also and any are but can details everything from for has have her "
        "his into its keep make may must not only our out please remember said say she should "
        "that the their them then there these they this those use was were what when where which "
        "who will with you your ",
    )
)
"""Words that say nothing about what is meant."""

_EAST_ASIAN = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")


@dataclass(frozen=True, slots=True)
class Focus:
    """Names, ordinary words in lower case, and pairs of East Asian characters to look for."""

    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a focus."""
        text = text[:LONGEST]
        names = frozenset(items(text))
        plain = frozenset(words(text)) - COMMON
        return cls(names, plain, frozenset(_pairs(text)))

    def __bool__(self) -> bool:
        return bool(self.names or self.words or self.pairs)

    def match(self, line: str) -> float:
        """Return how much of the focus a line has, from 0 to 1."""
        found = NAME * len(self.names & items(line).keys()) if self.names else 0.0
        if self.words:
            found += WORD * len(self.words & words(line))
        if self.pairs:
            found += WORD * len(self.pairs & set(_pairs(line)))
        return min(1.0, found)

    def matches(self, lines: Sequence[str]) -> dict[int, float]:
        """Return how much of the focus the lines have that have any, by position."""
        found = ((position, self.match(line)) for position, line in enumerate(lines))
        return {position: match for position, match in found if match}


def _pairs(text: str) -> list[str]:
    return [
        run[start : start + 2]
        for run in _EAST_ASIAN.findall(text)
        for start in range(len(run) - 1)
    ]
