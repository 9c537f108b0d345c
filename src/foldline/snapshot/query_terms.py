"""Focus: what the caller wants to be kept above all, as words to look for in a line."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, Self, TypeAlias

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.relevance.names import items, words

LONGEST_FOCUS = 2_000
"""Characters of a focus that are looked at."""

NAME_VALUE, WORD_VALUE = 1.0, 0.34
"""What a name, and what an ordinary word of the focus, counts where a line has it."""

WEIGHT, BASE = 6.0, 0.38
"""How much more a line is worth that has all of the focus, by factor and by addition."""

COMMON = frozenset(
    str.split(
        "about above all also and any are but can details everything from for has have her "
        "his into its keep make may must not only our out please remember said say she should "
        "that the their them then there these they this those use was were what when where which "
        "who will with you your"
    )
)
"""Words that say nothing about what is meant."""

_EAST_ASIAN_RUN = lazy_pattern("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")


@frozen
class Focus:
    """Names, ordinary words in lower case, and pairs of East Asian characters to look for."""

    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    pairs: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a focus."""
        text = text[:LONGEST_FOCUS]
        names = frozenset(items(text))
        plain = frozenset(words(text)) - COMMON
        return cls(names, plain, frozenset(_pairs(text)))

    def __bool__(self) -> bool:
        return bool(self.names or self.words or self.pairs)

    def match(self, line: str) -> float:
        """Return how much of the focus a line has, from 0 to 1."""
        found = NAME_VALUE * len(self.names & items(line).keys()) if self.names else 0.0
        if self.words:
            found += WORD_VALUE * len(self.words & words(line))
        if self.pairs:
            found += WORD_VALUE * len(self.pairs & set(_pairs(line)))
        return min(1.0, found)

    def matches(self, lines: Sequence[str]) -> dict[int, float]:
        """Return how much of the focus the lines have that have any, by position."""
        found = ((position, self.match(line)) for position, line in enumerate(lines))
        return {position: match for position, match in found if match}


def _pairs(text: str) -> list[str]:
    runs = [] if text.isascii() else _EAST_ASIAN_RUN.findall(text)
    return [run[start : start + 2] for run in runs for start in range(len(run) - 1)]


Want: TypeAlias = Literal["first", "last", "failure", "count", "rare"]

LONGEST = 3_000
"""Characters at each end of a question that are looked at."""

SHORT = 400
"""Characters up to which a text is a question as a whole."""

SENTENCE = 400
"""Characters of a question in a text, at most: the last of its sentence."""

POINTED = 14
"""Terms up to which a text is a question that points at something; a longer one tells a task."""

QUOTED, NAMED, PHRASE, WORD = 3.0, 3.0, 2.0, 1.0
"""Weight of what is quoted, of names and numbers, of words in a row, and of a word."""

PLAIN = COMMON | frozenset(
    str.split(
        "after again answer before been between can could did does done each entry error errors "
        "every exact exactly figure file find first full get give given had happened has have "
        "help here how id its just last latest line lines list log look many message name named "
        "need number one only output print question read record records report result results row "
        "rows run says see show some tell test tests text than thing tool use used using value "
        "want you you're"
    )
)
"""Words of questions that say nothing about the answer's words."""

_SENTENCE = lazy_pattern(r"([^.!?。！？\n]++)([?？]?)")
_QUOTED = lazy_pattern(r"[\"“「『`']([^\"“”「」『』`'\n]{2,120})[\"”」』`']")
_NAMED = lazy_pattern(r"[#$@]?[A-Za-z0-9][\w./@:+#%-]*\w|#\w+|\d", re.ASCII)
_ABBREVIATED = lazy_pattern(r"(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,39}")
_CAPITALS = lazy_pattern(r"\b[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+){1,4}")
_WORD = lazy_pattern(r"[^\W\d_][\w'-]{2,}")
_EAST_ASIAN = lazy_pattern("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,40}")
_ENDING = lazy_pattern(r"(?:ations?|ings?|ed|es|s|ly)$")
_AT_LINE = lazy_pattern(
    r"(?i:\bline|\brow|\bentry)\s*+(?:number|no\.?|#)?\s*+(\d{1,7})\b"
    r"|第\s*+(\d{1,7})\s*+[行条个]"
)
_LAST = r"last|latest|final(?:ly)?|newest|most recent(?:ly)?|end(?:s|ed)?|bottom"
_FIRST = r"first|initial(?:ly)?|earliest|oldest|begin\w*|start\w*|top"
_FAILURE = (
    r"err\w*|fail\w*|exception\w*|crash\w*|broke\w*|wrong|traceback|panic\w*|problems?|issues?"
    r"|pass(?:ed)?|succe\w+"
)
_COUNT = r"how many|how much|count|total|number of|sum|summary|percent\w*"
_RARE = (
    r"rare|unusual|odd|strange|anomal\w+|outlier\w*|unexpected|weird|unique|different|suspicious"
    r"|abnormal|only once|look like"
)
_WANTS: dict[Want, re.Pattern[str]] = {
    "last": lazy_pattern(rf"(?i)\b(?:{_LAST})\b|最后|最新|最近|末|结尾"),
    "first": lazy_pattern(rf"(?i)\b(?:{_FIRST})\b|第一|首|最早|最先|开头|开始"),
    "failure": lazy_pattern(rf"(?i)\b(?:{_FAILURE})\b|错误|失败|异常|报错|出错|崩溃|问题"),
    "count": lazy_pattern(rf"(?i)\b(?:{_COUNT})\b|多少|几个|几条|总数|总共|一共|合计|统计"),
    "rare": lazy_pattern(rf"(?i)\b(?:{_RARE})\b|异常|罕见|奇怪|不同|可疑|唯一|不寻常"),
}


class Term(NamedTuple):
    """A word or phrase in lower case; ``whole`` unless it may also begin a longer word."""

    text: str
    weight: float
    whole: bool
    is_name: bool = False


def near(text: str) -> str:
    """Return what is looked at of a text: its ends, where it is very long."""
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"


def questions(text: str) -> str:
    """Return the questions in a text; a short one is a question as a whole."""
    if len(text) <= SHORT:
        return text
    pairs = [(words, mark) for words, mark in _SENTENCE.findall(text) if mark and len(words) >= 3]
    return " ".join(words[-SENTENCE:] + mark for words, mark in pairs)


def wants(text: str) -> frozenset[Want]:
    """Return the places that a text asks for."""
    return frozenset(want for want, pattern in _WANTS.items() if pattern.search(text))


def line_numbers(text: str) -> frozenset[int]:
    """Return the numbers of lines that a text names, counted from 1."""
    return frozenset(int(english or chinese) for english, chinese in _AT_LINE.findall(text))


def pointing(text: str) -> Iterator[Term]:
    """Yield the terms of a text, with the less weight the more there are."""
    found: dict[str, Term] = {}
    for term in terms(text):
        known = found.get(term.text)
        if known is None or known.weight < term.weight:
            found[term.text] = term
    words = sum(term.weight == WORD for term in found.values())
    many = max(words, sum(term.is_name for term in found.values()))
    share = min(1.0, POINTED / max(1, many)) ** 1.5
    return (term._replace(weight=term.weight * share) for term in found.values())


def terms(text: str) -> Iterator[Term]:
    """Yield the terms of a text, some of them more than once."""
    for match in _QUOTED.finditer(text):
        if quoted := match.group(1).strip().lower():
            yield Term(quoted, QUOTED, False, True)
    for match in _NAMED.finditer(text):
        yield from _names(match.group().rstrip(".:"))
    for match in _CAPITALS.finditer(text):
        yield Term(" ".join(match.group().lower().split()), PHRASE, True)
    words = [word.lower() for word in _WORD.findall(text)]
    for first, second in pairwise(words):
        if first not in PLAIN and second not in PLAIN:
            yield Term(f"{first} {second}", PHRASE, False)
    for word in words:
        if word not in PLAIN:
            yield from _forms(word)
    for run in () if text.isascii() else _EAST_ASIAN.findall(text):
        yield from _east_asian(run)


def _names(word: str) -> Iterator[Term]:
    if not _is_name(word):
        return
    yield Term(word.lower(), NAMED, not _ABBREVIATED.fullmatch(word), True)
    bare = word.lstrip("#$@")
    if bare != word and len(bare) > 1:
        yield Term(bare.lower(), NAMED * 0.8, True, True)


def _forms(word: str) -> Iterator[Term]:
    """Yield a word, and what it begins with where it has an ending."""
    yield Term(word, WORD, True)
    stem = _ENDING.sub("", word)
    if len(stem) >= 4:
        yield Term(stem, WORD * 0.7, False)


def _is_name(word: str) -> bool:
    """Tell whether a word is a name or a number, not an ordinary word."""
    inner = word[1:]
    if word.isalpha() and inner.islower():
        return False  # as most words are
    return (
        (any(c.isdigit() for c in word) and len(word) > 2)
        or any(c in "_/@.:#+" for c in inner)
        or word[:1] in "#$@"
        or (any(c.isupper() for c in inner) and not (word.isalpha() and len(word) <= 4))
    )


def _east_asian(run: str) -> Iterator[Term]:
    """Cut a run of characters without spaces into pieces that may be words."""
    for size, weight in ((4, PHRASE), (3, WORD * 1.2), (2, WORD * 0.6)):
        for start in range(len(run) - size + 1):
            yield Term(run[start : start + size], weight, False)
