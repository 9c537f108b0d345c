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

# Only words are compared in any case: a set of characters with "k" or "s" would have to hold signs
# beyond ASCII then, and takes five times as long to compile.
_VALUES: Final = lazy_pattern(
    r"""
    (?P<lead>\b(?i:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}
  | \b(?i:sk|pk|rk)[-_](?i:ant-|proj-|live[-_]|test[-_])?[A-Za-z0-9_-]{12,}
  | \b(?i:AIza)[A-Za-z0-9_-]{30,}
  | \b(?i:gh)[pousrPOUSR]_[A-Za-z0-9]{20,} | \b(?i:github_pat_)[A-Za-z0-9_]{20,}
  | \b(?i:xox)[abprsABPRS]-[A-Za-z0-9-]{10,}
  | \b(?i:AKIA|ASIA)[A-Za-z0-9]{16}\b
  | \b(?i:hf)_[A-Za-z0-9]{20,}
  | \b(?i:eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
  | -----(?i:BEGIN)\ [A-Za-z\ ]{0,40}(?i:PRIVATE\ KEY)-----
    [\s\S]{0,8000}?(?:-----(?i:END)[^-]{0,60}-----|\Z)
  | (?P<key>\b(?i:api[-_]?key|passw(?:or)?d|secret|access[-_]?token|auth[-_]?token)
      ["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"'&,;]{4,}
  | (?P<url>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@]{1,200}:)[^\s/@]{1,200}(?=@)
    """,
    re.VERBOSE,
)
_LEADS: Final = ("-", "_", ".", ":", "=", "bearer", "basic", "aiza", "akia", "asia")
"""One of these, in lower case, stands in everything that `_VALUES` finds."""


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
    return _walk(without(value, keys), _hide_secrets, by_name=True)


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


def _hide_secrets(text: str) -> str:
    lowered = text.lower()
    return _VALUES.sub(_hide, text) if any(lead in lowered for lead in _LEADS) else text


def _hide(found: re.Match[str]) -> str:
    lead = found["lead"] or found["key"] or found["url"] or ""
    return f"{lead}{HIDDEN}"
