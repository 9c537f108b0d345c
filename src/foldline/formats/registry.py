"""The dialects by name, each loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from foldline.core.errors import UnknownFormat
from foldline.formats.dialect import Dialect

_CLASSES = {
    "openai-chat": ("foldline.formats.openai_chat", "OpenAIChat"),
    "openai-responses": ("foldline.formats.openai_responses", "OpenAIResponses"),
    "anthropic": ("foldline.formats.anthropic", "Anthropic"),
    "gemini": ("foldline.formats.gemini", "Gemini"),
    "langchain": ("foldline.formats.langchain", "LangChain"),
}


class Dialects(Mapping[str, Dialect]):
    """A mapping from names to dialects that imports a dialect when it is looked up."""

    def __getitem__(self, name: str) -> Dialect:
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _loaded(name: str) -> Dialect:
    module, class_name = _CLASSES[name]
    made: Dialect = getattr(import_module(module), class_name)()
    return made


DIALECTS: Mapping[str, Dialect] = Dialects()
"""All dialects, the most common first."""


def dialect(name: str) -> Dialect:
    """
    Return the dialect with a name.

    Raises:
        UnknownFormat: There is none; the message has the names that exist.
    """
    if name in DIALECTS:
        return DIALECTS[name]
    close = get_close_matches(name[:100], DIALECTS, 1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownFormat(
        f"there is no wire format {name[:100]!r}", hint=f"Known: {', '.join(DIALECTS)}.{meant}"
    )
