"""
Digest: choose, in one go, the lines that stand in a snapshot and those that stay of long parts.

The folded messages and the long parts of the messages that stay compete for the same tokens, so
that a line is kept wherever it is worth the most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from foldline.core.edits import Rewrite
from foldline.core.salience.items import items
from foldline.core.salience.lines import Line, call_text
from foldline.core.salience.select import Candidate, candidates, select
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.excerpt import is_alarm
from foldline.strategies.facts import Finding, decisions, files, open_errors, plan
from foldline.strategies.focus import BASE as FOCUS_BASE
from foldline.strategies.focus import WEIGHT as FOCUS_WEIGHT
from foldline.strategies.focus import Focus
from foldline.strategies.material import Material, gather, handle_at
from foldline.strategies.snapshot import NARRATIVE, Entry, Section, header, render
from foldline.strategies.truncate import Site, leading

ENTRY_TOKENS = 5.0
"""What a handle takes, in tokens."""

WEIGHT = {"account": 2.0, "user": 2.0, "assistant": 1.3, "result": 1.0}
BASE = {"account": 0.05, "user": 0.02, "assistant": 0.002, "result": 0.0}
ALARM, ALARM_BASE = 1.3, 0.005
"""How much more a line is worth by who speaks, and when it speaks of something going wrong."""

OPENING_LINES, OPENING = 3, 0.1
"""The first lines of a part that stays say what it is; this is added to their value."""

TASK_OPENING = 10.0
"""The same for what a user said: what is asked for stands there, so it comes before all else."""

PASSES = 3
"""How often lines are chosen while there is room left."""

SPARE = 1.3
"""How much more is chosen than there is room for, to have something to leave out."""

USER_SHARE = 0.10
FACT_SHARE = 0.02
"""Fractions of the room for the user's words and for each list of facts."""


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
    head = header(material.folded, material.tokens) if positions else ""
    account = Section(NARRATIVE, tuple(narrative.split("\n")) if narrative else ())
    left = room.tokens - view.counter.text(head + account.text())
    beside = _items_beside(view, positions, sites) | items(narrative).keys()
    facts, listed = _facts(view, need, positions, left, material) if positions else ([], set())
    offered = _offered(view, material, Focus.of(need.focus))
    offered = [candidate for candidate in offered if candidate.line.message not in listed]
    spoken = [candidate for candidate in offered if _who(material, candidate.line) == "user"]
    told = _choose(view, spoken, left * USER_SHARE, beside)
    frame = Frame(head, (account, _section("The user said", material, told, named=False), *facts))
    quoted = {item for section in facts[1:] for line in section.lines for item in items(line)}
    used = view.counter.text(render("", frame.sections))
    taken = {id(candidate) for candidate in told}
    rest = [candidate for candidate in offered if id(candidate) not in taken]
    shown = beside | quoted | {item for candidate in told for item in candidate.items}
    chosen = _choose(view, rest, (left - used) * SPARE, shown)
    told_here = [candidate for candidate in told if candidate.line.message in material.sites]
    return _fit(view, frame, material, [*told_here, *chosen], room)


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
            opening=lambda _: ENTRY_TOKENS,
            exact=view.counter.texts.count,
        )
        # What is left over goes to lines that say more about the same things.
        taken = {id(candidate) for candidate in chosen}
        left = [candidate for candidate in left if id(candidate) not in taken]
        covered = set()
    return chosen


def _offered(view: View, material: Material, focus: Focus) -> list[Candidate]:
    found = [
        Line(order, 0, number, text)
        for order, entry in enumerate(material.entries)
        for number, _, text in entry.lines
    ]
    return candidates(found, view.values, _cost(material), _weight(material, focus))


def _cost(material: Material) -> Callable[[Line], float]:
    return lambda line: len(line.text) * material.tokens_per_char[line.message]


def _who(material: Material, line: Line) -> str:
    return material.entries[line.message].lines[line.number][1]


def _weight(material: Material, focus: Focus) -> Callable[[Line], tuple[float, float]]:
    focused = bool(focus)

    def weight(line: Line) -> tuple[float, float]:
        who = _who(material, line)
        opening = _opening(material, line)
        loud = who == "result" and is_alarm(line.text)
        base = BASE.get(who, 0.0) + opening + (ALARM_BASE if loud else 0.0)
        factor = WEIGHT.get(who, 1.0) * (ALARM if loud else 1.0)
        meant = focus.match(line.text) if focused else 0.0
        return factor * (1 + FOCUS_WEIGHT * meant), base + FOCUS_BASE * meant

    return weight


def _opening(material: Material, line: Line) -> float:
    """Return what is added to the value of a line for standing at the beginning of a part."""
    site = material.sites.get(line.message)
    if site is None or line.number >= OPENING_LINES:
        return 0.0
    return TASK_OPENING if site.rank == "task" else OPENING


def _section(
    title: str, material: Material, chosen: Iterable[Candidate], *, named: bool = True
) -> Section:
    grouped: dict[int, Entry] = {}
    for candidate in chosen:
        order = candidate.line.message
        if order in material.sites:
            continue
        source = material.entries[order]
        entry = grouped.setdefault(order, Entry(source.handle, order))
        entry.lines.append(source.lines[candidate.line.number])
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
        ("Decisions", _quoted(decisions(folded), names)),
    )
    sections, listed = [], set[int]()
    for title, fresh in found:
        earlier = {order: material.entries[order].text() for order in _earlier(material, title)}
        held = {o: text for o, text in earlier.items() if not _is_superseded(title, text, fresh)}
        room, kept = left * FACT_SHARE, list[str]()
        for line in dict.fromkeys((*fresh, *held.values())):
            room -= view.counter.text(line) + 1
            if room < 0:
                break
            kept.append(line)
        sections.append(Section(title, tuple(kept)))
        listed |= {o for o, text in earlier.items() if o not in held or text in kept}
    return sections, listed


def _earlier(material: Material, title: str) -> list[int]:
    return [order for order, listed_under in material.facts.items() if listed_under == title]


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
    if not _fits(view, best, room):
        return _composed(view, Frame(frame.head, ()), material, [])
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high + 1) // 2
        longer = _composed(view, frame, material, chosen[:middle])
        if _fits(view, longer, room):
            low, best = middle, longer
        else:
            high = middle - 1
    return best


def _fits(view: View, made: Digest, room: Room) -> bool:
    texts = (made.text, *(edit.text or "" for edit in made.excerpts))
    if sum(map(len, texts)) > room.characters:
        return False
    return sum(map(view.counter.text, texts)) <= room.tokens


def _composed(view: View, frame: Frame, material: Material, chosen: Sequence[Candidate]) -> Digest:
    happened = [c for c in chosen if c.line.message not in material.sites]
    staying: dict[int, list[tuple[int, str]]] = {order: [] for order in material.sites}
    for candidate in chosen:
        if candidate.line.message in staying:
            staying[candidate.line.message].append((candidate.line.number, candidate.line.text))
    sections = (*frame.sections, _section("What happened", material, happened))
    excerpts = tuple(
        _excerpt(view, material.entries[order].handle, material.sites[order], lines)
        for order, lines in staying.items()
    )
    return Digest(render(frame.head, sections), excerpts)


def _excerpt(view: View, handle: str, site: Site, lines: list[tuple[int, str]]) -> Rewrite:
    message = view.messages[site.index]
    note = f"[{site.tokens:,} tokens, shortened to these lines; recall {handle}]"
    lead = leading(message, site.part)
    kept = (line for _, line in sorted(set(lines)) if line != lead.rstrip())
    text = lead + "\n".join((note, *kept))
    return Rewrite(message.id, site.part, text, "truncate", handle, keep_media=True)
