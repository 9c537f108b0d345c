"""
Coverage: what matters most in what is folded, and whether account and quotes still have it.

The names that are most likely to be used again come from the statistics of the conversation; with
them count the paths and numbers of the user's own words, of open failures and of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from foldline.relevance.names import items
from foldline.snapshot.facts import open_errors, plan
from foldline.values.messages import visible_texts
from foldline.values.view import View

MOST = 40
"""How many names are looked for, those of facts not counted."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Names that matter, those of them that the account lacks, and those that nothing has."""

    wanted: frozenset[str]
    untold: frozenset[str]
    lost: frozenset[str]

    def __str__(self) -> str:
        quoted = len(self.untold) - len(self.lost)
        return (
            f"the account lacks {len(self.untold)} of the {len(self.wanted)} names that matter "
            f"most, {quoted} of these are quoted beside it"
        )


def wanted(view: View, positions: Sequence[int]) -> frozenset[str]:
    """
    Return the names that matter most among those that would go out of sight.

    Args:
        view: What the model sees.
        positions: The messages that are folded.
    """
    folded = [view.original(position) for position in positions]
    gone = frozenset(positions)
    beside = {
        item
        for index, message in enumerate(view.messages)
        if index not in gone
        for text in visible_texts(message)
        for item in items(text)
    }
    found = {item for message in folded for text in visible_texts(message) for item in items(text)}
    values = view.names
    likely = nlargest(MOST, sorted(found - beside), key=lambda item: values.get(item, 0.0))
    steps = plan(folded)
    findings = (*open_errors(folded), *((steps,) if steps else ()))
    facts = {item for finding in findings for line in finding.lines for item in items(line)}
    return frozenset(likely) | (facts - beside)


def coverage(names: frozenset[str], account: str, snapshot: str) -> Coverage:
    """Compare the names that matter with an account and with the snapshot that it stands in."""
    return Coverage(names, names - items(account).keys(), names - items(snapshot).keys())
