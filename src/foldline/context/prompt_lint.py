"""Lint system prompts for overspecified, vague, duplicate and contradictory rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from foldline.context.settings import read_texts
from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.relevance.terms import terms

Rule: TypeAlias = Literal[
    "conditions",
    "literal",
    "shouting",
    "vague",
    "twice",
    "contradiction",
    "no role",
    "no output",
    "no sections",
]

SENTENCE: Final = re.compile(r"[^.!?;。！？;；]+(?:\.(?=\S)[^.!?;。！？;；]*)*[.!?;。！？;；]*")

HARD_LITERAL: Final = re.compile(
    r"https?://\S+|(?<![\w/])/(?:home|Users|var|opt|etc|tmp|srv)/\S+|[A-Z]:\\\S+"
    r"|\b20\d\d-\d\d-\d\d\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|20\d\d年\d{1,2}月|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
)

SHOUTED: Final = re.compile(
    r"\b(?:NEVER|ALWAYS|MUST|IMPORTANT|CRITICAL|DO NOT|WARNING)\b|!{2,}|！{2,}"
)

CONCRETE: Final = re.compile(
    r"\d|`[^`]+`|\b(?:for example|e\.g\.|such as|namely|that is|json|xml|markdown|table|list)\b"
    r"|例如|比如|即|[:：]\s*\S|\"[^\"]+\"|“[^”]+”",
    re.I,
)


def _pattern(found: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    """Return a pattern for English words, matched whole, and signs, matched anywhere."""
    words, signs = "|".join(found["words"]), "|".join(found["signs"])
    return re.compile(rf"\b(?:{words})\b|{signs}", re.I)


_WORDS: Final = read_texts("lint_words.toml")
CONDITION, VAGUE, ORDERS, FORBIDS, ROLE, OUTPUT = (
    _pattern(_WORDS[name])
    for name in ("condition", "vague", "orders", "forbids", "role", "output")
)
OPPOSITES: Final = [
    (_pattern(pair["one"]), _pattern(pair["other"])) for pair in _WORDS["opposites"]
]
"""Pairs of mutually exclusive demands."""

EXAMPLES: Final = {
    rule: (one["why"], one["instead"]) for rule, one in read_texts("lint.toml").items()
}
"""The reason and the remedy of each rule."""


Severity: TypeAlias = Literal["warning", "hint"]

MOST_CHARACTERS: Final = 400_000

MANY_CONDITIONS: Final = 5
"""Minimum number of conditions for a prompt to be a program in prose."""

DENSE_CONDITIONS: Final = 0.25
"""Minimum fraction of sentences that are conditions."""

MANY_SHOUTS: Final = 4
LONG: Final = 1_500
"""Length from which a prompt needs sections, in characters."""

ALIKE: Final = 0.75
"""Similarity from which two sentences are duplicates."""

ABOUT: Final = 0.5
"""Minimum fraction of shared terms, of the shorter rule, for two rules to have one subject."""

LEAST_TERMS: Final = 3
LONGEST: Final = 2_000
"""Maximum characters of a sentence to examine."""

MOST_COMPARED: Final = 600
"""Maximum sentences to compare with each other, the first ones."""


@frozen
class Problem:
    """
    A weakness of a prompt.

    ``line`` counts from 1, ``quote`` is its text, ``other`` the conflicting line, 0
    for none. ``instead`` is a suggestion.
    """

    rule: Rule
    severity: Severity
    line: int
    quote: str
    why: str
    instead: str
    other: int = 0


@frozen
class Sentence:
    """
    A sentence of a prompt, with its line and its terms.

    It may order, forbid, or apply only in some cases (``limited``). ``sides``
    marks for each pair of opposite demands whether it has the one or the other.
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
    Find brittle or vague parts of a system prompt.

    Args:
        prompt: The prompt, in English or Chinese.

    Returns:
        Problems, in the order of their lines.

    Raises:
        InputError: The prompt is empty, too long, or not a string.
    """
    if not isinstance(prompt, str) or not prompt.strip():
        raise InputError("There is no prompt to check", hint="Give a text.")
    if len(prompt) > MOST_CHARACTERS:
        raise InputError(
            f"{len(prompt):,} characters are too many for a prompt", hint="Give only the rules."
        )
    found_sentences = sentences(prompt)
    checks: tuple[Callable[[str, Sequence[Sentence]], Iterator[Problem]], ...] = (
        _find_hard_coded, _vague, _twice, _contradicting, _missing,
    )  # fmt: skip
    found = [problem for check in checks for problem in check(prompt, found_sentences)]
    return tuple(sorted(found, key=lambda problem: (problem.line, problem.rule)))


def sentences(prompt: str) -> list[Sentence]:
    """Split a prompt into sentences, without list and heading marks."""
    out = []
    for number, line in enumerate(prompt.split("\n"), 1):
        for piece in SENTENCE.findall(line):
            bare = piece[:LONGEST].strip(" \t-*#>0123456789)）、")
            if bare:
                out.append(_parse_sentence(bare, number))
    return out


def _parse_sentence(text: str, line: int) -> Sentence:
    def has(pattern: re.Pattern[str]) -> bool:
        return pattern.search(text) is not None

    sides = tuple((has(left), has(right)) for left, right in OPPOSITES)
    words = frozenset(terms(text))
    return Sentence(text, line, words, has(ORDERS), has(FORBIDS), has(CONDITION), sides)


def _problem(rule: Rule, at: Sentence, other: int = 0, severity: Severity = "warning") -> Problem:
    quote = at.text if len(at.text) <= 120 else f"{at.text[:119]}…"
    return Problem(rule, severity, at.line, quote, *EXAMPLES[rule], other)


def _find_hard_coded(prompt: str, found_sentences: Sequence[Sentence]) -> Iterator[Problem]:
    """Find programs in prose, hard-coded values, and shouting."""
    conditions = [one for one in found_sentences if one.limited]
    many = len(conditions) >= MANY_CONDITIONS
    if many and len(conditions) >= DENSE_CONDITIONS * len(found_sentences):
        yield _problem("conditions", conditions[0], conditions[-1].line)
    for one in found_sentences:
        if HARD_LITERAL.search(one.text):
            yield _problem("literal", one, severity="hint")
    shouted = [one for one in found_sentences if SHOUTED.search(one.text)]
    if len(SHOUTED.findall(prompt)) >= MANY_SHOUTS:
        yield _problem("shouting", shouted[0])


def _vague(_: str, found_sentences: Sequence[Sentence]) -> Iterator[Problem]:
    """Find demands that cannot be checked."""
    for one in found_sentences:
        if VAGUE.search(one.text) and not CONCRETE.search(one.text):
            yield _problem("vague", one)


def _twice(_: str, found_sentences: Sequence[Sentence]) -> Iterator[Problem]:
    """Find rules that repeat an earlier one in the same or similar words."""
    for at, one in enumerate(found_sentences[:MOST_COMPARED]):
        for other in found_sentences[:at]:
            least = min(len(one.terms), len(other.terms))
            if least >= LEAST_TERMS and _alike(one, other) >= ALIKE and not _clash(one, other):
                yield _problem("twice", one, other.line)
                break


def _contradicting(_: str, found_sentences: Sequence[Sentence]) -> Iterator[Problem]:
    """Find rules on one subject that demand opposites."""
    demanding = [one for one in found_sentences if one.orders or any(map(any, one.sides))][
        :MOST_COMPARED
    ]
    for at, one in enumerate(demanding):
        for other in demanding[:at]:
            if _clash(one, other):
                yield _problem("contradiction", one, other.line)
                break


def _missing(prompt: str, found_sentences: Sequence[Sentence]) -> Iterator[Problem]:
    """Find missing parts of a prompt: a role, an answer format, sections if it is long."""
    first = found_sentences[0] if found_sentences else Sentence(prompt.strip(), 1, frozenset())
    if not ROLE.search(prompt):
        yield _problem("no role", first, severity="hint")
    if not OUTPUT.search(prompt):
        yield _problem("no output", first)
    divided = re.search(r"^\s*(?:#|<\w|\[[^\]]+\]\s*$|【)", prompt, re.M)
    if len(prompt) > LONG and not divided:
        yield _problem("no sections", first, severity="hint")


def _alike(one: Sentence, other: Sentence) -> float:
    return len(one.terms & other.terms) / len(one.terms | other.terms)


def _clash(one: Sentence, other: Sentence) -> bool:
    """Return True if two rules demand opposites, by exclusive words or by negation."""
    plain = not (one.forbids or other.forbids or one.limited or other.limited)
    if plain and any(map(_excluding, one.sides, other.sides)):
        return True
    if not (one.orders and other.orders) or one.forbids == other.forbids:
        return False
    mine, theirs = one.terms - _ORDERING, other.terms - _ORDERING
    shared = len(mine & theirs)
    return shared >= 2 and shared >= ABOUT * min(len(mine), len(theirs))


def _excluding(here: tuple[bool, bool], there: tuple[bool, bool]) -> bool:
    """Return True if one rule has only the left of two opposite demands, the other the right."""
    return {here, there} == {(True, False), (False, True)}


_ORDERING: Final = frozenset(
    terms(
        "always never must should use do not avoid required forbidden please "
        "必须 禁止 应该 不要 总是 始终 使用"
    )
)
