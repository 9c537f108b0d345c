"""
Digest: choose, in one go, the lines that stand in a snapshot and those that stay of long parts.

The folded messages and the long parts of the messages that stay compete for the same tokens, so
that a line is kept wherever it is worth the most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from operator import attrgetter

from foldline.core.edits import Rewrite
from foldline.core.names import items
from foldline.core.part_text import call_text
from foldline.core.salience.select import Candidate, candidates, select
from foldline.core.snapshot_mark import sealed
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.facts import Finding, decisions, files, open_errors, plan
from foldline.strategies.lasting import lasting
from foldline.strategies.material import Material, gather, handle_at
from foldline.strategies.offering import Offering
from foldline.strategies.snapshot import (
    NARRATIVE,
    Entry,
    Section,
    header,
    render,
    snapshot_id,
)
from foldline.strategies.truncate import Site, leading

ENTRY_TOKENS = 5.0
"""What a handle takes, in tokens."""

PASSES = 3
"""How often lines are chosen while there is room left."""

SPARE = 1.3
"""How much more is chosen than there is room for, to have something to leave out."""

FITTINGS = 10
"""How often a digest is put together to come close to its room."""

DECISIONS = 24
"""The newest decisions among which those are chosen that are listed."""

USER_SHARE = 0.10
"""Fraction of the room for the user's words."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The text of a snapshot, and the excerpts of parts that stay."""

    text: str
    excerpts: tuple[Rewrite, ...]


@dataclass(frozen=True, slots=True)
class Room:
    """The most that snapshot and excerpts may take together, in tokens and in characters."""

    tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class Frame:
    """What a snapshot says besides the chosen lines."""

    head: str
    sections: tuple[Section, ...]


def digest(
    view: View,
    need: Need,
    positions: Sequence[int],
    sites: Sequence[Site],
    room: Room,
    narrative: str = "",
) -> Digest:
    """
    Write the snapshot of some messages, and shorten the long parts of others.

    Args:
        view: The view that holds them.
        need: Handles and target.
        positions: Which messages are folded, in order.
        sites: Which parts of other messages are shortened.
        room: What snapshot and excerpts may take.
        narrative: What a model told of it; only what it does not mention is quoted.
    """
    material = gather(view, need, positions, sites)
    head = _head(view, material, positions) if positions else ""
    account = Section(NARRATIVE, tuple(narrative.split("\n")) if narrative else ())
    left = room.tokens - view.counter.text(head + account.text())
    beside = _items_beside(view, positions, sites) | items(narrative).keys()
    facts, listed = _facts(view, need, positions, left, material) if positions else ([], set())
    offered = Offering.of(view, need, material, listed, left)
    spoken = candidates(offered.by_user(), view.values)
    told = _choose(view, spoken, left * USER_SHARE, beside)
    frame = Frame(head, (account, _section("The user said", material, told, named=False), *facts))
    quoted = {item for section in facts[1:] for line in section.lines for item in items(line)}
    used = view.counter.text(render("", frame.sections))
    taken = {id(candidate) for candidate in told}
    shown = beside | quoted | {item for candidate in told for item in candidate.items}
    more = (left - used) * SPARE
    rest = candidates(offered.by_others(), view.values, more)
    rest += [candidate for candidate in spoken if id(candidate) not in taken]
    chosen = _choose(view, rest, more, shown)
    told_here = [candidate for candidate in told if candidate.group in material.sites]
    return _fit(view, frame, material, [*told_here, *chosen], room)


def _head(view: View, material: Material, positions: Sequence[int]) -> str:
    number = snapshot_id(view.messages[position].id for position in positions)
    return header(material.folded, material.tokens, number)


def _items_beside(view: View, positions: Sequence[int], sites: Iterable[Site]) -> set[str]:
    """Return what the messages that stay mention: it need not be quoted again."""
    folded = set(positions)
    cut = {(site.index, site.part) for site in sites}
    return {
        item
        for index, message in enumerate(view.messages)
        if index not in folded
        for position, part in enumerate(message.parts)
        if (index, position) not in cut
        for item in items(call_text(part))
    }


def _choose(
    view: View, offered: Sequence[Candidate], budget: float, shown: Iterable[str]
) -> list[Candidate]:
    covered = set(shown)
    left = list(offered)
    chosen: list[Candidate] = []
    for _ in range(PASSES):
        spent = sum(candidate.cost for candidate in chosen)
        if spent > 0.95 * budget:
            break
        chosen += select(
            left,
            view.values,
            budget - spent,
            covered,
            opening=ENTRY_TOKENS,
            exact=view.counter.texts.count,
        )
        # What is left over goes to lines that say more about the same things.
        taken = {candidate.place[:2] for candidate in chosen}
        left = [candidate for candidate in left if candidate.place[:2] not in taken]
        covered = set()
    return chosen


def _section(
    title: str, material: Material, chosen: Iterable[Candidate], *, named: bool = True
) -> Section:
    grouped: dict[int, Entry] = {}
    row: object = None
    for candidate in sorted(chosen, key=attrgetter("place")):
        order = candidate.group
        if order in material.sites:
            continue
        entry = grouped.get(order)
        if entry is None:
            entry = grouped[order] = Entry(material.entries[order].handle, order)
        who = material.passages[candidate.passage].who
        if candidate.parts and candidate.row == row:
            entry.extend(candidate.text)
        else:
            entry.lines.append((len(entry.lines), who, candidate.text))
        row = candidate.row if candidate.parts else None
    return Section(title, tuple(grouped[order].text(named=named) for order in sorted(grouped)))


def _facts(
    view: View, need: Need, positions: Sequence[int], left: float, material: Material
) -> tuple[list[Section], set[int]]:
    """Return the lists of facts, and the entries of an earlier snapshot that they take up."""
    folded = [view.original(position) for position in positions]
    names = [handle_at(view, need, position) for position in positions]
    steps = plan(folded)
    touched = [f"{names[f.position]} {f.path} ({f.operation})" for f in files(folded)]
    found = (
        ("Files", touched),
        ("Plan", _quoted([steps] if steps else [], names)),
        ("Open errors", _quoted(open_errors(folded), names)),
        ("Decisions", _quoted(decisions(folded, DECISIONS), names)),
    )
    sections, listed = [], set[int]()
    for title, fresh in found:
        earlier = {o: fact.text for o, fact in material.facts.items() if fact.title == title}
        held = {o: text for o, text in earlier.items() if not _is_superseded(title, text, fresh)}
        kept = lasting(title, fresh, held, left, view.counter.text)
        sections.append(Section(title, tuple(kept)))
        listed |= {o for o, text in earlier.items() if o not in held or text in kept}
    return sections, listed


def _is_superseded(title: str, line: str, fresh: Sequence[str]) -> bool:
    """Tell whether newer facts replace one of an earlier snapshot: a plan, or the same file."""
    if title == "Files":
        return _path(line) in map(_path, fresh)
    return title == "Plan" and bool(fresh)


def _path(line: str) -> str:
    """Return the path of a file that is listed, without its handle and what was done to it."""
    return line.partition(" ")[2].rpartition(" (")[0]


def _quoted(findings: Iterable[Finding], names: Sequence[str]) -> list[str]:
    return [f"{names[finding.position]} " + "\n ".join(finding.lines) for finding in findings]


def _fit(
    view: View, frame: Frame, material: Material, chosen: list[Candidate], room: Room
) -> Digest:
    """Leave out the least valuable lines until snapshot and excerpts fit into the room."""
    best = _composed(view, frame, material, [])
    left = room.tokens - _size(view, best, room)
    if left < 0:
        return _composed(view, Frame(frame.head, ()), material, [])
    costs = [0.0, *accumulate(candidate.cost for candidate in chosen)]
    low, count, high = 0, 0, len(costs)
    for _ in range(FITTINGS):
        # The costs of single lines are nearly what they take together: a guess or two is enough.
        guess = bisect_right(costs, costs[count] + left) - 1
        count = min(max(guess, low + 1), high - 1)
        if count <= low:
            break
        longer = _composed(view, frame, material, chosen[:count])
        left = room.tokens - _size(view, longer, room)
        if left >= 0:
            low, best = count, longer
        else:
            high = count
    return best


def _size(view: View, made: Digest, room: Room) -> int:
    """Count snapshot and excerpts in tokens, at their share of the characters if that is more."""
    texts = (made.text, *(edit.text or "" for edit in made.excerpts))
    share = sum(map(len, texts)) / max(1, room.characters)
    return max(sum(map(view.counter.text, texts)), ceil(share * room.tokens))


def _composed(view: View, frame: Frame, material: Material, chosen: Sequence[Candidate]) -> Digest:
    happened = [c for c in chosen if c.group not in material.sites]
    staying: dict[int, list[str]] = {order: [] for order in material.sites}
    for candidate in sorted(chosen, key=attrgetter("place")):
        if candidate.group in staying:
            staying[candidate.group].append(candidate.text)
    sections = (*frame.sections, _section("What happened", material, happened))
    excerpts = tuple(
        _excerpt(view, material.entries[order].handle, material.sites[order], lines)
        for order, lines in staying.items()
    )
    return Digest(render(frame.head, sections), excerpts)


def _excerpt(view: View, handle: str, site: Site, lines: Sequence[str]) -> Rewrite:
    message = view.messages[site.index]
    note = f"[{site.tokens:,} tokens, shortened to these lines; recall {handle}]"
    lead = leading(message, site.part)
    kept = (line for line in lines if line != lead.rstrip())
    text = lead + "\n".join((note, *kept))
    text = sealed(text) if lead else text
    return Rewrite(message.id, site.part, text, "truncate", handle, keep_media=True)
