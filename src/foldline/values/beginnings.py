"""How far two sequences agree from their beginning: what a cache, a log or a handle shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _are_equal(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def shared_length(
    left: Iterable[Any],
    right: Iterable[Any],
    are_same: Callable[[Any, Any], bool] = _are_equal,
) -> int:
    """
    Count the items that two sequences begin with in common.

    Args:
        left: One of them.
        right: The other.
        are_same: Says whether two items, one of each, are the same.
    """
    count = 0
    for one, other in zip(left, right, strict=False):
        if not are_same(one, other):
            break
        count += 1
    return count
