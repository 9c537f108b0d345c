"""Material: the lines of a conversation that a digest chooses from, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from foldline.core.frames import user_words
from foldline.core.handles import part_handle
from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import (
    Media,
    Message,
    Omitted,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foldline.core.protect import is_snapshot
from foldline.core.salience.lines import call_text, is_numbered, text_lines
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.snapshot import LASTING, NARRATIVE, Entry, entries, parse
from foldline.strategies.truncate import Site


@dataclass(frozen=True, slots=True)
class Passage:
    """
    What one speaker said in one step: the part that lines are chosen from.

    ``entry`` is the step, ``who`` speaks: "user", "assistant", "result" or "account".
    ``tokens_per_char`` is what the lines cost.
    """

    entry: int
    who: str
    part: Part
    tokens_per_char: float

    def lines(self) -> list[str]:
        """Cut it into lines."""
        return text_lines(call_text(self.part))

    def is_numbered(self) -> bool:
        """Tell whether its lines have lost the numbers that a reader gave them."""
        return isinstance(self.part, ToolResult) and is_numbered(self.part.text)


@dataclass(frozen=True, slots=True)
class Fact:
    """What an earlier snapshot listed under a title, handle included."""

    title: str
    text: str


@dataclass(slots=True)
class Material:
    """
    What there is to choose from.

    The lines of ``passages`` go to ``entries``. ``sites`` tells by entry which part of a staying
    message its lines are an excerpt of; the others go to the snapshot, which stands for
    ``folded`` messages of ``tokens`` tokens. ``facts`` are, by entry, what an earlier snapshot
    listed.
    """

    entries: list[Entry] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    sites: dict[int, Site] = field(default_factory=dict)
    facts: dict[int, Fact] = field(default_factory=dict)
    folded: int = 0
    tokens: int = 0

    @property
    def total(self) -> int:
        """What all of it takes, in tokens; at least 1."""
        return max(1, self.tokens + sum(site.tokens for site in self.sites.values()))


def gather(view: View, need: Need, positions: Sequence[int], sites: Iterable[Site]) -> Material:
    """
    Collect what lines are chosen from.

    Args:
        view: The view that holds the messages.
        need: Handles.
        positions: The messages that are folded; earlier snapshots among them are taken apart.
        sites: The parts of staying messages that are shortened to some of their lines.
    """
    material = Material()
    for site in sites:
        message = view.messages[site.index]
        handle = part_handle(handle_at(view, need, site.index), message, site.part)
        entry = Entry(handle, len(material.entries))
        material.entries.append(entry)
        material.sites[entry.order] = site
        _add_parts(material, view, entry.order, Message(message.role, (message.parts[site.part],)))
    leaders = {index: group.start for group in view.groups for index in group.members}
    entry_of: dict[int, int] = {}
    for position in positions:
        if is_snapshot(view.messages[position]):
            _add_snapshot(material, view, need, position)
            continue
        message = view.original(position)
        leader = leaders[position]
        if leader not in entry_of:
            entry_of[leader] = len(material.entries)
            material.entries.append(Entry(handle_at(view, need, leader), entry_of[leader]))
        _add_parts(material, view, entry_of[leader], message)
        material.folded += 1
        material.tokens += view.counter.message(message)
    return material


def _add_snapshot(material: Material, view: View, need: Need, position: int) -> None:
    """Take an earlier snapshot apart: its lines keep the handles that they stood behind."""
    shown = view.messages[position]
    folded, tokens, sections = parse(shown.text)
    material.folded += folded
    material.tokens += tokens
    density = _density(view.counts[position], len(shown.text))
    for section in sections:
        order = len(material.entries)
        if section.title == NARRATIVE:
            material.entries.append(Entry(handle_at(view, need, position), order))
            account = Text("\n".join(section.lines))
            material.passages.append(Passage(order, "account", account, density))
            continue
        for entry in entries(section, order):
            if section.title in LASTING:
                material.facts[entry.order] = Fact(section.title, entry.text())
            material.entries.append(Entry(entry.handle, entry.order))
            for _, who, line in entry.lines:
                material.passages.append(Passage(entry.order, who, Text(line), density))


def handle_at(view: View, need: Need, position: int) -> str:
    """Return the handle of the message at a position."""
    number = view.messages[position].id
    return need.handles.get(number, number[:HANDLE_LENGTH])


def _density(tokens: int, characters: int) -> float:
    return min(1.5, max(0.15, tokens / max(1, characters)))


def _add_parts(material: Material, view: View, order: int, message: Message) -> None:
    for part in message.parts:
        if isinstance(part, (Thinking, Omitted, Media)):
            continue
        who = "result" if isinstance(part, ToolResult) else message.role
        if who == "user" and not user_words(replace(message, parts=(part,))):
            who = "system"  # an agent speaks in the user's name
        text = part.arguments if isinstance(part, ToolCall) else part.text
        density = _density(view.counter.text(text), len(text))
        material.passages.append(Passage(order, who, part, density))
