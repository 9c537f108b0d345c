"""Phrasing: which table of phrases a snapshot has, and rows of one table put into another."""

from __future__ import annotations

import re
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.relevance.language import CHINESE as CHINESE_LANGUAGE
from foldline.relevance.language import Language
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.snapshot.phrases_zh import CHINESE

TABLES: Final = (ENGLISH, CHINESE)
"""All of them; the first one is that of every language without a table of its own."""

_OUTCOMES: Final = ("working", "silent", "answered", "unanswered", "left")


def phrases_for(language: Language | None) -> Phrases:
    """Return the phrases for a conversation in a language, None where that is unknown."""
    return CHINESE if language == CHINESE_LANGUAGE else ENGLISH


def phrases_of(snapshot: str) -> Phrases:
    """Return the phrases that a snapshot was written with."""
    return next((table for table in TABLES if snapshot.startswith(table.header)), ENGLISH)


def template_pattern(template: str, **groups: str) -> str:
    """Return a pattern for what was written with a template, with one for each of its names."""
    pattern = re.escape(template)
    for name, group in groups.items():
        pattern = pattern.replace(rf"\{{{name}\}}", group)
    return pattern


def request_row(row: str, phrases: Phrases, *, is_latest: bool) -> str:
    """
    Write the row of a request again.

    Args:
        row: Of an earlier snapshot, in any language.
        phrases: The words that it is to have.
        is_latest: Whether nothing was requested since; otherwise it is no longer in work.
    """

    def rephrase(found: re.Match[str]) -> str:
        name = _OUTCOME_OF[found[2]]
        if not is_latest and name in _LEFT:
            return f"”{getattr(phrases, _LEFT[name])}"
        beside = phrases.beside if found[1] else ""
        return f"”{beside}{getattr(phrases, name)}"

    return _OUTCOME.sub(rephrase, row)


def plan_row(row: str, phrases: Phrases) -> str:
    """Write the row that counts the steps of a plan again, in other words."""
    found = _STEPS.match(row)
    if found is None:
        return row
    done, total = (number for number in found.groups()[1:] if number is not None)
    steps = phrases.steps.replace("{done}", done).replace("{all}", total)
    return f"{found[1]}{steps}{row[found.end() :]}"


def operation(text: str, phrases: Phrases) -> str:
    """Write what was done to a file, as in "edited ×3", in other words."""
    name, times, count = text.partition(" ×")
    return f"{phrases.operations.get(_OPERATION_OF.get(name, name), name)}{times}{count}"


_LEFT: Final = {"working": "left", "silent": "unanswered"}
_OUTCOME_OF: Final = {getattr(table, name): name for table in TABLES for name in _OUTCOMES}
_OPERATION_OF: Final = {word: name for table in TABLES for name, word in table.operations.items()}
_OUTCOME = lazy_pattern(
    f"”({'|'.join(re.escape(table.beside) for table in TABLES)})?"
    f"({'|'.join(map(re.escape, _OUTCOME_OF))})"
)
_STEPS = lazy_pattern(
    r"((?:[0-9a-f]{6,32}(?:\.\d{1,6})? )?)(?:"
    + "|".join(
        template_pattern(table.steps, done=r"(\d{1,6})", all=r"(\d{1,6})") for table in TABLES
    )
    + r")(?=\n|\Z)"
)
