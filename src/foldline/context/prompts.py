"""Linting system prompts: too much written in, too little said, said twice, contradicted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.context.prompt_rules import (
    CONCRETE,
    CONDITION,
    EXAMPLES,
    FORBIDS,
    HARD_LITERAL,
    OPPOSITES,
    ORDERS,
    OUTPUT,
    ROLE,
    SENTENCE,
    SHOUTED,
    VAGUE,
    Rule,
)
from foldline.errors import InputError
from foldline.relevance.terms import terms

Severity: TypeAlias = Literal["warning", "hint"]

MOST_CHARACTERS: Final = 400_000

MANY_CONDITIONS: Final = 5
"""Conditions from which on a prompt is a program in prose."""

DENSE_CONDITIONS: Final = 0.25
"""Fraction of the sentences that are conditions."""

MANY_SHOUTS: Final = 4
LONG: Final = 1_500
"""Characters from which on a prompt needs sections."""

ALIKE: Final = 0.75
"""Likeness of two sentences from which on they say the same."""

ABOUT: Final = 0.5
"""Fraction of the terms of the shorter of two rules that both share if about one thing."""

LEAST_TERMS: Final = 3
LONGEST: Final = 2_000
"""Characters of a sentence that are looked at."""

MOST_COMPARED: Final = 600
"""Sentences that are compared with each other, the first."""


@dataclass(frozen=True, slots=True)
class Problem:
    """
    Something about a prompt that will cost answers.

    ``line`` counts from 1, ``quote`` is what stands there, ``other`` the line it collides with, 0
    for none. ``instead`` shows what to write.
    """

    rule: Rule
    severity: Severity
    line: int
    quote: str
    why: str
    instead: str
    other: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """
    A sentence of a prompt, with its line and its terms.

    It may order something, forbid something, or hold in some case only (``limited``). ``sides``
    says for each pair of opposite wishes whether it has the one or the other.
    """

    text: str
    line: int
    terms: frozenset[str]
    orders: bool = False
    forbids: bool = False
    limited: bool = False
    sides: tuple[tuple[bool, bool], ...] = ()


def lint(prompt: str) -> tuple[Problem, ...]:
    """
    Look for what makes a system prompt brittle or empty.

    Args:
        prompt: The prompt, in English or Chinese.

    Returns:
        Problems, in the order of their lines.

    Raises:
        InputError: The prompt is empty, too long, or no text.
    """
    if not isinstance(prompt, str) or not prompt.strip():
        raise InputError("there is no prompt to look at", hint="Give a text.")
    if len(prompt) > MOST_CHARACTERS:
        raise InputError(
            f"a prompt of {len(prompt):,} characters is no prompt", hint="Give the rules alone."
        )
    said = sentences(prompt)
    checks: tuple[Callable[[str, Sequence[Sentence]], Iterator[Problem]], ...] = (
        _hard_coded, _vague, _twice, _contradicting, _missing,
    )  # fmt: skip
    found = [problem for check in checks for problem in check(prompt, said)]
    return tuple(sorted(found, key=lambda problem: (problem.line, problem.rule)))


def sentences(prompt: str) -> list[Sentence]:
    """Cut a prompt into sentences, without the marks of lists and headings."""
    out = []
    for number, line in enumerate(prompt.split("\n"), 1):
        for piece in SENTENCE.findall(line):
            bare = piece[:LONGEST].strip(" \t-*#>0123456789)）、")
            if bare:
                out.append(_understood(bare, number))
    return out


def _understood(text: str, line: int) -> Sentence:
    def has(pattern: re.Pattern[str]) -> bool:
        return pattern.search(text) is not None

    sides = tuple((has(left), has(right)) for left, right in OPPOSITES)
    words = frozenset(terms(text))
    return Sentence(text, line, words, has(ORDERS), has(FORBIDS), has(CONDITION), sides)


def _problem(rule: Rule, at: Sentence, other: int = 0, severity: Severity = "warning") -> Problem:
    why, instead = EXAMPLES[rule]
    quote = at.text if len(at.text) <= 120 else f"{at.text[:119]}…"
    return Problem(rule, severity, at.line, quote, why, instead, other)


def _hard_coded(prompt: str, said: Sequence[Sentence]) -> Iterator[Problem]:
    """Find programs in prose, values that change elsewhere, and shouting."""
    conditions = [one for one in said if one.limited]
    many = len(conditions) >= MANY_CONDITIONS
    if many and len(conditions) >= DENSE_CONDITIONS * len(said):
        yield _problem("conditions", conditions[0], conditions[-1].line)
    for one in said:
        if HARD_LITERAL.search(one.text):
            yield _problem("literal", one, severity="hint")
    shouted = [one for one in said if SHOUTED.search(one.text)]
    if len(SHOUTED.findall(prompt)) >= MANY_SHOUTS:
        yield _problem("shouting", shouted[0])


def _vague(_: str, said: Sequence[Sentence]) -> Iterator[Problem]:
    """Find wishes that nobody could check."""
    for one in said:
        if VAGUE.search(one.text) and not CONCRETE.search(one.text):
            yield _problem("vague", one)


def _twice(_: str, said: Sequence[Sentence]) -> Iterator[Problem]:
    """Find rules that are there already, in the same or nearly the same words."""
    for at, one in enumerate(said[:MOST_COMPARED]):
        for other in said[:at]:
            if _enough(one, other) and _alike(one, other) >= ALIKE and not _opposed(one, other):
                yield _problem("twice", one, other.line)
                break


def _contradicting(_: str, said: Sequence[Sentence]) -> Iterator[Problem]:
    """Find rules about one thing that demand opposites."""
    demanding = [one for one in said if one.orders or any(map(any, one.sides))][:MOST_COMPARED]
    for at, one in enumerate(demanding):
        for other in demanding[:at]:
            if _opposed(one, other):
                yield _problem("contradiction", one, other.line)
                break


def _missing(prompt: str, said: Sequence[Sentence]) -> Iterator[Problem]:
    """Find what a prompt of any use tells: who, in which form; and sections where it is long."""
    first = said[0] if said else Sentence(prompt.strip(), 1, frozenset())
    if not ROLE.search(prompt):
        yield _problem("no role", first, severity="hint")
    if not OUTPUT.search(prompt):
        yield _problem("no output", first)
    divided = re.search(r"^\s*(?:#|<\w|\[[^\]]+\]\s*$|【)", prompt, re.M)
    if len(prompt) > LONG and not divided:
        yield _problem("no sections", first, severity="hint")


def _enough(one: Sentence, other: Sentence) -> bool:
    return min(len(one.terms), len(other.terms)) >= LEAST_TERMS


def _alike(one: Sentence, other: Sentence) -> float:
    return len(one.terms & other.terms) / len(one.terms | other.terms)


def _opposed(one: Sentence, other: Sentence) -> bool:
    """Tell whether two rules demand opposites: by two words that exclude each other, or by not."""
    plain = not (one.forbids or other.forbids or one.limited or other.limited)
    if plain and any(map(_excluding, one.sides, other.sides)):
        return True
    if not (one.orders and other.orders) or one.forbids == other.forbids:
        return False
    mine, theirs = one.terms - _ORDERING, other.terms - _ORDERING
    shared = len(mine & theirs)
    return shared >= 2 and shared >= ABOUT * min(len(mine), len(theirs))


def _excluding(here: tuple[bool, bool], there: tuple[bool, bool]) -> bool:
    """Tell whether one rule has only the left of two opposite wishes and the other the right."""
    return {here, there} == {(True, False), (False, True)}


_ORDERING: Final = frozenset(
    terms(
        "always never must should use do not avoid required forbidden please "
        "必须 禁止 应该 不要 总是 始终 使用"
    )
)
