"""What a provider may send and this library does not know: carried along, where it stands."""

from __future__ import annotations

from typing import Any, Final

from foldline.errors import InputError
from foldline.formats.opaque_text import opaque_text
from foldline.values.messages import Message, Opaque

ELSEWHERE: Final = frozenset({"tool", "function", "model", "user", "assistant", "developer"})
"""Roles that some dialect knows: in one that does not, the messages are in the wrong format."""


def unknown_role(wire: dict[str, Any], role: str, dialect: str, index: int) -> Message:
    """
    Read a message of an unknown role; see `unknown_message`.

    Raises:
        InputError: It is a role of another dialect.
    """
    if role in ELSEWHERE:
        raise InputError(
            f"unknown role {role!r}",
            index=index,
            field="role",
            hint=f"It belongs to another format than {dialect}; name the right one.",
        )
    return unknown_message(wire, role, dialect)


def unknown_message(wire: dict[str, Any], kind: str, dialect: str) -> Message:
    """
    Read a message or an item of an unknown role or type.

    It may be what the model cannot work without, such as its tools: so it has the role "system",
    which no compaction removes or moves, and a part that none edits.

    Args:
        wire: The message.
        kind: Its role or type.
        dialect: The name of the dialect that it is in.
    """
    return Message("system", (Opaque(kind[:80], opaque_text(wire), raw=wire),), wire, dialect)
