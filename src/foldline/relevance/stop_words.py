"""Words that say nothing about what a text is about; they are neither indexed nor asked for."""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = """
a about also an and any are as at be been being but by can could did do does doing done for
from had has have having he her hers herself him himself his how i if in into is it its
itself just let me my myself not of off on or our ours ourselves over own please shall she
should so some such than that the their theirs them themselves then there these they this
those to too us very was we were what when where which while who whom whose why will with
would you your yours yourself s t d m ll re ve don didn doesn isn aren wasn weren won wouldn
couldn shouldn haven hasn hadn
"""
_HAN_WORDS: Final = """
什么 怎么 怎样 如何 为何 哪里 哪个 哪些 哪儿 哪种 多少 几个 是否 能否 可否 有没有 是不是 为什么
怎么样 这个 那个 这些 那些 这样 那样 我们 你们 他们
她们 它们 自己 一个 一些 一种 以及 或者 并且 而且 但是
因为 所以 如果 虽然 可以 应该 需要 已经 还是 就是 不是 没有 的话 关于 对于
"""
_HAN_LETTERS: Final = (
    "的了吗呢吧啊呀嘛着地得是在和与及或就都也还很把被让给对从到于而且但这那哪谁我你他她它们么几"
)

ENGLISH: Final = frozenset(_ENGLISH.split())

HAN_WORDS: Final = frozenset(_HAN_WORDS.split())
"""Words of a language without blanks; taken out of a run before it is cut."""

HAN_LETTERS: Final = frozenset(_HAN_LETTERS)
"""Characters that are grammar by themselves; they stay in pairs, but do not stand alone."""
