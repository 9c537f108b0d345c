"""Parts in place of others: call ids that have to be unique, results in the order of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foldline.values.edits import Edit, Fold
from foldline.values.groups import Pairing, Site
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Part, ToolCall, ToolResult
from foldline.values.provider_rules import BY_TURN, ONE_ANSWER


def part_at(messages: Sequence[Message], site: Site) -> ToolCall:
    """Return the call that stands at a site."""
    call = messages[site.message].parts[site.part]
    assert isinstance(call, ToolCall)  # noqa: S101  # callers have the site from pair()
    return call


def renumber(messages: Sequence[Message], dialect: str, pairing: Pairing) -> list[Edit]:
    """
    Propose other ids for calls whose id occurred before, and the same for their results.

    Where a provider only tells calls apart while they wait for their results, an id may occur
    again after that.

    Args:
        messages: Messages with ids, every result behind its call.
        dialect: Whose rules count.
        pairing: What `pair` found in the messages.
    """
    if dialect in ONE_ANSWER:
        return []
    repeated = _find_repeated(messages, pairing, everywhere=dialect in BY_TURN)
    if not repeated:
        return []
    changed: dict[int, dict[int, Part]] = {}
    for site, number in repeated.items():
        call = part_at(messages, site)
        changed.setdefault(site.message, {})[site.part] = replace(call, id=number)
        answer = pairing.answers.get(site)
        if answer is not None:
            result = messages[answer.message].parts[answer.part]
            if isinstance(result, ToolResult):
                other = replace(result, call_id=number)
                changed.setdefault(answer.message, {})[answer.part] = other
    return [_instead(messages[index], changed[index]) for index in sorted(changed)]


def _instead(message: Message, changed: dict[int, Part]) -> Fold:
    parts = tuple(changed.get(index, part) for index, part in enumerate(message.parts))
    other = replace(message.with_parts(parts), id=derived_id("renumbered", message.id))
    return Fold((message.id,), other, "repair")


def reorder(messages: Sequence[Message], pairing: Pairing) -> list[Edit]:
    """
    Propose to put the results that share a message in the order of their calls.

    Args:
        messages: Messages with ids, every result behind its call.
        pairing: What `pair` found in the messages.
    """
    calls: dict[int, list[tuple[Site, Site]]] = {}
    for call, result in pairing.answers.items():
        calls.setdefault(result.message, []).append((call, result))
    changed: dict[int, dict[int, Part]] = {}
    for index, answers in calls.items():
        wanted = [result.part for _, result in sorted(answers, key=lambda a: _place(a[0]))]
        places = sorted(wanted)
        if wanted != places:
            parts = messages[index].parts
            found = zip(places, wanted, strict=True)
            changed[index] = {place: parts[part] for place, part in found if place != part}
    return [_instead(messages[index], changed[index]) for index in sorted(changed)]


def _place(site: Site) -> tuple[int, int]:
    return site.message, site.part


def _find_repeated(
    messages: Sequence[Message], pairing: Pairing, *, everywhere: bool
) -> dict[Site, str]:
    """Return a new id for each call whose id is taken when it is made."""
    taken: dict[str, Site | None] = {}
    found: dict[Site, str] = {}
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if not isinstance(part, ToolCall) or not part.id:
                continue
            site = Site(index, position)
            if part.id in taken and (everywhere or _waits(taken[part.id], index)):
                found[site] = _free(part.id, messages[index].id, position, taken)
            number = found.get(site, part.id)
            taken[number] = pairing.answers.get(site)
    return found


def _waits(answer: Site | None, index: int) -> bool:
    """Tell whether a call whose result is ``answer`` is not answered before a position."""
    return answer is None or answer.message > index


def _free(number: str, message: str, position: int, taken: dict[str, Site | None]) -> str:
    """Return an id that nobody has; the same for the same message in every process."""
    free = f"{number[:40]}_{message[:8]}_{position}"
    while free in taken:
        free += "_"
    return free
