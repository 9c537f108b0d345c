"""Parts in place of others: call ids that have to be unique, results in the order of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from foldline.repair.untangle import DamagedHistory
from foldline.values.edits import Edit, Fold
from foldline.values.groups import Site
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Part, ToolCall, ToolResult
from foldline.values.provider_rules import BY_TURN, ONE_ANSWER


def part_at(messages: Sequence[Message], site: Site) -> ToolCall:
    """Return the call that stands at a site."""
    call = messages[site.message].parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # callers have the site from pair()
    return call


def renumber(shown: DamagedHistory) -> list[Edit]:
    """
    Propose other ids for calls whose id occurred before, and the same for their results.

    Where a provider only tells calls apart while they wait for their results, an id may occur
    again after that.

    Args:
        shown: The conversation; every result stands behind its call.
    """
    if shown.dialect in ONE_ANSWER:
        return []
    messages = shown.messages
    changed: dict[Site, Part] = {}
    for site, number in _find_repeated(shown).items():
        changed[site] = replace(part_at(messages, site), id=number)
        answer = shown.pairing.answers.get(site)
        if answer is not None:
            result = messages[answer.message].parts[answer.part]
            if isinstance(result, ToolResult):
                changed[answer] = replace(result, call_id=number)
    return _show_instead(messages, changed)


def reorder(shown: DamagedHistory) -> list[Edit]:
    """
    Propose to put the results of a turn in the order of its calls, as Gemini tells them by that.

    Args:
        shown: The conversation; every result stands behind its call.
    """
    if shown.dialect not in ONE_ANSWER:
        return []
    wanted: dict[int, list[int]] = {}
    for _, result in sorted(shown.pairing.answers.items()):
        wanted.setdefault(result.message, []).append(result.part)
    changed = {
        Site(index, place): shown.messages[index].parts[part]
        for index, parts in wanted.items()
        for place, part in zip(sorted(parts), parts, strict=True)
        if place != part
    }
    return _show_instead(shown.messages, changed)


def _show_instead(messages: Sequence[Message], changed: Mapping[Site, Part]) -> list[Edit]:
    """Show each message with changed parts in place of what it was."""
    edits: list[Edit] = []
    for index in sorted({site.message for site in changed}):
        message = messages[index]
        sites = (Site(index, place) for place in range(len(message.parts)))
        parts = tuple(map(changed.get, sites, message.parts))
        other = replace(message.with_parts(parts), id=derived_id("renumbered", message.id))
        edits.append(Fold((message.id,), other, "repair"))
    return edits


def _find_repeated(shown: DamagedHistory) -> dict[Site, str]:
    """Return a new id for each call whose id is taken when it is made."""
    everywhere = shown.dialect in BY_TURN
    taken: dict[str, Site | None] = {}
    found: dict[Site, str] = {}
    for index, message in enumerate(shown.messages):
        for position, part in enumerate(message.parts):
            if not isinstance(part, ToolCall) or not part.id:
                continue
            site, number = Site(index, position), part.id
            if number in taken and (everywhere or _waits(taken[number], index)):
                number = found[site] = _free(number, message.id, position, taken)
            taken[number] = shown.pairing.answers.get(site)
    return found


def _waits(answer: Site | None, index: int) -> bool:
    """Tell whether a call whose result is ``answer`` is not answered before a position."""
    return answer is None or answer.message > index


def _free(number: str, message: str, position: int, taken: Mapping[str, Site | None]) -> str:
    """Return an id that nobody has; the same for the same message in every process."""
    free = f"{number[:40]}_{message[:8]}_{position}"
    while free in taken:
        free += "_"
    return free
