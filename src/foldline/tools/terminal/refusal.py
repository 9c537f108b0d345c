"""
Refusals of commands: permanent, or until a person approves.

A `Refused` command is not understood, so it cannot be approved either. A command that
`NeedsApproval` is understood exactly, but does more than read the workspace.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, TypeAlias

Risk: TypeAlias = Literal["write", "execute", "outside", "secrets"]

LONGEST_QUOTE = 300
"""The maximum length of quoted model output in a reason, in characters."""


class Refused(Exception):
    """
    The command is never run.

    Args:
        reason: What is wrong, in one sentence.
        hint: What to write instead, in one sentence.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} {hint}".strip())
        self.reason = reason


class NeedsApproval(Refused):
    """
    The command is run only if a person approves it.

    Args:
        reason: The rule that it violates, in one sentence.
        risk: What it could do: "write" in the workspace, "execute" an unknown program, read
            "outside", or print "secrets".
        path: The path outside that it reads.
    """

    def __init__(self, reason: str, risk: Risk, path: str = "") -> None:
        super().__init__(reason)
        self.risk = risk
        self.path = path


def visible(text: str, most: int = LONGEST_QUOTE) -> str:
    """
    Return text that is safe to display, with control characters escaped.

    Args:
        text: Any text, even with lone surrogates.
        most: The maximum length in characters.
    """
    cut = text[:most]
    printable = "".join(_escape(char) if unsafe(char) else char for char in cut)
    return printable if len(text) <= most else f"{printable}… ({len(text):,} characters in all)"


def unsafe(char: str) -> bool:
    """Return True if a character is a control, format or separator character or a surrogate."""
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
