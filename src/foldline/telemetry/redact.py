"""Secrets taken out of what is written down: keys, tokens and passwords, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "[redacted]"

_NAMES: Final = re.compile(
    r"(?:api[-_]?key|authorization|passw(?:or)?d|secret|credential|access[-_]?token"
    r"|auth[-_]?token|private[-_]?key|cookie)$",
    re.IGNORECASE,
)
"""Keys whose whole value is a secret."""

_VALUES: Final = re.compile(
    r"""
    (?P<lead>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}
  | \b(?:sk|pk|rk)[-_](?:ant-|proj-|live[-_]|test[-_])?[A-Za-z0-9_-]{12,}
  | \bAIza[A-Za-z0-9_-]{30,}
  | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
  | \bxox[abprs]-[A-Za-z0-9-]{10,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \bhf_[A-Za-z0-9]{20,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
  | -----BEGIN\ [A-Z\ ]{0,40}PRIVATE\ KEY-----[\s\S]{0,8000}?(?:-----END[^-]{0,60}-----|\Z)
  | (?P<key>\b(?:api[-_]?key|passw(?:or)?d|secret|access[-_]?token|auth[-_]?token)
      ["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"'&,;]{4,}
  | (?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,200}:)[^\s/@]{1,200}(?=@)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def redacted(value: Any, depth: int = 0) -> Any:
    """
    Return a JSON value without secrets.

    Args:
        value: What is to be written; it is not changed.
        depth: How deep it lies; what lies deeper than 20 is hidden whole.
    """
    if isinstance(value, str):
        return _VALUES.sub(_hide, value)
    if depth > 20:
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            key: HIDDEN if _NAMES.search(str(key)) and item else redacted(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted(item, depth + 1) for item in value]
    return value


def _hide(found: re.Match[str]) -> str:
    lead = found["lead"] or found["key"] or found["url"] or ""
    return f"{lead}{HIDDEN}"
