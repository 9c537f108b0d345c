"""Items of a run, matched to a session: which of them it has, and which are new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, Final

from foldline.errors import InputError
from foldline.formats.openai_responses.read import KINDS, OUTPUTS
from foldline.frozen import frozen

NOTES: Final = frozenset({"created_by", "_agents_tool_description", "_agents_tool_title"})
"""Fields that the SDK adds to items for itself, and omits when it sends them."""


NEAR: Final = 64
"""Maximum distance of items whose order differs between a run and its session."""


@frozen
class RunStart:
    """
    The items with which a run may have started.

    ``items`` are those that the session returned, ``at`` the number of items it had then.
    ``whole`` is True if they were all of them, and not only the newest.
    """

    items: tuple[Any, ...]
    at: int
    whole: bool = True


@frozen
class RunInput:
    """
    The input of a run, compared with its session.

    ``new`` are the items that the session does not have yet, ``dead`` the ids of unanswered calls
    that the run removed.
    """

    new: tuple[Any, ...]
    dead: frozenset[str] = frozenset()


def to_json(item: Any) -> Any:
    """
    Return an item as a JSON value.

    Raises:
        InputError: It is neither a dict nor an SDK model.
    """
    if isinstance(item, dict):
        return item
    dump = getattr(item, "model_dump", None)
    if dump is None:
        raise InputError(f"an item is an object, not {type(item).__name__}")
    return dump(exclude_unset=True, mode="json")


def without_notes(item: Any) -> Any:
    """Return an item without the SDK's own fields; the item itself if it has none."""
    if not isinstance(item, dict) or NOTES.isdisjoint(item):
        return item
    return {key: value for key, value in item.items() if key not in NOTES}


def is_same_item(left: Any, right: Any) -> bool:
    """Return True if two items are the same, ignoring SDK fields and the id of reasoning."""
    return left is right or left == right or _comparable(left) == _comparable(right)


def _comparable(item: Any) -> Any:
    item = without_notes(item)
    if isinstance(item, dict) and item.get("type") == "reasoning" and "id" in item:
        return {key: value for key, value in item.items() if key != "id"}
    return item


def align(items: Sequence[Any], start: RunStart, since: Sequence[Any]) -> RunInput | None:
    """
    Compare the input of a run with the items with which it may have started.

    Args:
        items: The input.
        start: The possible start of the run.
        since: The items added to the session since, in about the same order.

    Returns:
        None if the run did not start with it, or has changed these items.
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
    """Return the number of items of the input from the start, and the calls that are missing."""
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
    """Remove unanswered calls, with the reasoning that led to them."""
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
    Return the newest items, without outputs whose calls are older.

    Args:
        items: All items, in order.
        limit: Maximum number of items; all if it is negative.
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
