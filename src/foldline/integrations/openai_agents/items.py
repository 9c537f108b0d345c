"""Items on their way through a run: which of them a session has, and which are new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, Final

from foldline.errors import InputError
from foldline.formats.openai_responses.read import KINDS, OUTPUTS
from foldline.frozen import frozen

NOTES: Final = frozenset({"created_by", "_agents_tool_description", "_agents_tool_title"})
"""What the SDK writes on items for itself, and leaves out when it sends them."""


NEAR: Final = 64
"""How far apart items may stand that a run and its session have in another order."""


@frozen
class RunStart:
    """
    The items with which a run may have begun.

    ``items`` is what the session gave it, ``at`` how many items the session had then. ``whole``
    says that they were all of them, and not only the newest.
    """

    items: tuple[Any, ...]
    at: int
    whole: bool = True


@frozen
class RunInput:
    """
    The input of a run, compared with its session.

    ``new`` are the items that the session does not have yet, ``dead`` the ids of calls that the
    run left out because nothing answered them.
    """

    new: tuple[Any, ...]
    dead: frozenset[str] = frozenset()


def to_json(item: Any) -> Any:
    """
    Return an item as a JSON value.

    Raises:
        InputError: It is neither a dict nor a model of the SDK.
    """
    if isinstance(item, dict):
        return item
    dump = getattr(item, "model_dump", None)
    if dump is None:
        raise InputError(f"an item is an object, not {type(item).__name__}")
    return dump(exclude_unset=True, mode="json")


def without_notes(item: Any) -> Any:
    """Return an item without the notes of the SDK; the item itself if it has none."""
    if not isinstance(item, dict) or NOTES.isdisjoint(item):
        return item
    return {key: value for key, value in item.items() if key not in NOTES}


def is_same_item(left: Any, right: Any) -> bool:
    """Return True if two items are one: notes, and the id of reasoning, may come and go."""
    return left is right or left == right or _comparable(left) == _comparable(right)


def _comparable(item: Any) -> Any:
    item = without_notes(item)
    if isinstance(item, dict) and item.get("type") == "reasoning" and "id" in item:
        return {key: value for key, value in item.items() if key != "id"}
    return item


def align(items: Sequence[Any], start: RunStart, since: Sequence[Any]) -> RunInput | None:
    """
    Find out how the input of a run goes on from the items with which it began.

    Args:
        items: The input.
        start: What the run may have begun with.
        since: What the session was given since, in about the same order.

    Returns:
        None if the run did not begin with it, or has changed what it began with or was given.
    """
    begun = _match_start(items, start.items)
    if begun is None:
        return None
    length, dead = begun
    waiting = list(since)
    new = []
    for item in items[length:]:
        near = enumerate(islice(waiting, NEAR))
        at = next((i for i, known in near if is_same_item(known, item)), None)
        if at is None:
            new.append(item)
        else:
            del waiting[at]
    return None if waiting else RunInput(tuple(new), dead)


def _match_start(items: Sequence[Any], start: Sequence[Any]) -> tuple[int, frozenset[str]] | None:
    """Return how many items of the input are from the start, and which calls are left out."""
    position, dead, left_out = 0, set(), False
    for item in start:
        if position < len(items) and is_same_item(item, items[position]):
            position, left_out = position + 1, False
        elif not _may_be_left_out(item):
            return None
        else:
            left_out = item.get("type") == "reasoning"
            dead |= {item["call_id"]} if isinstance(item.get("call_id"), str) else set()
    return None if left_out else (position, frozenset(dead))


def _may_be_left_out(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and (kind == "reasoning" or kind in KINDS)


def without_calls(items: Sequence[Any], dead: Collection[str]) -> Sequence[Any]:
    """Leave out calls that nothing answers, with the reasoning that led to them."""
    answered = {item.get("call_id") for item in items if _is_output(item)}
    unanswered = frozenset(dead) - answered
    if not unanswered:
        return items
    out: list[Any] = []
    for item in items:
        if (
            isinstance(item, dict)
            and item.get("type") in KINDS
            and item.get("call_id") in unanswered
        ):
            while out and isinstance(out[-1], dict) and out[-1].get("type") == "reasoning":
                out.pop()
        else:
            out.append(item)
    return out


def newest_items(items: Sequence[Any], limit: int) -> list[Any]:
    """
    Return the newest items, without outputs whose calls are older than these.

    Args:
        items: All of them, in order.
        limit: At most so many; all if it is negative.
    """
    if limit < 0:
        return list(items)
    called: set[Any] = set()
    kept = []
    for item in items[max(0, len(items) - limit) :]:
        if isinstance(item, dict) and item.get("type") in KINDS:
            called.add(item.get("call_id"))
        if not _is_output(item) or item.get("call_id") in called:
            kept.append(item)
    return kept


def _is_output(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in OUTPUTS
