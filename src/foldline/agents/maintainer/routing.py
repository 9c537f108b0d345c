"""
What lives where: one rule, by how soon a piece of information ages, and who vouches for it.

| vouched for by | for the moment | for this work | lasting |
| --- | --- | --- | --- |
| the workspace | terminal | terminal | terminal |
| a person | memory, working | memory, episodic | note of the project |
| the agent | memory, working | memory, episodic | note of the task |

The workspace can be asked again for the price of a command, and a copy of what it says ages: only
a pointer is kept, with the hash of what was seen. What lasts and is nowhere in the files is a
note, which people read and correct. Everything else is remembered, and forgotten in time. Where
two layers say different things, the one that vouches more is right: the workspace, then a person,
then the agent; between equals, the newer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from foldline.core.validation import named
from foldline.memory.items import Kind
from foldline.notes.note import Level

Authority: TypeAlias = Literal["workspace", "person", "agent"]
"""Who vouches for it: the files themselves, a person who said it, or the agent that infers it."""

Volatility: TypeAlias = Literal["moment", "work", "lasting"]
"""How long it holds: until the next look, while this work goes on, or until somebody decides."""

Layer: TypeAlias = Literal["terminal", "memory", "notes"]

AUTHORITIES: Final[tuple[Authority, ...]] = get_args(Authority)
VOLATILITIES: Final[tuple[Volatility, ...]] = get_args(Volatility)


@dataclass(frozen=True, slots=True)
class Home:
    """Where a piece of information lives: its layer, and its kind or level there."""

    layer: Layer
    kind: Kind | None = None
    level: Level | None = None


def route(authority: Authority, volatility: Volatility) -> Home:
    """
    Say where a piece of information lives; see the table of this module.

    Args:
        authority: Who vouches for it.
        volatility: How long it holds.

    Raises:
        BudgetError: There is no such authority or volatility.
    """
    named("authority", authority, AUTHORITIES)
    named("volatility", volatility, VOLATILITIES)
    if authority == "workspace":
        return Home("terminal")
    if volatility == "lasting":
        return Home("notes", level="project" if authority == "person" else "task")
    return Home("memory", kind="working" if volatility == "moment" else "episodic")


def vouches_more(one: Authority, other: Authority) -> bool:
    """Tell whether the first is right where the two disagree."""
    return AUTHORITIES.index(one) < AUTHORITIES.index(other)
