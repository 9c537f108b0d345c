"""
Redaction of secrets in everything that is written, displayed or stored.

Receipts, replies, logs, spans, traces and the errors sent to a model are all redacted here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from foldline.lazy import lazy_pattern

HIDDEN: Final = "[redacted]"

_NAMES: Final = lazy_pattern(
    r"(?:api[-_]?key|authorization|passw(?:or)?d|secret|credential|access[-_]?token"
    r"|auth[-_]?token|private[-_]?key|cookie)$",
    re.IGNORECASE,
)
"""Keys whose whole value is a secret."""

_VALUES: Final = lazy_pattern(
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


SHORTEST: Final = 6
"""Minimum length of a known key to redact, in characters."""

DEEPEST: Final = 100
"""Depth below which a value is redacted whole."""


def redact_json(value: Any, keys: Iterable[str] = ()) -> Any:
    """
    Return a JSON value without secrets, known ones and those recognised by their shape.

    Args:
        value: The value; it is not modified.
        keys: Known secrets.
    """
    return _walk(without(value, keys), lambda text: _VALUES.sub(_hide, text), by_name=True)


def explain_error(error: BaseException, keys: Iterable[str] = ()) -> str:
    """Return the class and the message of an exception, without secrets."""
    return str(redact_json(f"{type(error).__name__}: {error}", keys))


def without(value: Any, keys: Iterable[str]) -> Any:
    """Return a JSON value without known secrets, otherwise unchanged."""
    known = sorted({key for key in keys if len(key) >= SHORTEST}, key=len, reverse=True)

    def change(text: str) -> str:
        for key in known:
            text = text.replace(key, HIDDEN)
        return text

    return _walk(value, change) if known else value


def _walk(
    value: Any, change: Callable[[str], str], depth: int = 0, *, by_name: bool = False
) -> Any:
    if isinstance(value, str):
        return change(value)
    if depth > DEEPEST:
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            change(key) if isinstance(key, str) else key: HIDDEN
            if by_name and item and _NAMES.search(str(key))
            else _walk(item, change, depth + 1, by_name=by_name)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_walk(item, change, depth + 1, by_name=by_name) for item in value]
    return value


def _hide(found: re.Match[str]) -> str:
    lead = found["lead"] or found["key"] or found["url"] or ""
    return f"{lead}{HIDDEN}"
