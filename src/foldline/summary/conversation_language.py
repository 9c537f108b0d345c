"""Conversation language: in which language a compaction writes, chosen once for all it writes."""

from __future__ import annotations

from foldline.relevance.language import LANGUAGES, Language, language
from foldline.values.frames import has_words, user_words
from foldline.values.view import View

AUTO = "auto"
"""The setting for the language of the user."""


def conversation_language(view: View, setting: str = AUTO) -> Language | None:
    """
    Return the language of what is written about a conversation.

    Args:
        view: What is shown of it; only the user's own words count.
        setting: "auto", or the code or name of a language that is wanted.

    Returns:
        The language; None where the user's script does not tell it.
    """
    if setting != AUTO:
        return LANGUAGES.get(setting.casefold(), Language("", setting))
    return language(
        user_words(view.original(index))
        for index, shown in enumerate(view.messages)
        if has_words(shown)
    )
