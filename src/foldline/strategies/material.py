"""Material: the lines of a conversation that a digest chooses from, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from foldline.core.handles import part_handle
from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Media, Message, Omitted, Thinking, ToolResult, visible_texts
from foldline.core.protect import is_snapshot
from foldline.core.salience.lines import call_text, text_lines
from foldline.core.strategy import Need
from foldline.core.view import View
from foldline.strategies.snapshot import LASTING, NARRATIVE, Entry, Section, entries, parse
from foldline.strategies.truncate import Site


@dataclass(slots=True)
class Material:
    """
    What there is to choose from.

    ``entries`` hold the lines, ``tokens_per_char`` what they cost. ``sites`` tells by entry which
    part of a staying message its lines are an excerpt of; the others go to the snapshot, which
    stands for ``folded`` messages of ``tokens`` tokens. ``facts`` tells by entry under which title
    an earlier snapshot listed it.
    """

    entries: list[Entry] = field(default_factory=list)
    tokens_per_char: list[float] = field(default_factory=list)
    sites: dict[int, Site] = field(default_factory=dict)
    facts: dict[int, str] = field(default_factory=dict)
    folded: int = 0
    tokens: int = 0


def gather(view: View, need: Need, positions: Sequence[int], sites: Iterable[Site]) -> Material:
    """
    Collect lines.

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
        material.sites[entry.order] = site
        text = call_text(message.parts[site.part])
        _add(material, entry, _density(site.tokens, len(text)))
        _add_lines(entry, Message(message.role, (message.parts[site.part],)))
    leaders = {index: group.start for group in view.groups for index in group.members}
    entry_of: dict[int, int] = {}
    for position in positions:
        shown = view.messages[position]
        if is_snapshot(shown):
            folded, tokens, sections = parse(shown.text)
            material.folded += folded
            material.tokens += tokens
            for section in sections:
                if section.title == NARRATIVE:
                    _add_narrative(material, section, handle_at(view, need, position))
                    continue
                for entry in entries(section, len(material.entries)):
                    if section.title in LASTING:
                        material.facts[entry.order] = section.title
                    _add(material, entry, view.counts[position] / max(1, len(shown.text)))
            continue
        message = view.original(position)
        leader = leaders[position]
        if leader not in entry_of:
            entry_of[leader] = len(material.entries)
            _add(material, Entry(handle_at(view, need, leader), entry_of[leader]), 0.25)
        tokens = view.counter.message(message)
        characters = sum(map(len, visible_texts(message)))
        material.tokens_per_char[entry_of[leader]] = _density(tokens, characters)
        _add_lines(material.entries[entry_of[leader]], message)
        material.folded += 1
        material.tokens += tokens
    return material


def _add_narrative(material: Material, section: Section, handle: str) -> None:
    entry = Entry(handle, len(material.entries))
    entry.lines = [(number, "account", line) for number, line in enumerate(section.lines)]
    _add(material, entry, 0.25)


def handle_at(view: View, need: Need, position: int) -> str:
    """Return the handle of the message at a position."""
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
