"""
The chooser: which way of shortening a text loses least.

One pure function, one table (docs/context.md shows it, a test compares the two):

| first row that holds | method | because |
|---|---|---|
| it fits | keep | nothing is lost |
| its shorter form was sent before, fits and answers as well | repeat | the prompt cache holds it |
| less than 40 tokens of room | truncate | nothing else says anything in so little |
| a conversation in which no word of the query stands | window | what was said last counts |
| any other conversation | mixed | the last words, and what answers from before them |
| at most a tenth is too much | truncate | it loses little, costs nothing and invents nothing |
| it is code, data or a log with words of the query | excerpt | names and numbers as they stand |
| any other code, data or log | mixed | the end, and what stands out before it |
| long prose, less than half of it fits, a model is at hand | summary | other words will do |
| prose in which a word of the query stands | excerpt | sentences that answer the query |
| any other prose | truncate | nothing tells which sentences matter |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.context.packets import ContextPacket

Kind: TypeAlias = Literal["conversation", "log", "code", "data", "prose"]
Method: TypeAlias = Literal["keep", "repeat", "truncate", "window", "mixed", "excerpt", "summary"]

LITTLE_ROOM: Final = 40
"""Tokens in which only a cut end can be shown."""

LITTLE_LOSS: Final = 0.1
"""Fraction that may be cut off without looking for what it says."""

LEAST_SUMMARY: Final = 800
"""Tokens from which on the seconds and the price of a summary are worth it."""

SUMMARY_SHARE: Final = 0.5
"""Where more than this fraction fits, sentences as they stand keep more than other words."""

SAMPLE: Final = 20_000
"""Characters by which the kind of a text is told."""

KIND_OF_TYPE: Final[dict[str, Kind]] = {
    "conversation": "conversation",
    "conversation_summary": "conversation",
    "log": "log",
    "tool_result": "log",
    "terminal": "log",
    "code": "code",
    "code_structure": "data",
    "references": "data",
    "table": "data",
}

_TURN: Final = re.compile(
    r"^(?:user|assistant|system|human|ai|tool|用户|助手)\s*[:：]", re.I | re.M
)
_LOGGED: Final = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b)",
    re.M,
)
_CODED: Final = re.compile(
    r"^\s*(?:def |class |import |from \S+ import |return\b|if .*:$|for .*:$|function |const |let |"
    r"var |public |private |func |fn |#include|@\w+|[\w.]+\(.*\)[;:]?$|.*[{};]$)",
    re.M,
)
_DATA: Final = re.compile(r'^\s*(?:[\[{].*|"[^"]+"\s*:.*|[^,\t\n]*(?:[,\t|][^,\t\n]*){3,})$', re.M)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A method, and why it is that one."""

    method: Method
    because: str


def choose(
    kind: Kind,
    tokens: int,
    room: int,
    *,
    asked: bool = True,
    repeated: bool = False,
    model: bool = False,
) -> Chosen:
    """
    Choose how to shorten a text; see the table of this module.

    Args:
        kind: What sort of text it is.
        tokens: What it takes.
        room: What it may take, in tokens.
        asked: Whether words of the query stand in it.
        repeated: Whether a shorter form of it was sent before that fits now, and holds what is
            asked.
        model: Whether a model is at hand that can read it whole.
    """
    if tokens <= room:
        return Chosen("keep", "it fits")
    if repeated:
        return Chosen("repeat", "the prompt cache holds its shorter form")
    if room < LITTLE_ROOM:
        return Chosen("truncate", "there is hardly room")
    if kind == "conversation":
        if not asked:
            return Chosen("window", "what was said last counts")
        return Chosen("mixed", "the last words, and what answers from before")
    if tokens - room <= LITTLE_LOSS * tokens:
        return Chosen("truncate", "little is lost")
    if kind != "prose":
        if asked:
            return Chosen("excerpt", f"{kind} is needed letter by letter")
        return Chosen("mixed", "the end, and what stands out before it")
    return _for_prose(tokens, room, asked, model)


def _for_prose(tokens: int, room: int, asked: bool, model: bool) -> Chosen:
    if model and tokens >= LEAST_SUMMARY and room < SUMMARY_SHARE * tokens:
        return Chosen("summary", "other words will do")
    if asked:
        return Chosen("excerpt", "sentences that answer the query")
    return Chosen("truncate", "nothing tells which sentences matter")


def kind_of(packet: ContextPacket) -> Kind:
    """Tell what sort of text a packet holds: by its type, else by the look of its lines."""
    known = KIND_OF_TYPE.get(packet.type)
    if known is not None:
        return known
    text = packet.content[:SAMPLE]
    lines = sum(1 for line in text.split("\n") if line.strip()) or 1
    for kind, look in _LOOKS:
        if len(look.findall(text)) >= (2 if kind == "conversation" else 0.4 * lines) and lines > 2:
            return kind
    return "prose"


_LOOKS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("log", _LOGGED),
    ("conversation", _TURN),
    ("data", _DATA),
    ("code", _CODED),
)
