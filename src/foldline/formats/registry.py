"""The dialects by name, each loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping

from foldline.errors import UnknownFormat
from foldline.formats.dialect import Dialect
from foldline.formats.on_demand import OnDemand

_CLASSES = {
    "openai-chat": ("foldline.formats.openai_chat", "OpenAIChat"),
    "openai-responses": ("foldline.formats.openai_responses", "OpenAIResponses"),
    "anthropic": ("foldline.formats.anthropic", "Anthropic"),
    "gemini": ("foldline.formats.gemini", "Gemini"),
    "langchain": ("foldline.formats.langchain", "LangChain"),
    "pydantic-ai": ("foldline.formats.pydantic_ai", "PydanticAI"),
}


DIALECTS: Mapping[str, Dialect] = OnDemand(_CLASSES)
"""All dialects, the most common first."""


def dialect(name: str) -> Dialect:
    """
    Return the dialect with a name.

    Raises:
        UnknownFormat: There is none; the message has the names that exist.
    """
    if name in DIALECTS:
        return DIALECTS[name]
    from difflib import get_close_matches

    close = get_close_matches(name[:100], DIALECTS, 1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownFormat(
        f"there is no wire format {name[:100]!r}", hint=f"Known: {', '.join(DIALECTS)}.{meant}"
    )
