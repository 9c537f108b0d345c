"""What a build returns: a text that knows what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from foldline.context.gathering import SourceReport
from foldline.context.packets import ContextPacket
from foldline.context.quality import QualityReport
from foldline.context.selection import LeftOut
from foldline.context.structure import ContextFrame, ContextSection, as_messages


@dataclass(frozen=True, slots=True)
class ContextParts:
    """What a context is made of; see `Context`."""

    query: str
    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    sources: tuple[SourceReport, ...]
    report: QualityReport
    frame: ContextFrame
    tokens: int
    shared: int


class Context(str):
    """
    A built context. It is its own text: print it, send it, put it into a message.

    Args:
        text: The text.
        parts: What it is made of.
    """

    __slots__ = ("parts",)
    parts: ContextParts

    def __new__(cls, text: str, parts: ContextParts) -> Self:
        """Make a context; see the class."""
        made = super().__new__(cls, text)
        object.__setattr__(made, "parts", parts)
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a context does not change; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.parts))

    @property
    def text(self) -> str:
        """The text as a plain string."""
        return str(self)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The same as chat messages: a system message that never changes, and the user's."""
        return as_messages(self.parts.sections, self.parts.frame)

    @property
    def sections(self) -> tuple[ContextSection, ...]:
        """The sections, in the order in which they stand."""
        return self.parts.sections

    @property
    def packets(self) -> tuple[ContextPacket, ...]:
        """The packets that are in, as they were given, in the order in which they stand."""
        return tuple(item.packet for section in self.sections for item in section.items)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The packets that are not in, each with the reason."""
        return self.parts.left_out

    @property
    def sources(self) -> tuple[SourceReport, ...]:
        """How each source did."""
        return self.parts.sources

    @property
    def report(self) -> QualityReport:
        """How good it is, with evidence and advice."""
        return self.parts.report

    @property
    def tokens(self) -> int:
        """What the text takes, in tokens."""
        return self.parts.tokens

    @property
    def shared_tokens(self) -> int:
        """Tokens at the beginning that are those of the build before: what a cache can hold."""
        return self.parts.shared

    def explain(self) -> list[dict[str, Any]]:
        """Tell of every packet where it went, and why."""
        rows = [_row(section, item) for section in self.sections for item in section.items]
        return rows + [_left_out_row(self.left_out, at) for at in range(len(self.left_out))]


def _row(section: ContextSection, item: Any) -> dict[str, Any]:
    return {
        "packet": item.packet.label,
        "section": section.place,
        "tokens": item.tokens,
        "whole": item.whole,
        "relevance": round(item.relevance, 4),
        "score": round(item.score, 4),
        "method": item.method,
        "why": item.note or ("mandatory" if item.packet.mandatory else "chosen"),
    }


def _left_out_row(left_out: Sequence[LeftOut], at: int) -> dict[str, Any]:
    one = left_out[at]
    return {
        "packet": one.packet.label,
        "section": None,
        "tokens": 0,
        "whole": one.tokens,
        "relevance": round(one.relevance, 4),
        "score": round(one.score, 4),
        "method": "left out",
        "why": f"repeats {one.other}" if one.other else one.reason,
    }
