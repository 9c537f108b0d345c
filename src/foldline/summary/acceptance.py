"""
Acceptance: a model's answer is untrusted until it has passed here.

It is looked at for what is known to go wrong: no answer, an answer that was cut off, a refusal, an
error page, a placeholder or courtesies in place of an account, missing sections, an echo of the
question, a line over and over again, and an account that is longer than it may be or than what it
stands for. What could pass for the library's own marks is made harmless.
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
    repeats_itself,
    unwrap,
    without_courtesies,
    without_repeats,
)
from foldline.summary.prompt import SummaryPrompt
from foldline.summary.templates import Template

SHORT = 600
"""Characters up to which an answer may be nothing but a refusal or an error text."""

CHARACTERS = 40
"""Characters for each token of an answer; a longer text is not even looked at."""

NEARLY = 1.25
"""An answer that reached its cap by the provider's count does so within this factor by ours."""

LONGER, CUTS = 1.5, 6
"""
An account up to so many times as long as it may be is cut, and how often a shorter one is tried.
"""

CUT, SENTENCE_ENDS = "\n[…]", (".", "!", "?", "。", "！", "？", "\n")
"""What stands where an account was cut, and behind what."""

ECHO = 30
"""Characters of a line of the rules that no account has by chance."""

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
_REFUSAL = re.compile(rf"\s*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)
_ERROR = re.compile(rf"\s*(?:{'|'.join(_ERRORS)})", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|center)\b", re.IGNORECASE)


@frozen
class Terms:
    """
    What an account must be.

    ``tokens`` is its greatest length, ``source`` the size of what it stands for; ``count`` counts
    the tokens of a text. ``is_known`` says whether digits are a handle: the beginning of the id of
    a message.
    """

    template: Template
    tokens: int
    source: int
    count: Callable[[str], int]
    is_known: Callable[[str], bool] = lambda _: False


def accept(reply: Reply, ask: Ask, prompt: SummaryPrompt, terms: Terms) -> tuple[str, str]:
    """
    Judge an answer.

    Args:
        reply: The answer.
        ask: What was asked, for its cap.
        prompt: What was said, for echoes of it.
        terms: What the account must be.

    Returns:
        The account and "", or "" and what is wrong with the answer, as the end of a sentence that
        begins with "the answer".
    """
    problem = _find_incomplete(reply, ask, terms.count)
    if problem:
        return "", problem
    try:
        text = unwrap(reply.text, terms.template)
    except ValueError as error:
        return "", f"cannot be read: {error}"
    text = without_courtesies(text)
    account = neutralize(text, terms.is_known)
    account = within(account, terms.tokens, terms.count)
    has_words = any(sign.isalnum() for sign in account) and not is_bare(text)
    problem = _unfit(account, prompt, terms) if has_words else "is empty"
    return ("", problem) if problem else (without_repeats(account), "")


def within(account: str, tokens: int, count: Callable[[str], int], longer: float = LONGER) -> str:
    """
    Cut an account that is a little too long behind a sentence, and say so.

    Args:
        account: The account.
        tokens: How long it may be, in tokens.
        count: Counts the tokens of a text.
        longer: What counts as a little: at most so many times as long as it may be.
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
    # Reported output may hold reasoning that is not shown: the text itself must be as long, too.
    if written >= ask.max_tokens <= NEARLY * count(reply.text):
        return STOPPED["length"]
    return "" if reply.text.strip() else "is empty"


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
