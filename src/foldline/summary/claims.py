"""
Claims: assertions of success in an account that the conversation does not support.

The check is one-sided on purpose, and a claim is marked, not removed. If a failure is
open and no later result shows a success, every claim is marked; otherwise only claims about tests,
builds or checks that neither a result nor a message of the conversation supports. A commit, a push
or a deployment needs evidence of its own, whether a failure is open or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from foldline.frozen import frozen
from foldline.snapshot.facts import Finding, open_errors
from foldline.snapshot.invocations import Invocations
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.summary.actions import (
    CALL,
    UNSHOWN,
    calls_with_results,
    ends,
    find_unproven_actions,
)
from foldline.values.messages import Message, ToolCall, ToolResult
from foldline.values.part_text import call_text

_CHECKS = r"(?:tests?|checks?|builds?|suites?|specs?|ci)"
_GOOD = r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|ok|clean)"
_LINTERS = r"(?:lint\w*|type ?check\w*|mypy|pyright|ruff|eslint|clippy)"
_PROBLEMS = r"(?:errors?|warnings?|issues?|problems?|findings?)\b"
_SUCCESSES = (
    rf"\b(?:all|the|every|both) (?:\w+ ){{0,3}}?{_CHECKS}\b[^.\n]{{0,40}}\b{_GOOD}\b",
    r"\btests? (?:now |all )*(?:pass(?:es|ed|ing)?|(?:are|is) (?:now )?(?:green|passing))\b",
    r"\bbuild (?:now )?(?:pass(?:es|ed)|succeed(?:s|ed)|(?:is|was) (?:successful|green|clean))\b",
    r"\b(?:everything|all of it) (?:now )?(?:works|passes|is (?:done|fixed|green|complete))\b",
    r"\bsuccessfully (?:fixed|mended|resolved|completed|built)\b",
    r"\bfully (?:fixed|resolved)\b",
    rf"\b{_LINTERS} (?:now |is |are )*(?:pass\w*|clean|green)\b",
    rf"\b{_LINTERS}[^.\n]{{0,40}}\b(?:0|no|zero) (?:\w+ )?{_PROBLEMS}",
    rf"\b(?:0|no|zero) (?:lint\w*|typ(?:e|ing)|mypy|ruff|eslint) {_PROBLEMS}",
    r"\b(?:all|every) (?:\w+ )?(?:errors?|bugs?|issues?|failures?) (?:\w+ ){0,3}?(?:fixed|gone)\b",
    r"测试[^。\n]{0,12}(?:通过|成功)|(?:构建|编译)[^。\n]{0,6}成功|(?:全部|已经?)(?:修复|解决)",
    r"テスト[^。\n]{0,15}(?:成功|通っ|通過|パス)|테스트[^.\n]{0,15}(?:통과|성공)",
    r"тесты [^.\n]{0,20}(?:прош|проход|зел)|tests? (?:sind )?(?:bestanden|grün)",
    r"tous les tests (?:passent|sont)|todas? l[oa]s (?:tests|pruebas) pasan",
)
_SUCCESS = re.compile("|".join(_SUCCESSES), re.IGNORECASE)
_NO_CLAIM = re.compile(
    rf"\b(?:no(?:t|thing|ne|(?! (?:\w+ )?{_PROBLEMS}))|never|isn't|aren't|don't|doesn't|didn't|"
    r"cannot|until|unless|before|once|when|if|whether|so that|should|must|need|needs|want|wants|"
    r"goal|make|verify|check that|todo|pending|"
    r"remain\w*|fail\w*|claimed|unverified)\b|未|没有?|不|目标|需要|待|尚|必须|确保|失败|ない|않|"
    r"\bне\b|nicht|\bpas\b",
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
_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


@frozen
class _Kind:
    """
    A kind of work that can succeed.

    ``named`` matches a sentence about it, ``run`` a call that does it, and ``output`` a result.
    """

    named: re.Pattern[str]
    run: re.Pattern[str]
    output: re.Pattern[str]


def _kind(named: str, run: str, output: str = r"(?!)") -> _Kind:
    return _Kind(*(re.compile(text, re.IGNORECASE) for text in (named, run, output)))


_KINDS = (
    _kind(
        r"\btest|\bsuite|\bspecs?\b|\bpruebas\b|测试|テスト|테스트|тест",
        r"test|\btox\b|\bnox\b|jest|mocha|rspec|phpunit|karma|cypress|playwright|\bcheck\b|"
        r"\bverify\b|\bci\b|测试",
        r"\bok\b|\bpassing\b|✓|✔|通过",
    ),
    _kind(
        r"\bbuil[dt]|\bcompil|构建|编译",
        r"buil[dt]|compil|\bmake\b|\bninja\b|\b(?:gcc|g\+\+|clang\w*|rustc|javac|tsc|mvn|gradlew?)\b|"
        r"\b(?:cargo|go|npm|yarn|pnpm|docker|bazel|xcodebuild|webpack|vite)\b|构建|编译",
        r"\b(?:compiled|built|finished|linked)\b|成功",
    ),
    _kind(
        r"\blint|type ?check|\btype errors|\bmypy\b|\bruff\b|\beslint\b|\bchecks?\b|\bci\b",
        r"lint|mypy|ruff|pyright|flake8|clippy|\bvet\b|\btsc\b|check|\bci\b|\btest|\bmake\b|pre-commit",
        r"\bno (?:issues|errors|problems)|\bclean\b|\b0 (?:errors|problems|warnings)",
    ),
)


def mark_unproven_claims(
    account: str, messages: Sequence[Message], phrases: Phrases = ENGLISH
) -> tuple[str, int]:
    """
    Mark the claims of success that the conversation does not support.

    Args:
        account: The account of a model.
        messages: The original messages of the whole conversation.
        phrases: The wording of the mark.

    Returns:
        The account, and the number of marked lines.
    """
    lines = account.split("\n")
    sentences = {number: found for number, line in enumerate(lines) if (found := _sentences(line))}
    unproven = find_unproven_actions(sentences, messages) | _unproven(sentences, messages)
    for number in unproven:
        lines[number] = f"{lines[number]} {phrases.unshown}"
    return "\n".join(lines), len(unproven)


def _unproven(sentences: Mapping[int, Sequence[str]], messages: Sequence[Message]) -> set[int]:
    """Return the numbers of the lines that claim a success without evidence."""
    claims = {
        number: claimed for number, found in sentences.items() if (claimed := _claims(found))
    }
    if not claims:
        return set()
    errors = open_errors(Invocations(messages))
    if errors and not _shows_success(messages, errors):
        return set(claims)
    kinds = {kind for found in claims.values() for kind in _KINDS if _names(kind, found)}
    unproven = [kind for kind in kinds if not _has_evidence(kind, messages)]
    return {
        number for number, found in claims.items() if any(_names(kind, found) for kind in unproven)
    }


def _sentences(line: str) -> list[str]:
    """Return the sentences of a line that neither deny nor plan something."""
    if any(mark in line for mark in UNSHOWN):
        return []
    return [sentence for sentence in _END.split(line) if not _NO_CLAIM.search(sentence)]


def _claims(sentences: Iterable[str]) -> list[str]:
    """Return the sentences that claim a success."""
    return [sentence for sentence in sentences if _SUCCESS.search(sentence)]


def _names(kind: _Kind, sentences: Iterable[str]) -> bool:
    return any(kind.named.search(sentence) for sentence in sentences)


def _has_evidence(kind: _Kind, messages: Sequence[Message]) -> bool:
    """Return True if a result shows a success of this kind, or a message reports one."""
    return any(_says_success(kind, message) for message in messages) or any(
        _is_success(kind, call, result) for call, result in calls_with_results(messages)
    )


def _says_success(kind: _Kind, message: Message) -> bool:
    if message.role not in ("user", "assistant"):
        return False
    text = ends(message.text)
    if kind.named.search(text) is None:
        return False
    return any(_names(kind, _claims(_sentences(line))) for line in text.split("\n"))


def _is_success(kind: _Kind, call: ToolCall, result: ToolResult) -> bool:
    """Return True if a call may have done such work: it did not fail, or its result passed."""
    text = ends(result.text)
    if _PASSED.search(text) is not None:
        return True
    does = kind.run.search(call_text(call)[:CALL]) or kind.output.search(text)
    return does is not None and not result.is_error and not _FAILED.search(text)


def _shows_success(messages: Sequence[Message], errors: Sequence[Finding]) -> bool:
    """Return True if a result after the newest open failure reports a success and no failure."""
    newest = max(error.position for error in errors)
    return any(
        _PASSED.search(text) and not _FAILED.search(text)
        for message in messages[newest + 1 :]
        for result in message.results
        for text in (ends(result.text),)
    )
