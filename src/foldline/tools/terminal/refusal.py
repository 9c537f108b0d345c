"""
Why a command is not run: for good, or until a person says yes.

A `Refused` command is not understood, and nobody can approve what was not understood. One that
`NeedsApproval` is understood exactly, and does more than read the workspace.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, TypeAlias

Risk: TypeAlias = Literal["write", "execute", "outside", "secrets"]

LONGEST_QUOTE = 300
"""The most characters of a model's text that a reason repeats."""


class Refused(Exception):
    """
    A command that is never run.

    Args:
        reason: One sentence: what is wrong.
        hint: One sentence: what to write instead.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} {hint}".strip())
        self.reason = reason


class NeedsApproval(Refused):
    """
    A command that is run only when a person approves it.

    Args:
        reason: One sentence: which rule it goes beyond.
        risk: What it could do: "write" in the workspace, "execute" a program that is not known,
            read "outside", or show "secrets".
        path: The one path outside that it reads.
    """

    def __init__(self, reason: str, risk: Risk, path: str = "") -> None:
        super().__init__(reason)
        self.risk = risk
        self.path = path


def visible(text: str, most: int = LONGEST_QUOTE) -> str:
    """
    Return text as a person may be shown it: what a terminal would obey is spelled out.

    Args:
        text: Anything, also lone surrogates.
        most: The most characters of it.
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
