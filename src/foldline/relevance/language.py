"""
The language of a conversation, detected from the script in which its user writes.

Names, paths and code are Latin in every conversation, so they are excluded, and the ordinary words
of each script are counted. This needs no language statistics; languages that share the Latin
script are not distinguished.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern

MOST = 20_000
"""Characters of each text that are examined."""

SHARE = 0.25
"""Minimum fraction of the words for a script other than Latin to be the user's."""

KANA_SHARE, HANGUL_SHARE = 0.08, 0.15
"""Minimum fractions of kana and hangul in Japanese and Korean texts with Chinese characters."""


@frozen
class Language:
    """A language: its code (ISO 639-1) and its name, in English and in the language."""

    code: str
    name: str


CHINESE = Language("zh", "Chinese (中文)")
JAPANESE = Language("ja", "Japanese (日本語)")
KOREAN = Language("ko", "Korean (한국어)")
RUSSIAN = Language("ru", "Russian (русский)")
UKRAINIAN = Language("uk", "Ukrainian (українська)")

BY_SCRIPT = {
    "arabic": Language("ar", "Arabic (العربية)"),
    "hebrew": Language("he", "Hebrew (עברית)"),
    "greek": Language("el", "Greek (ελληνικά)"),
    "thai": Language("th", "Thai (ไทย)"),
    "devanagari": Language("hi", "Hindi (हिन्दी)"),
}

_KNOWN = (CHINESE, JAPANESE, KOREAN, RUSSIAN, UKRAINIAN, *BY_SCRIPT.values())
LANGUAGES = {language.code: language for language in (*_KNOWN, Language("en", "English"))}
"""Languages by the code that may be given instead of a name."""

# Compiled on first use: most conversations are in Latin script.
_NOT_PROSE = (
    r"(?s)"
    r"```.*?(?:```|\Z)|`[^`\n]*`|https?://[!-~]+|[A-Za-z0-9_~.@-]*[/_\\@.][A-Za-z0-9_/\\.@~-]+"
)
_WORDS = {
    "han": "[\u3400-\u4dbf\u4e00-\u9fff]",
    "kana": "[\u3041-\u30ff]",
    "hangul": "[\uac00-\ud7af]",
    "cyrillic": "[\u0400-\u04ff]{2,}",
    "arabic": "[\u0600-\u06ff]{2,}",
    "hebrew": "[\u0590-\u05ff]{2,}",
    "greek": "[\u0370-\u03ff]{2,}",
    "thai": "[\u0e00-\u0e7f]{3}",
    "devanagari": "[\u0900-\u097f]{2,}",
    "latin": "[A-Za-z\u00c0-\u024f]{2,}",
}
_NOT_LATIN = lazy_pattern(
    "[\u0370-\u04ff\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_UKRAINIAN = "[іїєґІЇЄҐ]"


def language(texts: Iterable[str]) -> Language | None:
    """
    Detect the language of a user.

    Args:
        texts: The user's messages.

    Returns:
        The language; None where the script does not determine it, as with Latin letters.
    """
    heads = [text[:MOST] for text in texts]
    if not any(_NOT_LATIN.search(head) for head in heads if not head.isascii()):
        return None
    counts = Counter[str]()
    ukrainian = False
    for head in heads:
        prose = re.sub(_NOT_PROSE, " ", head)
        # Most texts need one search instead of ten.
        scripts = ("latin",) if prose.isascii() else _WORDS
        counts.update({script: len(re.findall(_WORDS[script], prose)) for script in scripts})
        ukrainian = ukrainian or re.search(_UKRAINIAN, prose) is not None
    total = sum(counts.values())
    if not total:
        return None
    found = _east_asian(counts, total)
    if found is not None:
        return found
    script, words = max(
        ((s, counts[s]) for s in ("cyrillic", *BY_SCRIPT)), key=lambda pair: pair[1]
    )
    if words < SHARE * total:
        return None
    if script == "cyrillic":
        return UKRAINIAN if ukrainian else RUSSIAN
    return BY_SCRIPT[script]


def _east_asian(counts: Counter[str], total: int) -> Language | None:
    signs = counts["han"] + counts["kana"] + counts["hangul"]
    if signs < SHARE * total:
        return None
    if counts["kana"] >= KANA_SHARE * signs:
        return JAPANESE
    return KOREAN if counts["hangul"] >= HANGUL_SHARE * signs else CHINESE
