"""
Actions: commits, pushes and deployments that an account claims.

The evidence of an action is a call that does it, a result that reports it, or a message that
mentions it. Without evidence a claim is unproven, and so is a commit whose hash occurs nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from foldline.frozen import frozen
from foldline.snapshot.phrases import TABLES
from foldline.values.groups import pair
from foldline.values.messages import Message, ToolCall, ToolResult, visible_texts
from foldline.values.part_text import call_text

UNSHOWN = tuple(table.unshown for table in TABLES)
"""The mark after a claim without evidence, in every language."""

READ = 100_000
"""Characters of a text that are examined, half of them at its end."""

CALL = 4_000
"""Characters of a call that are examined."""

BEFORE = 40
"""Characters before a mention that are examined for a negation."""


@frozen
class _Action:
    """
    A kind of action.

    ``claimed`` matches a sentence of an account, ``mentioned`` words of the user or the agent,
    ``run`` a call that does it, and ``output`` a result that reports it.
    """

    claimed: re.Pattern[str]
    mentioned: re.Pattern[str]
    run: re.Pattern[str]
    output: re.Pattern[str]


def _action(claimed: str, mentioned: str, run: str, output: str) -> _Action:
    flags = re.IGNORECASE | re.MULTILINE
    return _Action(*(re.compile(text, flags) for text in (claimed, mentioned, run, output)))


_WORK = (
    r"(?:changes?|work|fix(?:es)?|files?|code|everything|edits?|patch(?:es)?|refactor\w*|tests?)"
)
_WAS = r"(?:is|are|was|were|been|got)(?: (?:all|both|also|then|now|successfully)){0,2}"
_HASH = r"[0-9a-f]{7,40}\b"
_REMOTE = (
    r"(?:origin|upstream|github|gitlab|main|master|the (?:\w+ )?(?:remote|branch|repo\w*|fork))\b"
)

_COMMIT = _action(
    rf"\bcommitted (?:(?:it|this|them|locally) )?(?:(?:as|in|at) )?(?:commit )?\W?{_HASH}|"
    rf"\b{_WORK} (?:[^\s.]+ ){{0,4}}?{_WAS} committed\b|"
    rf"\bcommitted (?:(?:all|both|the|these|those|my|its) ){{1,2}}{_WORK}|"
    r"\bcommitted and pushed\b|(?:代码|更改|修改|改动|变更)[^。\n]{0,8}提交",
    rf"\bcommit(?:ted|s)\b|\bcommit \W?{_HASH}|提交",
    r"commit|\bgit (?:am|merge|cherry-pick|revert|rebase)\b|\bgh pr\b|提交",
    rf"^\[[^\]\n]{{1,90}} {_HASH}\]|\bcommit {_HASH}|working tree clean|提交",
)
_PUSH = _action(
    rf"\bpushed (?:(?!to\b|on\b)[^\s.]+ ){{0,4}}?(?:to|on) \W?{_REMOTE}|"
    rf"\b(?:committed and|{_WORK}|branch|commits?|tags?) {_WAS} pushed\b|\bcommitted and pushed\b|"
    r"(?:代码|更改|修改|改动|变更)[^。\n]{0,8}推送",
    r"\bpush(?:ed|es)\b|推送",
    r"push(?!\s?\()|\bgh (?:pr|repo|release)\b|推送",
    rf"\[new (?:branch|tag)\]|\b[0-9a-f]{{7,40}}\.\.{_HASH}|up[- ]to[- ]date|推送",
)
_DEPLOYMENT = _action(
    r"\b(?:was|were|been|got|now|successfully) (?:\w+ ){0,2}?(?:re)?deployed\b|"
    r"\bdeployed (?:[^\s.]+ ){0,5}?(?:successfully|to (?:\w+ )?(?:prod\w*|staging|live))\b|"
    r"\bdeploy(?:ment|ed)? (?:was |is |has )?(?:succe\w+|live|completed?|done)\b|"
    r"\bpublished to (?:the )?(?:npm|pypi|crates|docker hub)|部署[^。\n]{0,6}成功",
    r"\bdeployed\b|\bdeployment (?:is|was|has|went|succe)|\brolled out\b|"
    r"\b(?:is|went|now) live\b|\bpublished\b|部署",
    r"deploy|kubectl|helm|terraform|ansible|docker|rsync|\b(?:scp|ssh|aws|gcloud|az|fly|heroku)\b|"
    r"vercel|netlify|systemctl|publish|twine|release|push(?!\s?\()|部署",
    r"deploy|rolled out|\blive\b|\bpublished\b|部署",
)
_ACTIONS = (_COMMIT, _PUSH, _DEPLOYMENT)

_COMMIT_HASH = re.compile(
    r"\b(?:committed (?:\w+ )?(?:as|in|at)|committed|commit) (?:commit )?\W?([0-9a-f]{7,40})\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|until|unless|before|if|should|must|needs?|wants?|to be)\b|n't\b|"
    r"未|没|不|待|尚)[^.,;\n]*$",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|errors?|failures?)\b|\bFAIL(?:ED|URE)?\b|Traceback|^(?:fatal|error):|"
    r"\brejected\b|nothing to commit|command not found|permission denied|失败",
    re.MULTILINE,
)


def find_unproven_actions(
    sentences: Mapping[int, Sequence[str]], messages: Sequence[Message]
) -> set[int]:
    """
    Return the numbers of the lines that claim an action without evidence.

    Args:
        sentences: The sentences of an account by the number of their line, without denials.
        messages: The original messages of the whole conversation.
    """
    claims = {
        (number, action, sentence)
        for number, found in sentences.items()
        for sentence in found
        for action in _ACTIONS
        if action.claimed.search(sentence)
    }
    if not claims:
        return set()
    hashes = {found.lower() for _, _, text in claims for found in _COMMIT_HASH.findall(text)}
    unknown = {one for one in hashes if not _occurs(one, messages)}
    calls = list(calls_with_results(messages))
    actions = {action for _, action, _ in claims}
    proven = {action for action in actions if _has_evidence(action, messages, calls)}
    if hashes - unknown:
        proven.add(_COMMIT)
    return {
        number
        for number, action, sentence in claims
        if action not in proven
        or any(found.lower() in unknown for found in _COMMIT_HASH.findall(sentence))
    }


def calls_with_results(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """Yield every call that has a result, with it."""
    for call_site, result_site in pair(messages).answers.items():
        call = messages[call_site.message].parts[call_site.part]
        result = messages[result_site.message].parts[result_site.part]
        if isinstance(call, ToolCall) and isinstance(result, ToolResult):
            yield call, result


def ends(text: str) -> str:
    """Return the beginning and the end of a text that is too long to be examined whole."""
    return text if len(text) <= READ else f"{text[: READ // 2]}\n{text[-READ // 2 :]}"


def _occurs(commit: str, messages: Iterable[Message]) -> bool:
    """Return True if a hash occurs in a text, or is the handle of a message."""
    return any(
        message.id.startswith(commit)
        or any(commit in _unmarked(text).lower() for text in visible_texts(message))
        for message in messages
    )


def _has_evidence(
    action: _Action,
    messages: Iterable[Message],
    calls: Iterable[tuple[ToolCall, ToolResult]],
) -> bool:
    """Return True if a message mentions an action, or a call does it."""
    return any(_mentions(action, message) for message in messages) or any(
        _does(action, call, result) for call, result in calls
    )


def _mentions(action: _Action, message: Message) -> bool:
    if message.role not in ("user", "assistant"):
        return False
    text = _unmarked(ends(message.text))
    return any(
        _DENIED.search(text[max(0, found.start() - BEFORE) : found.start()]) is None
        for found in action.mentioned.finditer(text)
    )


def _does(action: _Action, call: ToolCall, result: ToolResult) -> bool:
    text = ends(result.text)
    if action.output.search(text) is not None:
        return not result.is_error or action is not _DEPLOYMENT
    runs = action.run.search(call_text(call)[:CALL])
    return runs is not None and not result.is_error and _FAILED.search(text) is None


def _unmarked(text: str) -> str:
    """Return a text without the lines of an earlier account that are marked as unproven."""
    if not any(mark in text for mark in UNSHOWN):
        return text
    return "\n".join(
        line for line in text.split("\n") if not any(mark in line for mark in UNSHOWN)
    )
