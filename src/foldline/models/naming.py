"""The names of models: one model has many, by vendor, region, date and size of the window."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 200
"""Names are no longer than this, in characters."""

VENDOR: Final = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|moonshotai|moonshot|zai|qwen|alibaba)\."
)
"""A vendor, and a region before it, as in ``us.anthropic.claude…``."""

WINDOW: Final = re.compile(r"\[(\d{1,3})([km])\]$")
"""A window that is asked for with the name, as in ``claude-sonnet-4-5[1m]``."""

DEPLOYED: Final = re.compile(r"-v\d{1,2}(?:-\d{1,2})?$")
"""The version of a deployment, as in ``claude-sonnet-4-20250514-v1:0``."""

SHORT: Final = re.compile(r"^(?=(?:opus|sonnet|haiku|fable|mythos)-)")
"""Where the name of a Claude begins that goes without its family, as in ``sonnet-4-5``."""

VERSION: Final = re.compile(r"-\d{1,2}[a-z]?(?:-|$)")
"""What makes it another model: a further number of the version, as 5 does in ``sonnet-4-5``."""


def normalised(name: str) -> str:
    """
    Return the plain name of a model.

    Case, vendor, region, the path before it and the tag after it are taken off; "." and "_" are
    written as "-". Dates stay, because they tell models apart.
    """
    plain = WINDOW.sub("", name.strip().lower()[:LONGEST])
    plain = VENDOR.sub("", plain.rsplit("/", 1)[-1])
    head, _, tag = plain.partition(":")
    if not tag.isdigit():
        plain = head
    plain = re.sub(r"[._:@\s]+", "-", plain).strip("-~")
    return SHORT.sub("claude-", DEPLOYED.sub("", plain))


def longest_prefix(name: str, known: Iterable[str]) -> str:
    """
    Return which of the known names a name begins with, "" when none.

    The longest wins. What follows may be a date or a word, but no further version number: a
    model that came out later is not known, rather than taken for the one before.
    """
    best = ""
    for candidate in known:
        if len(candidate) > len(best) and name.startswith(candidate):
            rest = name[len(candidate) :]
            if not rest or (rest.startswith("-") and not VERSION.match(rest)):
                best = candidate
    return best


def asked_window(name: str) -> int | None:
    """Return the window that is asked for with a name, in tokens; None when none is."""
    found = WINDOW.search(name.strip().lower())
    if found is None:
        return None
    return int(found[1]) * (1_000_000 if found[2] == "m" else 1_000)
