"""
English words brought to their stems: Martin Porter's second algorithm, and forms no rule knows.

The algorithm is that of snowballstem.org/algorithms/english ("Porter2"). It is written here rather
than taken from a package, so that the terms of a store never depend on what is installed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VOWEL: Final = "aeiouy"
_REGION: Final = re.compile(r"[aeiouy][^aeiouy]")
_SHORT_START: Final = re.compile(r"(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)")
_SHORT_END: Final = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|^past)$")
_DOUBLED: Final = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

_UNCHANGED_WORDS: Final = """
sky news howe atlas cosmos bias andes inning outing canning herring earring proceed exceed
succeed
"""
_UNCHANGED: Final = frozenset(_UNCHANGED_WORDS.split())
_SPECIAL: Final = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli",
    "early": "earli", "only": "onli", "singly": "singl",
    "dying": "die", "lying": "lie", "tying": "tie",
    "innings": "inning", "outings": "outing", "cannings": "canning", "herrings": "herring",
    "earrings": "earring", "evening": "evening", "evenings": "evening",
}  # fmt: skip

_STEP_2: Final = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"),
    ("iveness", "ive"), ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"),
    ("entli", "ent"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("ousli", "ous"),
    ("iviti", "ive"), ("fulli", "ful"), ("ogist", "og"), ("enci", "ence"), ("anci", "ance"),
    ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble"),
    ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP_3: Final = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"),
    ("ative", ""), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4: Final = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic",
)  # fmt: skip

_FORMS: Final = """
arise arose arisen|beat beaten|become became|begin began begun|bend bent|bite bit bitten
bleed bled|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|come came|creep crept|deal dealt|dig dug|draw drew drawn
dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed
feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go goes went gone|grow grew grown|hang hung
hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led
leap leapt|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant
meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank
sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent
spin spun|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|win won
wind wound|write wrote written|child children|foot feet|goose geese|man men|mouse mice
person people|tooth teeth|wife wives|woman women|life lives|knife knives|leaf leaves|shelf shelves
mother mom mum mommy|father dad daddy|grandmother grandma|grandfather grandpa|photo photograph
index indices|vertex vertices|matrix matrices|analysis analyses|hypothesis hypotheses
good better best|bad worse worst|far further furthest
"""

IRREGULAR: Final = {
    form: row[0]
    for line in _FORMS.strip().splitlines()
    for row in (group.split() for group in line.split("|"))
    for form in row[1:]
}
"""Forms that no rule brings to their word; and short words for relatives, which people mix."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """
    Return the stem of an English word.

    Args:
        word: In lower case; one with other letters than a to z comes back as it is.
    """
    word = IRREGULAR.get(word, word)
    if len(word) <= 2 or not (word.isascii() and word.isalpha()) or word in _UNCHANGED:
        return word
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = re.sub(r"^y|(?<=[aeiouy])y", "Y", word)
    first = _first_region(word)
    second = _region(word, first)
    word = _step_1b(_step_1a(word), first)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWEL:
        word = word[:-1] + "i"
    word = _step_2(word, first)
    word = _step_3(word, first, second)
    return _step_5(_step_4(word, second), first, second).lower()


def _region(word: str, start: int) -> int:
    found = _REGION.search(word, start)
    return found.end() if found else len(word)


def _first_region(word: str) -> int:
    special = _SHORT_START.match(word)
    return special.end() if special else _region(word, 0)


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")) or not word.endswith("s"):
        return word
    return word[:-1] if any(letter in _VOWEL for letter in word[:-2]) else word


def _step_1b(word: str, first: int) -> str:
    for end in ("eedly", "eed"):
        rest = word.removesuffix(end)
        if rest != word:
            drops = len(rest) >= first and rest not in ("proc", "exc", "succ")
            return rest + "ee" if drops else word
    for end in ("ingly", "edly", "ing", "ed"):
        if word.endswith(end):
            rest = word[: -len(end)]
            return _mended(rest, first) if any(x in _VOWEL for x in rest) else word
    return word


def _mended(word: str, first: int) -> str:
    """Give a word that lost its ending the last letter that it should have."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word.endswith(_DOUBLED):
        return word if word[:-2] in ("a", "e", "o") else word[:-1]
    return word + "e" if first >= len(word) and _SHORT_END.search(word) else word


def _step_2(word: str, first: int) -> str:
    for end, put in _STEP_2:
        if not word.endswith(end):
            continue
        rest = word[: -len(end)]
        if len(rest) < first or (end == "ogi" and not rest.endswith("l")):
            return word
        if end == "li" and rest[-1:] not in tuple("cdeghkmnrt"):
            return word
        return rest + put
    return word


def _step_3(word: str, first: int, second: int) -> str:
    for end, put in _STEP_3:
        if word.endswith(end):
            rest = word[: -len(end)]
            return rest + put if len(rest) >= (second if end == "ative" else first) else word
    return word


def _step_4(word: str, second: int) -> str:
    for end in _STEP_4:
        if word.endswith(end):
            rest = word[: -len(end)]
            fits = len(rest) >= second and (end != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _step_5(word: str, first: int, second: int) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        drops = len(rest) >= second or (len(rest) >= first and not _SHORT_END.search(rest))
        return rest if drops else word
    return rest if word.endswith("ll") and len(rest) >= second else word
