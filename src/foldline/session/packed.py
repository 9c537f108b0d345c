"""
Packed texts: what a later compaction replaced stays in memory, but in a seventh of it.

Every snapshot is kept with its receipt; only the newest is shown, and the others are read when a
compaction is taken back or somebody looks at old receipts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from zlib import compress, decompress

from foldline.values.edits import Edit, Fold, Insert
from foldline.values.messages import Message, Text

LEAST: Final = 2_000
"""Characters from which on a text is packed."""

_FAST: Final = 1


class PackedText(Text):
    """
    A text that is compressed until it is read.

    Args:
        text: The text.
        raw: What the wire gave.
    """

    __slots__ = ("_packed",)
    _packed: bytes

    def __init__(self, text: str, raw: Any = None) -> None:
        data = text.encode("utf-8", "surrogatepass")
        object.__setattr__(self, "_packed", compress(data, _FAST))
        object.__setattr__(self, "raw", raw)

    @property
    def text(self) -> str:
        """The text."""
        return decompress(self._packed).decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.text,))


def packed(edit: Edit) -> Edit:
    """Return an edit with the texts of its message packed."""
    if isinstance(edit, Fold):
        return replace(edit, snapshot=_packed(edit.snapshot))
    if isinstance(edit, Insert):
        return replace(edit, message=_packed(edit.message))
    return edit


def _packed(message: Message) -> Message:
    parts = tuple(
        PackedText(part.text, part.raw) if type(part) is Text and len(part.text) >= LEAST else part
        for part in message.parts
    )
    return replace(message, parts=parts)
