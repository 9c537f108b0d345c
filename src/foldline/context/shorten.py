"""Shorten a text without a model: keep both ends, its end, its matching lines, or a mix."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

from foldline.context.packets import ContextPacket
from foldline.context.settings import ContextWords
from foldline.core.asks import ModelLimits
from foldline.frozen import field, frozen
from foldline.relevance.alarms import is_alarm
from foldline.relevance.names import items
from foldline.relevance.terms import flat_rarity, terms
from foldline.values.tokens import TokenCounter

HEAD: Final = 0.6
"""Fraction of a truncated text from its start; the rest is from its end."""

LAST: Final = 0.4
"""Fraction of a mixed text from its end; the rest are matching lines before it."""

TRIES: Final = 12
"""Maximum attempts to cut a text below its size."""

MOST_UNITS: Final = 20_000
"""Maximum lines or sentences to compare; the text beyond counts as the middle of a cut."""

LONGEST_UNIT: Final = 600
"""Maximum characters of a unit; longer lines are split."""

ALARM: Final = 1.5
ITEM: Final = 0.1
OPENING: Final = 0.5
"""Value of an error, of a name or number, and of the first unit; a rare query term has up to 7."""

_SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]++|[.!?]++(?!\s|$))*+(?:[.!?]++|[。！？]++|\n|$)")
"""A period inside a name or a number does not end a sentence."""


@frozen
class Shortening:
    """
    The parameters of shortening.

    ``former`` holds the shorter forms of the previous build, by `fingerprint`; ``reader`` is
    the model that may summarize, None for none.
    """

    query: str
    counter: TokenCounter
    words: ContextWords
    reader: ModelLimits | None = None
    former: Mapping[str, str] = field(default_factory=dict)


def fingerprint(packet: ContextPacket) -> str:
    """Return a digest of a packet's text, the same in every process."""
    data = packet.content.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).hexdigest()


def shorten_to_ends(text: str, room: int, how: Shortening) -> str:
    """
    Keep the start and the end of a text.

    Args:
        text: The text.
        room: Maximum size of the result, in tokens.
        how: The counter, and the mark of the gap.

    Returns:
        The text itself if it fits, else its ends around a mark; "" if the mark does not fit.
    """
    whole = how.counter.text(text)
    if whole <= room:
        return text
    mark = how.words.cut.format(tokens=whole, whole=whole)
    size = max(0, room - how.counter.text(mark)) * len(text) / max(1, whole)
    for _ in range(TRIES):
        head, tail = int(size * HEAD), int(size * (1 - HEAD))
        first, last = _at_line(text, head), _from_line(text, len(text) - tail)
        kept = how.counter.text(text[:first]) + how.counter.text(text[last:])
        mark = how.words.cut.format(tokens=max(1, whole - kept), whole=whole)
        short = "\n".join(p for p in (text[:first].rstrip(), mark, text[last:].lstrip()) if p)
        if how.counter.text(short) <= room:
            return short
        size *= 0.85
    return mark if how.counter.text(mark) <= room else ""


def _at_line(text: str, position: int) -> int:
    """Move a cut back to a line end, unless that would lose a quarter of the piece."""
    end = text.rfind("\n", int(position * 0.75), position)
    return position if end < 0 else end


def _from_line(text: str, position: int) -> int:
    start = text.find("\n", position, position + (len(text) - position) // 4)
    return position if start < 0 else start


def shorten_to_window(text: str, room: int, how: Shortening) -> str:
    """Keep the last lines of a text; a line that is too long is cut."""
    if how.counter.text(text) <= room:
        return text
    lines = text.split("\n")
    first = _tail(lines, room - how.counter.text(how.words.gap.format(lines=len(lines))) - 1, how)
    while first < len(lines):
        short = "\n".join((how.words.gap.format(lines=first), *lines[first:]))
        if how.counter.text(short) <= room:
            return short
        first += 1  # joined lines may take slightly more tokens than separate ones
    return shorten_to_ends(text, room, how)


def _tail(lines: Sequence[str], room: int, how: Shortening) -> int:
    """Return the index of the first of the last lines that fit."""
    first = len(lines)
    while first > 0 and (cost := how.counter.text(lines[first - 1]) + 1) <= room:
        first, room = first - 1, room - cost
    return first


def shorten_to_excerpt(text: str, room: int, how: Shortening) -> str:
    """
    Keep the lines or sentences that answer a query, verbatim and in order.

    The value of a unit is the information of the query's terms in it (log of their rarity in the
    text), of errors, names and numbers; units are chosen by value per token.

    Args:
        text: The text.
        room: Maximum size of the result, in tokens.
        how: The query, the counter, and the mark of gaps.

    Returns:
        The excerpt; a truncation if nothing in the text is salient.
    """
    if how.counter.text(text) <= room:
        return text
    found = split_units(text)
    values = _worth(found, how.query)
    gap = how.counter.text(how.words.gap.format(lines=100)) + 1
    costs = [how.counter.text(unit) + 1 for unit in found]
    ranked = [(-values[at] / (costs[at] + gap / 2), at) for at in range(len(found)) if values[at]]
    heapq.heapify(ranked)
    kept: set[int] = set()
    left = room
    while ranked:
        _, at = heapq.heappop(ranked)
        need = costs[at] + gap * _gaps(kept, at, len(found))
        if need <= left:
            kept.add(at)
            left -= need
    short = _join(found, kept, how)
    while kept and how.counter.text(short) > room:
        kept.remove(min(kept, key=lambda at: values[at]))
        short = _join(found, kept, how)
    return short if kept else shorten_to_ends(text, room, how)


def shorten_mixed(text: str, room: int, how: Shortening) -> str:
    """Keep the last lines, and matching lines before them; see `shorten_to_excerpt`."""
    if how.counter.text(text) <= room:
        return text
    lines = text.split("\n")
    first = _tail(lines, int(room * LAST), how)
    last = "\n".join(lines[first:])
    before = shorten_to_excerpt("\n".join(lines[:first]), room - how.counter.text(last) - 1, how)
    short = f"{before}\n{last}" if before and last else before or last
    if how.counter.text(short) <= room:
        return short
    return shorten_to_excerpt(text, room, how)


_WAYS: Final = {
    "truncate": shorten_to_ends,
    "window": shorten_to_window,
    "mixed": shorten_mixed,
    "excerpt": shorten_to_excerpt,
}


def shorten_by(method: str, text: str, room: int, how: Shortening) -> str:
    """Shorten a text by a method without a model; "keep" returns it unchanged."""
    return _WAYS[method](text, room, how) if method in _WAYS else text


def split_units(text: str) -> list[str]:
    """Split a text into lines, and long lines into sentences."""
    out: list[str] = []
    for line in text.split("\n"):
        if len(line) <= LONGEST_UNIT // 3:
            out.append(line)
            continue
        for piece in _SENTENCE.findall(line):
            out += [piece[at : at + LONGEST_UNIT] for at in range(0, len(piece), LONGEST_UNIT)]
    if len(out) > MOST_UNITS:
        half = MOST_UNITS // 2
        out = out[:half] + out[-half:]
    return out


def _worth(found: Sequence[str], query: str) -> list[float]:
    query_terms = set(terms(query))
    held = [query_terms.intersection(terms(unit)) for unit in found]
    spread = Counter(term for shared in held for term in shared)
    says = {term: flat_rarity(count, len(found)) for term, count in spread.items()}
    first = next((at for at, unit in enumerate(found) if unit.strip()), 0)
    return [
        sum(says[term] for term in shared)
        + ALARM * is_alarm(unit)
        + ITEM * min(3, len(items(unit)))
        + OPENING * (at == first)
        if unit.strip()
        else 0.0
        for at, (unit, shared) in enumerate(zip(found, held, strict=True))
    ]


def _gaps(kept: set[int], at: int, count: int) -> int:
    """Return the change in the number of gaps when a unit is kept."""
    before, after = at == 0 or at - 1 in kept, at == count - 1 or at + 1 in kept
    return 1 - before - after


def _join(found: Sequence[str], kept: set[int], how: Shortening) -> str:
    out: list[str] = []
    missing = 0
    for at, unit in enumerate(found):
        if at not in kept:
            missing += bool(unit.strip())
            continue
        if missing:
            out.append(how.words.gap.format(lines=missing))
            missing = 0
        out.append(unit.strip("\n") if unit.strip() else "")
    if missing:
        out.append(how.words.gap.format(lines=missing))
    return "\n".join(out)
