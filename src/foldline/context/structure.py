"""Structure: packets in sections, in a stable order, fenced as data."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final
from unicodedata import category, normalize

from foldline.context.packets import ContextPacket
from foldline.context.settings import (
    HEADINGS,
    ORDERS,
    SECTION_NAMES,
    TAGS,
    WORDS,
    ContextConfig,
    ContextWords,
    Form,
    SectionName,
)
from foldline.frozen import frozen
from foldline.relevance.language import CHINESE, language
from foldline.values.tags import escape_attribute, tag_starts

SOURCED: Final = ("citation", "title", "path", "document")
"""Metadata entries that can be cited."""

LONGEST_SOURCE: Final = 120
"""Maximum characters of a source name."""

STABLE: Final = ("role", "output")
"""Sections of the system message: they are the same for every question."""

_HEADINGS: Final = frozenset(
    normalize("NFKC", f"[{heading}]").casefold()
    for names in HEADINGS.values()
    for heading in names.values()
) | {"---"}
_TAGS: Final = tag_starts(*TAGS.values(), "item")


@frozen
class ContextItem:
    """
    A packet as written into the context.

    ``method`` is how it was shortened, "keep" if it was not; ``note`` is the reason. ``whole`` is
    the size of the packet before, ``tokens`` the size after, both in tokens.
    """

    packet: ContextPacket
    text: str
    tokens: int
    whole: int
    method: str = "keep"
    note: str = ""
    relevance: float = 1.0
    score: float = 1.0


@frozen
class ContextSection:
    """A section: its name, and its items in order."""

    place: SectionName
    items: tuple[ContextItem, ...]

    @property
    def tokens(self) -> int:
        """Total size of its items, in tokens, without the heading."""
        return sum(item.tokens for item in self.items)


@frozen
class ContextFrame:
    """The layout of sections: order, notation and texts."""

    order: tuple[SectionName, ...]
    form: Form
    headings: str
    lang: str
    words: ContextWords

    @classmethod
    def of(cls, config: ContextConfig, query: str) -> ContextFrame:
        """Choose the texts for a query."""
        lang: str = config.language
        headings = "zh" if lang == "zh" else "en"
        if lang == "auto":
            lang = "zh" if language([query]) is CHINESE else "en"
        return cls(ORDERS[config.order], config.form, headings, lang, WORDS[lang])


def arrange(
    items: Iterable[ContextItem], config: ContextConfig, places: Sequence[SectionName]
) -> tuple[ContextSection, ...]:
    """
    Sort items into their sections.

    Mandatory packets come first and messages in chronological order. Everything else
    comes best first; with the order "cache" by source and content, so that the same packets give
    the same text for any query.

    Args:
        items: The items.
        config: The order.
        places: The section of each item.
    """
    inside: dict[SectionName, list[ContextItem]] = {place: [] for place in SECTION_NAMES}
    for item, place in zip(items, places, strict=True):
        inside[place].append(item)
    by_content = config.order == "cache"
    return tuple(
        ContextSection(place, tuple(sorted(found, key=lambda item: _rank(item, by_content))))
        for place in ORDERS[config.order]
        if (found := inside[place])
    )


def _rank(item: ContextItem, by_content: bool) -> tuple[int, float, str, str]:
    packet = item.packet
    position = packet.metadata.get("position")
    if packet.mandatory:
        return (0, 0.0, "", "")
    if packet.type == "conversation_history" and isinstance(position, int):
        return (1, float(position), "", "")
    if not by_content:
        return (2, -item.score, "", "")
    digest = blake2b(packet.content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return (2, 0.0, str(packet.metadata.get("source", "")), f"{packet.label}{digest}")


def format_packet(
    packet: ContextPacket, text: str, place: SectionName, frame: ContextFrame
) -> str:
    """Write one item: fenced, with its citable source."""
    text = text.strip("\n")
    if packet.type == "memory":
        text = frame.words.memory + text
    source = next((str(packet.metadata[k]) for k in SOURCED if packet.metadata.get(k)), "")
    source = _cite(source) if place == "evidence" else ""
    if frame.form == "xml":
        safe = _TAGS.sub("&lt;", text) if place != "role" else text
        cited = f' source="{escape_attribute(source)}"' if source else ""
        return safe if place in ("role", "task", "output") else f"<item{cited}>\n{safe}\n</item>"
    safe = text if place == "role" else "".join(map(_fence, text.splitlines(keepends=True)))
    return f"({source})\n{safe}" if source else safe


def _cite(source: str) -> str:
    """Write a source on one line; a long path keeps its end, with the file and the lines."""
    line = " ".join(source.split())
    return line if len(line) <= LONGEST_SOURCE else f"…{line[1 - LONGEST_SOURCE :]}"


def _fence(line: str) -> str:
    """Escape a line of data that could pass for a heading or for the end of its item."""
    bare = line.strip()[:64]
    if not bare.isascii():
        seen = (sign for sign in normalize("NFKC", bare) if category(sign) != "Cf")
        bare = "".join(seen).strip()
    return f"\\{line}" if bare.casefold() in _HEADINGS else line


def render(sections: Iterable[ContextSection], frame: ContextFrame) -> str:
    """Write sections as one text."""
    return "\n\n".join(_section(section, frame) for section in sections if section.items)


def _section(section: ContextSection, frame: ContextFrame) -> str:
    place = section.place
    texts = [format_packet(item.packet, item.text, place, frame) for item in section.items]
    body = texts[0]
    for before, text in pairwise(texts):
        several = place == "evidence" or "\n" in before or "\n" in text
        body += ("\n---\n" if several and frame.form == "brackets" else "\n") + text
    if frame.form == "xml":
        return f"<{TAGS[place]}>\n{body}\n</{TAGS[place]}>"
    return f"[{HEADINGS[frame.headings][place]}]\n{body}"


def as_messages(sections: Sequence[ContextSection], frame: ContextFrame) -> list[dict[str, str]]:
    """Write sections as chat messages: constant ones as the system's, the rest as the user's."""
    stable = render((s for s in sections if s.place in STABLE), frame)
    user_text = render((s for s in sections if s.place not in STABLE), frame)
    pairs = (("system", stable), ("user", user_text))
    return [{"role": role, "content": text} for role, text in pairs if text]


def shared_prefix(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts, in characters."""
    # A binary search over slices is many times faster than comparing characters.
    sizes = range(1, min(len(one), len(other)) + 1)
    return bisect_left(sizes, True, key=lambda size: one[:size] != other[:size])
