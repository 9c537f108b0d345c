"""
Claims: success that an account asserts although the conversation shows a failure instead.

The check is one-sided on purpose: only where a failure stands open and no later result shows a
success is a claim marked, and it is marked, not taken away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.core.messages import Message
from foldline.strategies.facts import Finding, open_errors

UNSHOWN = "[not shown by the transcript]"
"""What follows a claim without evidence."""

_CHECKS = r"(?:tests?|checks?|builds?|suites?|specs?|ci)"
_GOOD = r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|ok|clean)"
_SUCCESSES = (
    rf"\b(?:all|the|every|both) (?:\w+ ){{0,3}}?{_CHECKS}\b[^.\n]{{0,40}}\b{_GOOD}\b",
    r"\btests? (?:now |all )*(?:pass(?:es|ed|ing)?|(?:are|is) (?:now )?(?:green|passing))\b",
    r"\bbuild (?:now )?(?:pass(?:es|ed)|succeed(?:s|ed)|(?:is|was) (?:successful|green|clean))\b",
    r"\b(?:everything|all of it) (?:now )?(?:works|passes|is (?:done|fixed|green|complete))\b",
    r"\bsuccessfully (?:fixed|mended|resolved|completed|built|deployed)\b",
    r"\bfully (?:fixed|resolved)\b",
    r"\b(?:all|every) (?:\w+ )?(?:errors?|bugs?|issues?|failures?) (?:\w+ ){0,3}?(?:fixed|gone)\b",
    r"测试[^。\n]{0,12}(?:通过|成功)|(?:构建|编译|部署)[^。\n]{0,6}成功|(?:全部|已经?)(?:修复|解决)",
    r"テスト[^。\n]{0,15}(?:成功|通っ|通過|パス)|테스트[^.\n]{0,15}(?:통과|성공)",
    r"тесты [^.\n]{0,20}(?:прош|проход|зел)|tests? (?:sind )?(?:bestanden|grün)",
    r"tous les tests (?:passent|sont)|todas? l[oa]s (?:tests|pruebas) pasan",
)
_SUCCESS = re.compile("|".join(_SUCCESSES), re.IGNORECASE)
_NO_CLAIM = re.compile(
    r"\b(?:not?|never|isn't|aren't|don't|doesn't|didn't|cannot|until|unless|before|once|when|if|"
    r"whether|so that|should|must|need|needs|want|wants|goal|make|verify|check that|todo|pending|"
    r"remain\w*|fail\w*|claimed|unverified)\b|未|没有?|不|目标|需要|待|尚|必须|确保|失败|ない|않|"
    r"\bне\b|nicht|\bpas\b|\bno\b",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b[1-9]\d* (?:tests? )?passed\b|\b0 fail(?:ed|ures?)\b|^OK(?: \(\d+|$)|\ball tests pass|"
    r"\btests? passed\b|\bBUILD SUCCESS|\bbuild succeeded|\bSuccess: no issues|✓ \d+|\bPASS\b|"
    r"exit (?:code|status)[: ]+0\b|<returncode>0|测试通过|构建成功",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|errors?|failures?)\b|\bFAIL(?:ED|URE)?\b|Traceback|^fatal:|失败",
    re.MULTILINE,
)
READ = 100_000
"""Characters of a result that are looked at, half of them at its end."""


def mark_unproven_claims(account: str, messages: Sequence[Message]) -> tuple[str, int]:
    """
    Mark the claims of success that the conversation does not bear out.

    Args:
        account: What a model told.
        messages: The whole conversation as it was really said.

    Returns:
        The account, and how many lines of it were marked.
    """
    lines = account.split("\n")
    claims = [number for number, line in enumerate(lines) if _claims(line)]
    if not claims:
        return account, 0
    errors = open_errors(messages)
    if not errors or _shows_success(messages, errors):
        return account, 0
    for number in claims:
        lines[number] = f"{lines[number]} {UNSHOWN}"
    return "\n".join(lines), len(claims)


def _claims(line: str) -> bool:
    return UNSHOWN not in line and any(
        _SUCCESS.search(sentence) and not _NO_CLAIM.search(sentence)
        for sentence in re.split("(?<=[.!?;\u3002\uff01\uff1f\uff1b])\\s*", line)
    )


def _shows_success(messages: Sequence[Message], errors: Sequence[Finding]) -> bool:
    """Tell whether a result after the newest open failure reports a success and no failure."""
    newest = max(error.position for error in errors)
    return any(
        _PASSED.search(text) and not _FAILED.search(text)
        for message in messages[newest + 1 :]
        for result in message.results
        for text in (_ends(result.text),)
    )


def _ends(text: str) -> str:
    return text if len(text) <= READ else f"{text[: READ // 2]}\n{text[-READ // 2 :]}"
