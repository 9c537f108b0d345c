"""Limit a tool output by lines and bytes, without counting tokens."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from foldline.core.validation import check_name, whole
from foldline.frozen import frozen

Side: TypeAlias = Literal["head", "tail", "head_tail"]

HEAD: Final = 0.4
"""Fraction of the kept text that is the beginning, where both ends are kept."""


@frozen
class Observation:
    """
    A tool output, perhaps truncated.

    ``lines`` and ``size``, in bytes, are those of the whole output; ``left_out`` is how many lines
    are not in ``text``, 0 where it is whole. A line that was cut counts as left out.
    """

    text: str
    lines: int
    size: int
    left_out: int = 0


def truncate_observation(
    text: str,
    *,
    max_lines: int = 2_000,
    max_bytes: int = 50_000,
    keep: Side = "head_tail",
    note: str = "",
) -> Observation:
    """
    Keep whole lines of a tool output, up to a number of lines and of bytes.

    Args:
        text: The output.
        max_lines: Maximum number of lines to keep.
        max_bytes: Maximum size to keep, in bytes of UTF-8, without the marker line.
        keep: The beginning ("head"), the end ("tail"), or 40 % and 60 % of both ("head_tail").
        note: A text for the marker line, such as where the whole output is.

    Returns:
        The observation; a single line longer than the limit is cut.

    Raises:
        BudgetError: A limit is not a whole number of 1 or more, or ``keep`` is unknown.
    """
    whole("max_lines", max_lines, 1)
    whole("max_bytes", max_bytes, 1)
    check_name("keep", keep, ("head", "tail", "head_tail"))
    size = len(text.encode("utf-8", "surrogatepass"))
    lines = text.split("\n")
    if len(lines) <= max_lines and size <= max_bytes:
        return Observation(text, len(lines), size)
    share = {"head": 1.0, "tail": 0.0, "head_tail": HEAD}[keep]
    head = _fitting(lines, round(max_lines * share), int(max_bytes * share))
    rest = lines[len(head) :]
    used = _bytes(head)
    tail = _fitting(rest[::-1], max_lines - len(head), max_bytes - used) if share < 1 else []
    if not head and not tail:
        return _one_line(text, lines, size, max_bytes, keep, note)
    left = len(lines) - len(head) - len(tail)
    marker = f"[… {left:,} of {len(lines):,} lines left out{note and f'; {note}'} …]"
    return Observation("\n".join((*head, marker, *reversed(tail))), len(lines), size, left)


def _fitting(lines: list[str], most: int, room: int) -> list[str]:
    """Return the first lines that fit; each counts with its line feed."""
    kept: list[str] = []
    for line in lines[:most]:
        room -= _bytes([line])
        if room < 0:
            break
        kept.append(line)
    return kept


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines)


def _one_line(
    text: str, lines: list[str], size: int, room: int, keep: Side, note: str
) -> Observation:
    """Cut within a line, between characters, where no whole line fits."""
    data = text.encode("utf-8", "surrogatepass")
    part = data[-room:] if keep == "tail" else data[:room]
    kept = part.decode("utf-8", "ignore")
    marker = f"[… {size - len(part):,} of {size:,} bytes left out{note and f'; {note}'} …]"
    excerpt = f"{marker}\n{kept}" if keep == "tail" else f"{kept}\n{marker}"
    return Observation(excerpt, len(lines), size, len(lines))
