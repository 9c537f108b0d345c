"""Boilerplate: what a model writes around an account, in its place, or over and over again."""

from __future__ import annotations

import re
from collections import Counter

SHORT = 200
"""Characters up to which a line may be nothing but courtesy."""

CLOSING_LINES = 3
"""Lines at the end of an answer that are looked at for courtesy."""

REPEATED = 0.5
REPEATS, UNIT = 3, 12
"""
Fraction of an account that may say what was said before; how often at least it has to, and in
sentences of how many characters at least: "none" may come in every section.
"""

LONG = 40
"""Characters from which on a line that comes again is left out: it is no "none" of a section."""

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
_UNITS = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")


def without_courtesies(answer: str) -> str:
    """Take off how an answer begins and ends when it talks to somebody."""
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
    """Return True if no line of an account says anything."""
    lines = [line.strip() for line in account.split("\n") if line.strip()]
    return all(len(line) <= SHORT and _PLACEHOLDER.fullmatch(line) for line in lines)


def repeats_itself(account: str) -> bool:
    """Return True if an account says mostly what it has said before."""
    units = Counter(" ".join(unit.casefold().split()) for unit in _UNITS.split(account))
    del units[""]
    total = sum(len(unit) * count for unit, count in units.items())
    again = {unit: count - 1 for unit, count in units.items() if count > 1 and len(unit) >= UNIT}
    repeated = sum(len(unit) * count for unit, count in again.items())
    return sum(again.values()) >= REPEATS and repeated > REPEATED * total


def without_repeats(account: str) -> str:
    """Leave out the long lines of an account that it has already."""
    seen, lines = set[str](), list[str]()
    for line in account.split("\n"):
        if len(line) < LONG or line not in seen:
            lines.append(line)
        seen.add(line)
    return "\n".join(lines)
