"""Digest: choose and arrange the lines of folded messages that make up a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Media, Message, Omitted, Thinking, ToolResult, visible_texts
from foldline.core.protect import is_snapshot
from foldline.core.salience.items import items
from foldline.core.salience.lines import Line, call_text, text_lines, unescaped
from foldline.core.salience.select import Candidate, candidates, select
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.excerpt import is_alarm
from foldline.strategies.facts import Finding, decisions, files, open_errors, plan
from foldline.strategies.snapshot import Entry, Section, entries, header, parse, render

ENTRY_TOKENS = 5.0
"""What a handle takes, in tokens."""

WEIGHT = {"user": 2.0, "assistant": 1.3, "result": 1.0}
BASE = {"user": 0.02, "assistant": 0.002, "result": 0.0}
ALARM = 1.3

DENSITY = 1.1
"""
How many more characters a token of the snapshot may hold than one of what it stands for. Chosen
lines are plainer than logs; a bound keeps the budget true under another tokenizer too.
"""

EXACT = True
USER_SHARE = 0.15
FACT_SHARE = 0.03
"""Fractions of the snapshot for the user's words and for each list of facts."""


@dataclass(slots=True)
class Material:
    """What there is to choose from: entries with all their lines, and what their lines cost."""

    entries: list[Entry] = field(default_factory=list)
    tokens_per_char: list[float] = field(default_factory=list)
    folded: int = 0
    tokens: int = 0
    characters: int = 0


def digest(view: View, need: Need, positions: Sequence[int], room: int) -> str:
    """
    Write the snapshot of some messages.

    Args:
        view: The view that holds them.
        need: Handles and target.
        positions: Which messages are folded, in order.
        room: The most that the snapshot may take, in tokens.

    Returns:
        The text of the snapshot.
    """
    material = gather(view, need, positions)
    head = header(material.folded, material.tokens)
    left = room - view.counter.text(head)
    staying = _items_beside(view, positions)
    told = _choose(view, material, left * USER_SHARE, shown=staying, only="user")
    facts = _facts(view, need, positions, left)
    sections = [_section("The user said", material, told, named=False), *facts]
    quoted = {item for section in facts[1:] for line in section.lines for item in items(line)}
    used = view.counter.text(render("", sections))
    chosen = _choose(view, material, (left - used) * 1.3, told, staying | quoted)
    return _fit(view, head, sections, material, chosen, room)


def _items_beside(view: View, positions: Sequence[int]) -> set[str]:
    """Return what the messages that stay mention: it need not be quoted again."""
    folded = set(positions)
    return {
        item
        for index, message in enumerate(view.messages)
        if index not in folded
        for text in visible_texts(message)
        for item in items(unescaped(text))
    }


def gather(view: View, need: Need, positions: Sequence[int]) -> Material:
    """Collect the lines of messages step by step, and those of earlier snapshots among them."""
    material = Material()
    leaders = {index: group.start for group in view.groups for index in group.members}
    entry_of: dict[int, int] = {}
    for position in positions:
        shown = view.messages[position]
        if is_snapshot(shown):
            folded, sections = parse(shown.text)
            material.folded += folded
            for section in sections:
                for entry in entries(section, len(material.entries)):
                    _add(material, entry, view.counts[position] / max(1, len(shown.text)))
            continue
        message = view.original(position)
        leader = leaders[position]
        if leader not in entry_of:
            entry_of[leader] = len(material.entries)
            _add(material, Entry(_handle(view, need, leader), entry_of[leader]), 0.25)
        tokens = view.counter.message(message)
        characters = sum(map(len, visible_texts(message)))
        material.tokens_per_char[entry_of[leader]] = _density(tokens, characters)
        _add_lines(material.entries[entry_of[leader]], message)
        material.folded += 1
        material.tokens += tokens
        material.characters += characters
    return material


def _handle(view: View, need: Need, position: int) -> str:
    number = view.messages[position].id
    return need.handles.get(number, number[:HANDLE_LENGTH])


def _density(tokens: int, characters: int) -> float:
    return min(1.5, max(0.15, tokens / max(1, characters)))


def _add(material: Material, entry: Entry, tokens_per_char: float) -> None:
    material.entries.append(entry)
    material.tokens_per_char.append(tokens_per_char)


def _add_lines(entry: Entry, message: Message) -> None:
    for part in message.parts:
        if isinstance(part, (Thinking, Omitted, Media)):
            continue
        who = "result" if isinstance(part, ToolResult) else message.role
        start = len(entry.lines)
        for number, (_, text) in enumerate(text_lines(call_text(part))):
            entry.lines.append((start + number, who, text))


def _choose(
    view: View,
    material: Material,
    budget: float,
    taken: Iterable[Candidate] = (),
    shown: Iterable[str] = (),
    only: str = "",
) -> list[Candidate]:
    gone = {(candidate.line.message, candidate.line.number) for candidate in taken}
    found = [
        Line(order, 0, number, text)
        for order, entry in enumerate(material.entries)
        for number, who, text in entry.lines
        if (not only or who == only) and (order, number) not in gone
    ]
    covered = {item for candidate in taken for item in candidate.items} | set(shown)
    offered = candidates(found, view.values, _cost(material), _weight(material))
    return select(
        offered,
        view.values,
        budget,
        covered,
        opening=lambda _: ENTRY_TOKENS,
        exact=view.counter.texts.count if EXACT else None,
    )


def _cost(material: Material) -> Callable[[Line], float]:
    return lambda line: len(line.text) * material.tokens_per_char[line.message]


def _weight(material: Material) -> Callable[[Line], tuple[float, float]]:
    def weight(line: Line) -> tuple[float, float]:
        who = material.entries[line.message].lines[line.number][1]
        loud = who == "result" and is_alarm(line.text)
        return WEIGHT.get(who, 1.0) * (ALARM if loud else 1.0), BASE.get(who, 0.0)

    return weight


def _section(
    title: str, material: Material, chosen: Iterable[Candidate], *, named: bool = True
) -> Section:
    grouped: dict[int, Entry] = {}
    for candidate in chosen:
        order = candidate.line.message
        source = material.entries[order]
        entry = grouped.setdefault(order, Entry(source.handle, order))
        entry.lines.append(source.lines[candidate.line.number])
    return Section(title, tuple(grouped[order].text(named=named) for order in sorted(grouped)))


def _facts(view: View, need: Need, positions: Sequence[int], left: float) -> list[Section]:
    folded = [view.original(position) for position in positions]
    names = [_handle(view, need, position) for position in positions]
    steps = plan(folded)
    touched = [f"{names[f.position]} {f.path} ({f.operation})" for f in files(folded)]
    found = (
        ("Files", touched),
        ("Plan", _quoted([steps] if steps else [], names)),
        ("Open errors", _quoted(open_errors(folded), names)),
        ("Decisions", _quoted(decisions(folded), names)),
    )
    sections = []
    for title, lines in found:
        room, kept = left * FACT_SHARE, []
        for line in lines:
            room -= view.counter.text(line) + 1
            if room < 0:
                break
            kept.append(line)
        sections.append(Section(title, tuple(kept)))
    return sections


def _quoted(findings: Iterable[Finding], names: Sequence[str]) -> list[str]:
    return [f"{names[finding.position]} " + "\n ".join(finding.lines) for finding in findings]


def _fit(
    view: View,
    head: str,
    sections: Sequence[Section],
    material: Material,
    chosen: list[Candidate],
    room: int,
) -> str:
    """Leave out the least valuable lines until the snapshot takes no more than its room."""
    low, high, text = 0, len(chosen), render(head, sections)
    longest = room * DENSITY * material.characters / max(1, material.tokens)
    if view.counter.text(text) > room:
        return head
    for _ in range(12):
        if low >= high:
            break
        middle = (low + high + 1) // 2
        longer = render(head, [*sections, _section("What happened", material, chosen[:middle])])
        if len(longer) <= longest and view.counter.text(longer) <= room:
            low, text = middle, longer
        else:
            high = middle - 1
    return text
