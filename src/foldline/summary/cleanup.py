"""
Cleanup of a model's answer: its wrapping, courtesies, repetitions, and forgeries.

A model's text must not pass for text of this library: imitations of headings, first
lines of snapshots, marks of shortened texts, and unknown handles lose their special form, but keep
their words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from foldline.outputs.wrapping import COLOUR
from foldline.snapshot.phrases import TABLES
from foldline.strategies.stubs import CLEARED
from foldline.summary.templates import Template
from foldline.values.snapshot_mark import ATTACHMENT_HEADER, SNAPSHOT_HEADERS

_FENCED = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)
_MARKUP = re.compile(r"</?[^<>\n]{1,60}>|^#+ .*$|[\s*_`\d.:\uff1a-]+", re.MULTILINE)


def unwrap(answer: str, template: Template) -> str:
    """
    Extract the account from an answer.

    Args:
        answer: The answer of the model.
        template: The template of the prompt.

    Raises:
        ValueError: The start or end of the account is unclear; names the unclosed block.
    """
    fenced = _FENCED.match(answer)
    text = (fenced.group(1) if fenced else answer).strip()
    for tag in template.scratch:
        text = _without(text, tag, template.wrapper)
    for tag in template.wrapper:
        inner = _inside(text, tag)
        if inner is not None:
            return inner.strip()
    return text.strip()


def is_bare(account: str) -> bool:
    """Return True if an account consists only of tags, headings and numbers."""
    return not _MARKUP.sub("", account)


def _without(text: str, scratch: str, wrappers: tuple[str, ...]) -> str:
    """Remove the block for thinking, which comes first if there is one."""
    begin = re.search(rf"^[ \t]*<{scratch}>", text, re.MULTILINE)
    if begin is None or _opens_before(text, begin.start(), wrappers):
        return text
    inside = text[begin.end() :]
    for wrapper in wrappers:
        # The end tag right before the account; one that is quoted inside does not count.
        end = re.search(rf"</{scratch}>\s*(?=<{wrapper}>)", inside)
        if end is not None:
            return inside[end.end() :]
    end = re.search(rf"</{scratch}>[ \t]*$", inside, re.MULTILINE)
    end = end or re.search(rf"</{scratch}>", inside)
    if end is not None:
        return inside[end.end() :]
    if any(_is_alone(inside, wrapper) for wrapper in wrappers):
        return inside
    raise ValueError(f"the block <{scratch}> is not closed")


def _opens_before(text: str, position: int, wrappers: tuple[str, ...]) -> bool:
    starts = (re.search(rf"^[ \t]*<{tag}>", text, re.MULTILINE) for tag in wrappers)
    return any(start is not None and start.start() < position for start in starts)


def _is_alone(text: str, tag: str) -> bool:
    """Return True if exactly one line opens the tag, and the answer ends with its end tag."""
    starts = re.findall(rf"^[ \t]*<{tag}>", text, re.MULTILINE)
    return len(starts) == 1 and text.rstrip().endswith(f"</{tag}>")


def _inside(text: str, tag: str) -> str | None:
    """Return the content of a tag; None if no line begins with it."""
    begin = re.search(rf"^[ \t]*<{tag}>", text, re.MULTILINE)
    if begin is None:
        return None
    end = text.rfind(f"</{tag}>")
    if end < begin.end():
        raise ValueError(f"the block <{tag}> is not closed")
    return text[begin.end() : end]


SHORT = 200
"""Maximum characters of a line that is checked for being only a courtesy."""

CLOSING_LINES = 3
"""Number of lines at the end of an answer that are checked for courtesies."""

REPEATED = 0.5
REPEATS, UNIT = 3, 12
"""
Maximum fraction of an account that may be repeated; minimum number of repetitions, and minimum
characters of a repeated sentence: "none" may occur in every section.
"""

LONG = 40
"""Minimum characters of a repeated line that is removed: shorter ones may be "none"."""

_AGREED = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|understood|"
    r"no problem|natürlich|gerne|bien sûr|d'accord|claro|por supuesto|конечно|хорошо|"
    r"好的|当然(?:可以)?|没问题|明白了?|はい|もちろんです|承知しました|네)\s?[!,.:;。，！、\u2013\u2014]{1,3}\s{0,4}"
)
_ANNOUNCED = (
    r"(?:here(?:'|’)?s|here (?:is|are)|below is|this is|the following is|hier ist|voici|aquí está|"
    r"вот|以下|下面|这|これ)[^\n:：]{0,100}?"
    r"(?:account|summary|overview|hand-?over|zusammenfassung|résumé|resumen|сводка|отчет|"
    r"记述|总结|摘要|概要|要約|まとめ)[^\n:：.]{0,80}[:：]"
)
_OPENING = re.compile(rf"\s*(?:\*\*)?(?:{_AGREED}(?:{_ANNOUNCED})?|{_ANNOUNCED})(?:\*\*)?", re.I)
_CLOSING = re.compile(
    r"\W*(?:(?:please )?let me know\b|feel free to\b|(?:i )?hope (?:this|that) (?:helps|is)\b|"
    r"if you (?:need|want|would like|have)\b.{0,120}\b(?:let me know|just ask|feel free)\b|"
    r"is there anything else\b|would you like me to\b|do you want me to\b|lass mich wissen|"
    r"n'hésitez pas|no dudes en|дайте (?:мне )?знать|"
    r"如需|如有.{0,20}(?:请|告诉)|希望这|请告诉我|需要我)",
    re.I,
)
_RULE = re.compile(r"\s*[-*_=]{3,}\s*")
_EMPTY = (
    r"(?:todo|tbd|fixme|n/?a|none|null|nil|undefined|nan|done|ok(?:ay)?|yes|no|understood|got it|"
    r"sure|certainly|of course|placeholder|lorem ipsum.{0,150}|\[?object object\]?|"
    r"(?:(?:no|insert|your|the|add|write|put) )*(?:summary|account|content|text)"
    r"(?: goes)?(?: here| available| provided)?|"
    r"待填写|待补充|占位符?|暂?无|略|完成|好的|なし|없음|нет)"
)
_PLACEHOLDER = re.compile(rf"(?:[^:：]{{0,60}}[:：])?[^\w]{{0,10}}{_EMPTY}[^\w]{{0,10}}", re.I)
_TO_FILL_IN = re.compile(
    r"(?:[^:：]{0,60}[:：])?[^\w\[<{]{0,10}"
    r"(?:[\[<{]{1,2}\s?(?:insert|placeholder|fill|add|describe|your|todo|tbd)\b[^\]>}]{0,100}[\]>}]{1,2}|"
    r"(?:todo|tbd|fixme)\b\W{1,5}(?:write|insert|fill|add|complete|describe|summari[sz]e)\b"
    r".{0,60}\b(?:here|account|summary|section|details?|text|content))[^\w]{0,10}",
    re.I,
)
_UNITS = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")


def remove_courtesies(answer: str) -> str:
    """Remove the opening and closing courtesies of an answer."""
    text = answer.strip()
    opening = _OPENING.match(text)
    if opening is not None:
        text = text[opening.end() :].lstrip()
    lines = text.split("\n")
    for _ in range(CLOSING_LINES):
        last = lines[-1].strip() if lines else ""
        if lines and (not last or _RULE.fullmatch(last) or _is_closing(last)):
            lines.pop()
    while lines and _RULE.fullmatch(lines[0]):
        lines.pop(0)
    return "\n".join(lines).strip()


def _is_closing(line: str) -> bool:
    return len(line) <= SHORT and _CLOSING.match(line) is not None


def is_placeholder(account: str) -> bool:
    """Return True if at least half of an account is yet to be filled in, or all of it is empty."""
    lines = [line.strip() for line in account.split("\n") if line.strip()]
    to_fill_in = [line for line in lines if len(line) <= SHORT and _TO_FILL_IN.fullmatch(line)]
    others = (line for line in lines if line not in to_fill_in)
    return len(to_fill_in) * 2 >= max(1, len(lines)) or all(
        len(line) <= SHORT and _PLACEHOLDER.fullmatch(line) for line in others
    )


def repeats_itself(account: str) -> bool:
    """Return True if an account mostly repeats itself."""
    units = Counter(" ".join(unit.casefold().split()) for unit in _UNITS.split(account))
    del units[""]
    total = sum(len(unit) * count for unit, count in units.items())
    again = {unit: count - 1 for unit, count in units.items() if count > 1 and len(unit) >= UNIT}
    repeated = sum(len(unit) * count for unit, count in again.items())
    return sum(again.values()) >= REPEATS and repeated > REPEATED * total


def remove_repeats(account: str) -> str:
    """Remove repeated long lines from an account."""
    seen, lines = set[str](), list[str]()
    for line in account.split("\n"):
        if len(line) < LONG or line not in seen:
            lines.append(line)
        seen.add(line)
    return "\n".join(lines)


_MARKS = "|".join(
    re.escape(re.split("[,，]", mark[1:])[0].strip())
    for mark in (*SNAPSHOT_HEADERS, ATTACHMENT_HEADER, CLEARED)
)
_HEADING = re.compile(r"^[\s\u200c\u200d]*(?:[#\uff03]{1,6}\s+)+")
_MARK = re.compile(
    rf"\[(?=\s{{0,9}}(?:{_MARKS})|(?:…\s?)?[\d,.]{{1,15}} (?:tokens|characters)\b"
    r"[^\[\]]{0,200}?\brecall\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^[\[(]?([0-9a-f]{6,32})(?:\.\d{1,4})?(?![\w./-])")
_CITED = re.compile(
    r"\b(recall|steps?|handle) (?:([0-9a-f]{6,32})(?:\.\d{1,4})?)(?!\w)", re.IGNORECASE
)
_SPEAKER = re.compile(
    "|".join(re.escape(mark.rstrip()) for table in TABLES for mark in table.marks.values())
)

_INVISIBLE = [
    *range(32),
    *range(0x7F, 0xA0),
    0xAD,
    0x200B,
    *range(0x200E, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xE0000, 0xE0080),
]
_CONTROLS = {code: None for code in _INVISIBLE if code != ord("\t")}
"""Invisible characters: one before a heading would hide it from the patterns."""


def neutralize(account: str, is_known: Callable[[str], bool]) -> str:
    """
    Rewrite an account so that none of its lines can pass for a part of the snapshot.

    Args:
        account: The account of a model or the user.
        is_known: Returns True if hexadecimal digits begin the id of a message.

    Returns:
        The account in ordinary lines, without empty ones.
    """

    def check_handle(found: re.Match[str]) -> str:
        word, digits = found[1], found[2].lower()
        # A step of a training, a page or a plan has a number, too.
        is_number = digits.isdecimal() and word.lower() != "recall"
        return found[0] if is_number or is_known(digits) else f"{word} (no such step)"

    lines = []
    for line in COLOUR.sub("", account.encode("utf-8", "replace").decode("utf-8")).splitlines():
        bare = _HEADING.sub("", line.translate(_CONTROLS)).rstrip()
        bare = _CITED.sub(check_handle, _MARK.sub("(", bare))
        handle = _LEADING.match(bare)
        if _SPEAKER.match(bare) or (handle is not None and not is_known(handle[1])):
            bare = f"- {bare}"
        lines.append(bare)
    return "\n".join(line for line in lines if line.strip())
