"""What the linter of prompts looks for, in English and Chinese, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

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

CONDITION: Final = re.compile(
    r"\b(?:if|when|whenever|unless|in case|otherwise|else)\b"
    r"|如果|若|假如|当.{1,30}时|否则|的情况下",
    re.I,
)

HARD_LITERAL: Final = re.compile(
    r"https?://\S+|(?<![\w/])/(?:home|Users|var|opt|etc|tmp|srv)/\S+|[A-Z]:\\\S+"
    r"|\b20\d\d-\d\d-\d\d\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|20\d\d年\d{1,2}月|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
)

SHOUTED: Final = re.compile(
    r"\b(?:NEVER|ALWAYS|MUST|IMPORTANT|CRITICAL|DO NOT|WARNING)\b|!{2,}|！{2,}"
)

VAGUE: Final = re.compile(
    r"\b(?:be helpful|be good|do your best|as needed|as appropriate|when appropriate|appropriately"
    r"|high[- ]quality|good quality|best practices?|reasonabl[ey]|properly|nicely|user[- ]friendly"
    r"|as best (?:as )?you can|be smart|be careful|think carefully|make sense|and so on|etc)\b"
    r"|尽量|尽力|适当|合理|高质量|认真|仔细|酌情|妥善|友好|专业地|有帮助|等等|最佳实践",
    re.I,
)

CONCRETE: Final = re.compile(
    r"\d|`[^`]+`|\b(?:for example|e\.g\.|such as|namely|that is|json|xml|markdown|table|list)\b"
    r"|例如|比如|即|[:：]\s*\S|\"[^\"]+\"|“[^”]+”",
    re.I,
)

ORDERS: Final = re.compile(
    r"\b(?:always|never|must|shall|should|do not|don'?t|only|avoid|use|required|forbidden"
    r"|ensure)\b"
    r"|必须|禁止|不要|不得|只能|务必|总是|始终|应该|应当|切勿|严禁|绝不|请",
    re.I,
)

FORBIDS: Final = re.compile(
    r"\b(?:never|do not|don'?t|must not|cannot|avoid|no longer|without)\b"
    r"|不要|禁止|不得|不能|切勿|严禁|避免|绝不",
    re.I,
)

ROLE: Final = re.compile(
    r"\b(?:you are|you're|act as|your role|your job|as an? \w+"
    r"|you (?:help|review|write|answer|maintain|act))\b"
    r"|你是|您是|扮演|作为|你的(?:角色|职责|任务)|<role|# ?role",
    re.I,
)

OUTPUT: Final = re.compile(
    r"\b(?:output|respond|reply|answer|return|format|json|markdown|xml|bullet|sentences?|words|summar\w+"
    r"|write|report)\b|输出|回答|回复|格式|返回|字以内|列出|给出|报告",
    re.I,
)


def _pair(left: str, right: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(left, re.I), re.compile(right, re.I)


OPPOSITES: Final = (
    _pair(
        r"\b(?:be (?:brief|concise|short)|briefly|keep .{0,30}(?:short|brief)|in one sentence)\b"
        r"|简短|简洁|精简|一句话",
        r"\b(?:in detail|detailed|thorough(?:ly)?|comprehensive(?:ly)?|exhaustive(?:ly)?"
        r"|long answers?)\b|详细|详尽|全面展开",
    ),
    _pair(r"\bformal(?:ly)?\b|正式", r"\b(?:casual(?:ly)?|informal(?:ly)?|chatty)\b|口语|随意"),
    _pair(
        r"\b(?:answer|respond|reply|write) (?:only )?in english\b|用英文|使用英语|英语回答",
        r"\b(?:answer|respond|reply|write) (?:only )?in chinese\b|用中文|使用中文|中文回答",
    ),
    _pair(
        r"\b(?:only|always|valid|in|as) json\b|只.{0,6}json|json ?格式",
        r"\b(?:in|as|use|always) markdown\b|(?:使用|用) ?markdown|markdown ?格式",
    ),
    _pair(
        r"\b(?:ask (?:the user )?(?:first|before|for (?:confirmation|permission)))\b"
        r"|先.{0,6}(?:询问|确认)",
        r"\b(?:without asking|never ask|do not ask|don'?t ask)\b|不要询问|无需确认|不必询问",
    ),
)
"""Pairs of wishes that exclude each other."""

EXAMPLES: Final[Mapping[Rule, tuple[str, str]]] = {
    "conditions": (
        (
            "A program in prose: each new case needs another branch, and the model "
            "weighs them all at every step."
        ),
        (
            "Say the principle and two typical examples; put the cases into a tool or "
            "into code. Instead of 'If the file is .py … if it is .js …': 'Follow the "
            "style of the file you edit.'"
        ),
    ),
    "literal": (
        ("A value that changes elsewhere: it will be wrong one day, and nobody will look here."),
        (
            "Fill it in when the prompt is built, or give a tool that returns it: "
            "'Deploy to the host that get_target() names.'"
        ),
    ),
    "shouting": (
        "Where everything is important nothing is: emphasis is spent.",
        (
            "Say each rule once and plainly, with its reason: 'Write no secrets into "
            "logs, because logs are public.'"
        ),
    ),
    "vague": (
        "Nobody could check it, so it changes nothing.",
        (
            "Say what can be seen: instead of 'Give high-quality answers' write 'Name "
            "the file and the line for every claim; say so if you did not look.'"
        ),
    ),
    "twice": (
        ("It is said before: it costs tokens, and one of the two will be changed alone."),
        "Keep the clearer of the two.",
    ),
    "contradiction": (
        ("Two rules that cannot both be kept: which one wins changes from call to call."),
        ("Say which rule holds when: 'One sentence; in detail only if the user asks why.'"),
    ),
    "no role": (
        "Nothing says who is speaking, for whom, to what end.",
        ("Begin with one sentence: 'You review Python changes for a team that ships daily.'"),
    ),
    "no output": (
        "Nothing says what an answer looks like.",
        (
            "Say its form, and when it is done: 'Answer with a list of findings, the "
            "worst first, each with file:line; an empty list if there are none.'"
        ),
    ),
    "no sections": (
        "A long text without parts: rules, tools and examples run into each other.",
        "Divide it: # Role, # Rules, # Tools, # Output, or <rules>…</rules>.",
    ),
}
"""By rule: why it matters, and what to do instead."""
