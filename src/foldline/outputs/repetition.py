"""
Repetition: logs and other outputs whose lines follow templates.

A line's template is made of its frequent words with digits levelled, as log parsers do (Drain, He
et al. 2017, fixes templates by length and leading words; word frequency does as well in one pass:
SLCT, Vaarandi 2003). Lines of a rare template are what a reader looks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foldline.outputs.condensed import Condensed

FREQUENT = 0.03
"""Fraction of the lines that a word has to be in, to belong to a template; at least `FEWEST`."""

FEWEST = 4
"""Lines from which on a word or template is frequent."""

REPEATED = 0.6
"""Fraction of the lines that have to follow frequent templates: else the text is no log."""

RARE_TEMPLATES = 12
"""Lines of rare templates that should stay."""

COUNTED = 6
"""Templates that are counted."""

RARE, FIRST_RARE, COUNT = 0.45, 0.65, 0.25
"""Worth of a line of a rare template, of the rarest, of a count."""

LEAST_LINES = 12
EXAMPLE = 160
"""Lines that make a log, and characters of a line that is counted."""

NOUGHTS = 5
"""Passes that write two noughts as one: numbers of up to 32 digits become one."""

RARELY = 0.02
"""Fraction of the lines up to which a template is looked at for strange lines."""

COMMON = 0.03
"""Fraction of the lines that a template has to have to be counted."""

_LEVELLED = str.maketrans("0123456789", "0" * 10)


def repetition(lines: Sequence[str]) -> Condensed | None:
    """
    Read lines as a log.

    Args:
        lines: The lines.

    Returns:
        The lines with their worth, and behind them what is counted; None where they are no log.
    """
    if len(lines) < LEAST_LINES:
        return None
    levelled = _level_digits(lines)
    words = [line.split() for line in levelled.split("\n")]
    seen = Counter(levelled.split())
    least = max(FEWEST, FREQUENT * len(lines))
    frequent = {word for word, count in seen.items() if count >= least}
    keys = [tuple(filter(frequent.__contains__, split)) for split in words]
    templates = Counter(keys)
    repeated = sum(count for key, count in templates.items() if key and count >= FEWEST)
    if repeated < REPEATED * len(lines):
        return None
    worth = {}
    for rank, place in enumerate(_rarest(words, keys, seen, templates)):
        worth[place] = FIRST_RARE if rank < RARE_TEMPLATES // 3 else RARE
    counted = _count_templates(lines, keys, templates, worth)
    for place in range(len(lines), len(lines) + len(counted)):
        worth[place] = COUNT
    return Condensed("log", (*lines, *counted), worth, notes=len(counted))


def _level_digits(lines: Sequence[str]) -> str:
    """Write every number as a single nought."""
    text = "\n".join([line[: 2 * EXAMPLE] for line in lines]).translate(_LEVELLED)
    for _ in range(NOUGHTS):
        text = text.replace("00", "0")
    return text


def _rarest(
    words: Sequence[Sequence[str]],
    keys: Sequence[tuple[str, ...]],
    seen: Counter[str],
    templates: Counter[tuple[str, ...]],
) -> list[int]:
    """Return the lines that are least like any other, the least first."""
    strange = {word for word, count in seen.items() if count < FEWEST and "0" not in word}
    odds = [len(strange.intersection(split)) for split in words]
    usual = sum(odds) / len(odds)
    judged = []
    for place, key in enumerate(keys):
        count = templates[key]
        if count < FEWEST:
            judged.append((odds[place] - usual + 3 / count, place))
        elif count <= RARELY * len(keys) and odds[place] > usual + 1:
            judged.append((odds[place] - usual, place))
    judged.sort(key=lambda pair: (-pair[0], pair[1]))
    return [place for score, place in judged[:RARE_TEMPLATES] if score > 0]


def _count_templates(
    lines: Sequence[str],
    keys: Sequence[tuple[str, ...]],
    templates: Counter[tuple[str, ...]],
    worth: dict[int, float],
) -> list[str]:
    """Say how often the most frequent templates occur, by the first line of each."""
    least = max(3 * FEWEST, COMMON * len(lines))
    common = [(key, n) for key, n in templates.most_common(COUNTED) if key and n >= least]
    first: dict[tuple[str, ...], int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    for key, _ in common:
        worth.setdefault(first[key], COUNT)
    return [f"[{count:,} lines like: {lines[first[key]][:EXAMPLE]}]" for key, count in common]
