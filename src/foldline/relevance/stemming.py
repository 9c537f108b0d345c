"""
English words brought to their stems, and forms that no rule knows.

The stemmer is Snowball's for English ("Porter2", snowballstem.org/algorithms/english).
"""

from __future__ import annotations

from functools import cache, lru_cache
from threading import Lock
from typing import Any, Final

_ONE_AT_A_TIME: Final = Lock()
"""A stemmer holds the word that it works on."""

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
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    with _ONE_AT_A_TIME:
        return str(_english().stemWord(word))


@cache
def _english() -> Any:
    # Loaded when the first word is looked up: most sessions never search.
    from snowballstemmer import stemmer  # type: ignore[import-untyped]  # it ships no types

    return stemmer("english")
