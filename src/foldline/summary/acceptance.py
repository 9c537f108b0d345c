"""
Acceptance: a model's answer is untrusted until it has passed these checks.

They detect the known failures: no answer, an answer that was cut off, a refusal, an
error page, a placeholder or courtesies instead of an account, missing sections, an echo of the
prompt, repeated lines, and an account that is longer than allowed or than the messages that it
replaces. Imitations of the library's own marks are neutralized.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from foldline.core.asks import Ask, Reply
from foldline.frozen import frozen
from foldline.summary.cleanup import (
    is_bare,
    is_placeholder,
    neutralize,
    remove_courtesies,
    remove_repeats,
    repeats_itself,
    unwrap,
)
from foldline.summary.prompt import SummaryPrompt
from foldline.summary.templates import Template

SHORT = 600
"""Maximum characters of an answer that is checked for being only a refusal or an error."""

CHARACTERS = 40
"""Maximum characters for each token of an answer; a longer text is rejected unread."""

NEARLY = 1.25
"""Maximum ratio of the provider's to the local count for an answer that reached its limit."""

LONGER, CUTS = 1.5, 6
"""
An account up to this multiple of its limit is cut; and the maximum number of attempts to cut it.
"""

CUT, SENTENCE_ENDS = "\n[…]", (".", "!", "?", "。", "！", "？", "\n")
"""The mark where an account was cut, and the characters after which it may be cut."""

ECHO = 30
"""Minimum characters of a line of the rules that counts as an echo in an account."""

STOPPED = {
    "length": "was cut off before its end",
    "refusal": "is a refusal",
    "overflow": "was not given: the request was too long",
    "tools": "is a tool call",
}

_REFUSALS = (
    r"i(?:'|’| a)m (?:so |very )?sorry|sorry,|i apologi[sz]e|unfortunately,? i|as an ai\b",
    r"i (?:can ?not|can(?:'|’)t|won(?:'|’)t|am unable|am not able|must decline)",
    r"(?:很)?抱歉|对不起|我(?:无法|不能)|申し訳|すみません|죄송",
    r"извините|простите|к сожалению|я не могу",
    r"lo siento|no puedo|désolé|je (?:suis désolé|ne peux pas)|desculpe|não posso",
    r"es tut mir leid|ich kann (?:das |dabei |ihnen )?(?:leider )?nicht",
)
_ERRORS = (
    r"[\[{(\"']{0,3}[\w.]{0,60}(?:error|exception)[\"']?\s*[:\uff1a(]|traceback \(most",
    r"error (?:generating|while)|failed to (?:generate|create|summari)",
    r"http/?\d?[\d.]* ?[45]\d\d|[45]\d\d\b.{0,40}(?:error|limit|unavailable|forbidden|denied)",
    r"(?:error )?[45]\d\d\b.{0,40}(?:bad gateway|time-?d?.?out|not found|unauthori[sz]ed)",
    r"rate.?limit|too many requests|internal server error|service unavailable|bad gateway",
    r"gateway time-?out|no healthy upstream|upstream (?:connect|request)|just a moment\.\.\.",
    r"connection (?:error|refused|reset|timed out)|(?:the )?request timed out",
    r"(?:the )?(?:server|service|model|engine) is (?:currently |temporarily )?(?:over|un|busy)",
    r"\{\s*\"(?:detail|message|status|code|type)\"\s*:",
    r"错误[:\uff1a]|生成摘要失败",
    r".{0,200}(?:prompt is too long|too long to summari[sz]e|context_length_exceeded)",
    r".{0,200}(?:maximum context length|unable to (?:generate|create) (?:a |the )?summary)",
)
_LEADING_REFUSAL = re.compile(
    r"\s*(?:(?:i(?:'|’| a)m (?:so |very )?sorry|sorry|i apologi[sz]e|unfortunately)[,.]? )?"
    r"(?:but )?i (?:can ?not|can(?:'|’)t|won(?:'|’)t|am unable to|am not able to|must decline to) "
    r"(?:assist|help|comply|continue|engage|summari[sz]e|provide|write|create|process|fulfil+)\b"
    r"[^.!\n]{0,80}\b(?:requests?|summary|account|conversation|transcript|that|this|you)[.!]\s+|"
    r"\s*(?:很?抱歉|对不起)[^。\n]{0,20}(?:无法|不能)(?:协助|帮助|提供|完成|总结)[^。\n]{0,20}。\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(rf"\s*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)
_ERROR = re.compile(rf"\s*(?:{'|'.join(_ERRORS)})", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|center)\b", re.IGNORECASE)


@frozen
class Terms:
    """
    The requirements of an account.

    ``tokens`` is its maximum length, ``source`` the size of the messages that it replaces;
    ``count`` counts the tokens of a text. ``is_known`` returns True if digits are a handle: the
    beginning of the id of a message.
    """

    template: Template
    tokens: int
    source: int
    count: Callable[[str], int]
    is_known: Callable[[str], bool] = lambda _: False


def accept(reply: Reply, ask: Ask, prompt: SummaryPrompt, terms: Terms) -> tuple[str, str]:
    """
    Check an answer.

    Args:
        reply: The answer.
        ask: The request, for its limit.
        prompt: The prompt, to detect echoes of it.
        terms: The requirements of the account.

    Returns:
        The account and "", or "" and the problem, as the end of a sentence that begins with
        "the answer".
    """
    problem = _find_incomplete(reply, ask, terms.count)
    if problem:
        return "", problem
    try:
        text = unwrap(reply.text, terms.template)
    except ValueError as error:
        return "", f"cannot be read: {error}"
    text = _remove_refusal(remove_courtesies(text))
    account = neutralize(text, terms.is_known)
    account = cut_to_length(account, terms.tokens, terms.count)
    has_words = any(sign.isalnum() for sign in account) and not is_bare(text)
    problem = _unfit(account, prompt, terms) if has_words else "is empty"
    return ("", problem) if problem else (remove_repeats(account), "")


def cut_to_length(
    account: str, tokens: int, count: Callable[[str], int], longer: float = LONGER
) -> str:
    """
    Cut an account that is a little too long after a sentence, and mark the cut.

    Args:
        account: The account.
        tokens: Maximum length, in tokens.
        count: Counts the tokens of a text.
        longer: Maximum ratio of the length to ``tokens``; a longer account is not cut.
    """
    size = count(account)
    if not tokens < size <= longer * tokens:
        return account
    stop = len(account) * tokens // size
    for _ in range(CUTS):
        stop = max(account.rfind(end, stop // 2, stop - len(CUT)) + 1 for end in SENTENCE_ENDS)
        if not stop:
            return account
        cut = f"{account[:stop].rstrip()}{CUT}"
        if count(cut) <= tokens:
            return cut
    return account


def _find_incomplete(reply: Reply, ask: Ask, count: Callable[[str], int]) -> str:
    if reply.error or not isinstance(reply.text, str):
        return f"was not given: {reply.error or 'there is no text'}"
    if reply.stop in STOPPED:
        return STOPPED[reply.stop]
    if len(reply.text) > CHARACTERS * ask.max_tokens:
        return f"is longer than {ask.max_tokens:,} tokens"
    written = 0 if reply.usage is None else reply.usage.output
    # Reported output may include hidden reasoning: the text itself must be as long, too.
    if written >= ask.max_tokens <= NEARLY * count(reply.text):
        return STOPPED["length"]
    return "" if reply.text.strip() else "is empty"


def _remove_refusal(text: str) -> str:
    """Remove a refusal in front of an account, if the rest is too long for a mere refusal."""
    refusal = _LEADING_REFUSAL.match(text)
    rest = text[refusal.end() :] if refusal else ""
    return rest if len(rest) > SHORT else text


def _unfit(account: str, prompt: SummaryPrompt, terms: Terms) -> str:
    if len(account) <= SHORT and _REFUSAL.match(account):
        return "is a refusal"
    if _PAGE.match(account) or (len(account) <= SHORT and _ERROR.match(account)):
        return "is an error text"
    if _echoes(account, prompt):
        return "repeats the question"
    missing = [
        part for part in terms.template.sections if part.casefold() not in account.casefold()
    ]
    if missing:
        return f"lacks {', '.join(missing)}"
    if is_placeholder(account):
        return "is a placeholder"
    if repeats_itself(account):
        return "repeats itself"
    size = terms.count(account)
    if size > terms.tokens:
        return f"is longer than {terms.tokens:,} tokens: it takes {size:,}"
    return "is not shorter than what it stands for" if size >= terms.source else ""


def _echoes(account: str, prompt: SummaryPrompt) -> bool:
    rules = (line.strip() for line in prompt.system.split("\n"))
    return prompt.mark in account or any(len(r) >= ECHO and r in account for r in rules)
