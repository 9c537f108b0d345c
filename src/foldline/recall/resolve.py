"""From a handle to the message, and the part of it, that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from foldline.errors import RecallError
from foldline.values.identity import HANDLE_LENGTH

_HANDLE: Final = re.compile(rf"([0-9a-f]{{{HANDLE_LENGTH},32}})(?:\.([0-9]{{1,6}}))?")

NEAR: Final = 5
"""How many similar handles an error names."""


@dataclass(frozen=True, slots=True)
class Named:
    """An id, and the position of a part where the handle names one."""

    id: str
    part: int | None = None


def parse(handle: str) -> tuple[str, int | None]:
    """
    Split a handle into the beginning of an id and the position of a part.

    Raises:
        RecallError: This is no handle.
    """
    found = _HANDLE.fullmatch(handle.strip().lower()) if isinstance(handle, str) else None
    if found is None:
        raise RecallError(
            f"{str(handle)[:60]!r} is not a handle.",
            hint=f"A handle is {HANDLE_LENGTH} or more hexadecimal digits, such as 1f0c2a9b or "
            "1f0c2a9b.2; receipts and stubs name them.",
        )
    return found[1], None if found[2] is None else int(found[2])


def resolve(handle: str, born: Mapping[str, int], moments: Iterable[int] = ()) -> Named:
    """
    Find what a handle names.

    Args:
        handle: The beginning of an id, with ``.part`` for one of its parts.
        born: How long the log was when the thing with an id came into it, by id.
        moments: How long the log was whenever handles were given out. A handle that was unique
            then keeps its meaning, whatever has come since.

    Raises:
        RecallError: It names nothing, or several things; the message lists what is near.
    """
    prefix, part = parse(handle)
    found = sorted((n for n in born if n.startswith(prefix)), key=born.__getitem__)
    if not found:
        raise RecallError(f"Nothing is kept under {prefix}.", hint=_near(prefix, list(born)))
    if len(found) > 1:
        first, second = born[found[0]], born[found[1]]
        if not any(first <= moment < second for moment in moments):
            matches = ", ".join(number[: len(prefix) + 8] for number in found[:NEAR])
            raise RecallError(
                f"{prefix} is ambiguous: {len(found)} messages begin so.",
                hint=f"Give more digits: {matches}.",
            )
    return Named(found[0], part)


def _near(prefix: str, ids: Sequence[str]) -> str:
    short = {number[:HANDLE_LENGTH] for number in ids}
    close = get_close_matches(prefix[:HANDLE_LENGTH], short, NEAR, 0.5)
    if close:
        return f"Near to it: {', '.join(close)}."
    newest = [number[:HANDLE_LENGTH] for number in ids[-NEAR:]]
    return f"The newest are: {', '.join(newest)}." if newest else "Nothing is kept here."
