"""
Offering: what every line of a digest's material is worth before any is chosen.

Besides the names in it a line counts by who speaks, by whether it tells of a failure, by what the
caller wants to be remembered, and by whether it answers what the user asks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from foldline.core.alarms import alarming
from foldline.core.messages import ToolResult
from foldline.core.salience.select import Offer, Worth
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.asked import Asked
from foldline.strategies.focus import BASE as FOCUS_BASE
from foldline.strategies.focus import WEIGHT as FOCUS_WEIGHT
from foldline.strategies.focus import Focus
from foldline.strategies.material import Material, Passage
from foldline.strategies.offers import Offered, result_lines

WEIGHT = {"account": 2.0, "user": 1.3, "assistant": 1.1, "result": 1.0}
BASE = {"account": 0.12, "user": 0.02, "assistant": 0.013, "result": 0.0}
ALARM, ALARM_BASE = 1.3, 0.024
"""How much more a line is worth by who speaks, and when it speaks of something going wrong."""

OPENING_LINES, OPENING = 3, 0.1
"""The first lines of a part that stays say what it is; this is added to their value."""

TASK_OPENING = 10.0
"""The same for what a user said: what is asked for stands there, so it comes before all else."""

NEWER = 3.0
"""How much more that is for the newest of them: what is asked now comes before what was asked."""

SEARCHED, TINY = 0.02, 0.005
"""
The fraction of all that is compressed from which on an output is searched for what the user asks,
and that below which it is not even where the question points at it: among very many small ones
the names alone tell what matters.
"""

PARTS = ("assistant", "result")
"""Whose lines may be cut to a part."""


@dataclass(frozen=True, slots=True)
class Offering:
    """
    The passages of a digest with what their lines are worth.

    Those of ``listed`` entries are left out. ``asked`` is what the user wants to know, ``room``
    what may be kept of all, in tokens.
    """

    view: View
    material: Material
    listed: Container[int]
    focus: Focus
    asked: Asked
    room: float

    @classmethod
    def of(
        cls, view: View, need: Need, material: Material, listed: Container[int], room: float
    ) -> Self:
        """Judge the lines of some material by what the caller and the user ask for."""
        asked = _asked(view, need, material)
        return cls(view, material, listed, Focus.of(need.focus), asked, room)

    def by_user(self) -> Iterator[Offer]:
        """Offer what users said."""
        return self._of(lambda who: who == "user")

    def by_others(self) -> Iterator[Offer]:
        """Offer everything else."""
        return self._of(lambda who: who != "user")

    def _of(self, wanted: Callable[[str], bool]) -> Iterator[Offer]:
        for number, passage in self._ordered():
            if wanted(passage.who) and passage.entry not in self.listed:
                lines, extra, whole = self._lines(passage)
                worth = (WEIGHT.get(passage.who, 1.0), BASE.get(passage.who, 0.0))
                marked = dict(self._marked(passage, lines, worth, extra))
                # What stays in its place, and what a user said, is not taken out of its words.
                parts = passage.who in PARTS and passage.entry not in self.material.sites
                price = passage.tokens_per_char
                lost = 1 if parts and passage.is_numbered() else 0
                yield Offer(number, passage.entry, lines, price, worth, marked, parts, lost, whole)

    def _ordered(self) -> list[tuple[int, Passage]]:
        """Number the passages, those that stay first: of lines that repeat the first counts."""
        newest_first = list(enumerate(self.material.passages))[::-1]
        return sorted(newest_first, key=lambda found: found[1].entry not in self.material.sites)

    def _lines(self, passage: Passage) -> Offered:
        """Cut a passage into lines; a tool's output by its kind and by what is asked."""
        part, share = passage.part, _share(self.material, passage)
        if not isinstance(part, ToolResult) or share < TINY:
            return Offered(passage.lines(), {}, frozenset())
        if share < SEARCHED and not self.asked.points_at(part.text):
            return Offered(passage.lines(), {}, frozenset())
        kept = self.room / self.material.total
        return result_lines(part.text, self.asked, share, kept, failed=part.is_error)

    def _marked(
        self,
        passage: Passage,
        lines: Sequence[str],
        worth: Worth,
        extra: Mapping[int, float],
    ) -> Iterator[tuple[int, Worth]]:
        """Yield the lines that are worth more than the others, by position."""
        loud = alarming(lines) if passage.who == "result" else set[int]()
        meant = self.focus.matches(lines) if self.focus else {}
        first = self._opening(passage)
        special = loud.union(meant, extra, range(min(OPENING_LINES, len(lines))) if first else ())
        for position in special:
            weight, base = worth
            if position in loud:
                weight, base = weight * ALARM, base + ALARM_BASE
            base += extra.get(position, 0.0)
            if position < OPENING_LINES:
                base += first
            match = meant.get(position, 0.0)
            yield position, (weight * (1 + FOCUS_WEIGHT * match), base + FOCUS_BASE * match)

    def _opening(self, passage: Passage) -> float:
        """Return what is added to the value of a line at the beginning of a part that stays."""
        site = self.material.sites.get(passage.entry)
        if site is None:
            return 0.0
        if site.rank != "task":
            return OPENING
        return TASK_OPENING * (1 + NEWER * site.index / len(self.view.messages))


def _share(material: Material, passage: Passage) -> float:
    """Return which fraction of all that is compressed the output of a tool is, in tokens."""
    part = passage.part
    if not isinstance(part, ToolResult):
        return 0.0
    return len(part.text) * passage.tokens_per_char / material.total


def _asked(view: View, need: Need, material: Material) -> Asked:
    """Read what the user wants to know, and how often its words stand in what tools returned."""
    texts = (
        passage.part.text
        for passage in material.passages
        if isinstance(passage.part, ToolResult) and _share(material, passage) >= SEARCHED
    )
    return Asked.of(view.messages, need.focus).among(texts)
