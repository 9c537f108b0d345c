"""
Marks around text that came out of a memory, so that it never goes in again.

Without them a store fills with its own echo: what is recalled into a conversation is read there as
something new, and remembered once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from foldline.memory.items import Item

OPEN: Final = "<recalled"
CLOSE: Final = "</recalled>"

_SPAN: Final = re.compile(r"<recalled\b[^>]{0,400}>.*?(?:</recalled>|\Z)", re.DOTALL)
_MARK: Final = re.compile(r"<(?=\s*/?\s*recalled\b)", re.IGNORECASE)
_NAME: Final = re.compile(r"[^\w@.\-]")


def marked(items: Iterable[Item]) -> str:
    """Return memories as text for a context, each between marks that name it."""
    return "\n".join(
        f'{OPEN} id="{_NAME.sub("", item.id)}" kind="{item.kind}">{_plain(item.content)}{CLOSE}'
        for item in items
    )


def without_recalled(text: str) -> str:
    """Return a text without what came out of a memory; a mark that never ends goes to the end."""
    return _SPAN.sub("", text) if OPEN in text else text


def _plain(content: str) -> str:
    """Return content in which no mark can end early, nor seem to: a model reads it loosely."""
    return _MARK.sub(r"<\\", content)
