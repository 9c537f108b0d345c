"""The dialects by name, each loaded when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from foldline.errors import UnknownFormat
from foldline.formats.dialect import Dialect

Made = TypeVar("Made")


class OnDemand(Mapping[str, Made], Generic[Made]):
    """
    Make objects as they are looked up, each once.

    Args:
        classes: The module and the class by name; the order is kept.
    """

    def __init__(self, classes: Mapping[str, tuple[str, str]]) -> None:
        self._classes = classes
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            module, class_name = self._classes[name]
            made: Any = getattr(import_module(module), class_name)()
            self._made[name] = made
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


_CLASSES = {
    "openai-chat": ("foldline.formats.openai_chat", "OpenAIChatDialect"),
    "openai-responses": ("foldline.formats.openai_responses", "OpenAIResponsesDialect"),
    "anthropic": ("foldline.formats.anthropic", "AnthropicDialect"),
    "gemini": ("foldline.formats.gemini", "GeminiDialect"),
    "langchain": ("foldline.formats.langchain", "LangChainDialect"),
    "pydantic-ai": ("foldline.formats.pydantic_ai", "PydanticAIDialect"),
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
        f"There is no wire format {name[:100]!r}", hint=f"Known: {', '.join(DIALECTS)}.{meant}"
    )
