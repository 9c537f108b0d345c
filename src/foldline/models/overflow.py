"""
Detection of context overflow in a provider's errors and answers, and of its real limit.

Rate limit errors mention tokens and large requests too, so they are excluded first. Then a code,
an exception class or a stop reason decides, then the status 413, then the error text: the known
phrases of each provider, and only with the status of a bad request. So user text quoted in a
server error is not an overflow. Finally, an answer whose input exceeds the window is an overflow:

some servers truncate silently. The phrases of the providers are data, in ``overflow.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pkgutil import get_data
from typing import Any, Final, TypeAlias

from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.models.provider_failure import Failure as Failure
from foldline.models.provider_failure import failure_of as failure_of


@frozen
class DetectedOverflow:
    """
    A request was too long.

    Args:
        how: How it was detected: by the sentence of this provider, or by "code", "class",
            "status", "stop", "usage" or "detector".
        limit: The real limit in tokens, None if it was not reported.
        requested: The size of the request in tokens, with the reserve for the answer; None if it
            was not reported.
        output: The part of it reserved for the answer, in tokens.
    """

    how: str
    limit: int | None = None
    requested: int | None = None
    output: int = 0

    @property
    def given(self) -> int | None:
        """Tokens of system prompt, tools and messages; None if they were not reported."""
        return None if self.requested is None else max(0, self.requested - self.output)


Detector: TypeAlias = Callable[[Failure], DetectedOverflow | bool | None]
"""
Decides whether a failure is an overflow, for failures that the table does not cover.

It receives a `Failure` (``text``, ``code``, ``status`` and other fields) and returns a
`DetectedOverflow` with the known numbers, or True if it knows none; False or None leave the
decision to the next detector, and finally to the table.
"""

_CLASSES: Final = re.compile(
    r"Context(?:Window|Length|Size)?(?:Exceeded|Overflow)"
    r"|(?:\b|Err)(?:Prompt|Request|Input|Context)?TooLong(?:Error)?\b"
)
"""Exceptions of frameworks and gateways: LangChain, litellm, the wrapped errors of agents."""

_RATE: Final = re.compile(
    r"rate.?limit|tokens? per (?:min|hour|day)|requests? per (?:min|sec|day)|\b[TR]P[MD]\b"
    r"|too many requests|quota|throttl|please wait before|extra usage is required",
    re.IGNORECASE,
)

_BAD_REQUEST: Final = frozenset({None, 200, 400, 413, 422})
"""The statuses with which the text is searched; some gateways send errors with status 200."""

_LEAST: Final = 16
_MOST: Final = 10**9
"""A limit outside this range is not a number of tokens."""

_FULL: Final = 0.99
"""Fraction of the window from which an empty answer, cut by its cap, is an overflow."""


def detect(failure: Failure, detectors: Iterable[Detector] = ()) -> DetectedOverflow | None:
    """
    Return the overflow that a failure reports, if any.

    Args:
        failure: The provider's error or answer; see `failure_of`.
        detectors: Custom detectors, called first; the table decides if none of them does.

    Returns:
        The overflow with the reported numbers, None if the failure is something else.

    Raises:
        InputError: A detector returned a value of another type.
    """
    for detector in detectors:
        found = detector(failure)
        if isinstance(found, DetectedOverflow):
            return found
        if found is True:
            return DetectedOverflow("detector")
        if found not in (None, False):
            why = f"a detector of overflows returned {found!r:.60}"
            hint = "Return True, False, None or a foldline.models.overflow.DetectedOverflow."
            raise InputError(why, field="detectors", hint=hint)
    if failure.status in (429, 529) or _RATE.search(f"{failure.code} {failure.text}"):
        return None
    found = _detect_by_code(failure)
    if found is None and failure.status in _BAD_REQUEST:
        found = _phrase(failure.text)
    return found or _detect_by_usage(failure)


def overflow_in(
    outcome: Any, window: int | None = None, detectors: Iterable[Detector] = ()
) -> DetectedOverflow | None:
    """
    Return the overflow that an exception or a response reports, if any.

    Args:
        outcome: An exception or a response of an SDK; see `failure_of`.
        window: The model's window in tokens, to detect silent truncation.
        detectors: Custom detectors; see `detect`.
    """
    return detect(failure_of(outcome, window), detectors)


def _detect_by_code(failure: Failure) -> DetectedOverflow | None:
    """Decide by code, class, stop reason or status."""
    how = ""
    if not set(_table()["codes"]).isdisjoint(failure.code.lower().split()):
        how = "code"
    elif _CLASSES.search(failure.type):
        how = "class"
    elif failure.stop.lower() in _table()["stops"]:
        how = "stop"
    elif failure.status == 413:
        how = "status"
    if not how:
        return None
    phrase = _phrase(failure.text) or DetectedOverflow(how)
    return DetectedOverflow(
        how, phrase.limit or _sane(failure.limit), phrase.requested, phrase.output
    )


def _detect_by_usage(failure: Failure) -> DetectedOverflow | None:
    """Decide by the usage of an otherwise normal answer."""
    usage, window = failure.usage, failure.window
    if usage is None or not window:
        return None
    given = usage.read
    choked = failure.stop.lower() in ("length", "max_tokens") and not usage.output
    if given > window or (choked and given >= _FULL * window):
        return DetectedOverflow("usage", window, given)
    return None


def _phrase(text: str) -> DetectedOverflow | None:
    for provider, pattern in _patterns():
        found = pattern.search(text)
        if found:
            texts = {name: text for name, text in found.groupdict().items() if text}
            numbers = {name: int(re.sub(r"\D", "", digits)) for name, digits in texts.items()}
            requested, output = numbers.get("requested"), numbers.get("output", 0)
            if "given" in numbers:
                requested = max(requested or 0, numbers["given"] + output)
            return DetectedOverflow(provider, _sane(numbers.get("limit")), requested, output)
    return None


def _sane(limit: int | None) -> int | None:
    return limit if limit is not None and _LEAST <= limit <= _MOST else None


# --- the sentences -------------------------------------------------------------------------

_NUMBER: Final = r"\d{1,3}(?:[,_.' ]\d{3})+(?!\d)|\d{1,12}"
"""A number, with or without thousands separators."""

_PLACE: Final = re.compile("LIMIT|REQUESTED|GIVEN|OUTPUT")


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((get_data("foldline.models", "overflow.toml") or b"").decode("utf-8"))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the providers and the patterns of their sentences, compiled on first use."""

    def compiled(sentence: str) -> re.Pattern[str]:
        named = _PLACE.sub(lambda at: f"(?P<{at[0].lower()}>{_NUMBER})", sentence)
        return re.compile(named.replace("…", r"[^\n]{0,60}?"), re.IGNORECASE)

    return tuple((provider, compiled(sentence)) for provider, sentence in _table()["sentences"])
