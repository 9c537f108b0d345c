"""
Counting the tokens of messages.

The counter of a text is a port (`TextCounter`): an exact vocabulary, or the fitted estimate. This
file adds the overhead of messages, the rules for media, and the cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from foldline.errors import InputError
from foldline.values.identity import canonical_json
from foldline.values.media import audio_tokens, document_tokens, image_tokens
from foldline.values.messages import Media, Message, Omitted, Part, Text, ToolCall, ToolResult

MESSAGE_TOKENS = 4
"""Tokens of the role and delimiters of one message (3 to 4 in OpenAI's counting recipe)."""

CALL_TOKENS = 8
"""Tokens of the structure of a tool call or result besides its texts: id, type, names."""

CACHE_ENTRIES = 65_536


class TextCounter(Protocol):
    """Counts the tokens of one text, never over a network and never with an exception."""

    @property
    def name(self) -> str:
        """The name of the counter, such as ``splintr:o200k_base`` or ``estimate:claude``."""
        ...

    @property
    def exact(self) -> bool:
        """Whether this is the model's real vocabulary."""
        ...

    def count(self, text: str) -> int:
        """Count the tokens of ``text``."""
        ...


class TokenCounter:
    """
    Counts messages, caching texts by their hash.

    Args:
        texts: Counts one text.
        ratio: Correction factor learned from reported usage.
        provider: The provider whose media rules apply: "openai", "anthropic" or "gemini".
        entries: Maximum number of cached texts.

    Raises:
        InputError: ``texts`` is no counter.
    """

    def __init__(
        self,
        texts: TextCounter,
        ratio: float = 1.0,
        provider: str = "openai",
        entries: int = CACHE_ENTRIES,
    ) -> None:
        if not callable(getattr(texts, "count", None)) or not hasattr(texts, "name"):
            raise InputError(
                f"an object that counts tokens is expected here, not {texts!r:.40}",
                field="counter",
                hint="Give one with a name, exact (a bool) and count(text).",
            )
        self.texts, self.ratio, self.provider = texts, ratio, provider
        self.entries = entries
        self._seen: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"TokenCounter({self.texts!r}, ratio={self.ratio}, provider={self.provider!r})"

    @property
    def name(self) -> str:
        """The name of the counter, with its correction if there is one."""
        return self.texts.name if self.ratio == 1.0 else f"{self.texts.name}×{self.ratio:.2f}"

    def text(self, text: str) -> int:
        """Count one text, in tokens."""
        if not text:
            return 0
        key = (len(text) << 64) + hash(text)  # one number takes a third of the memory of a pair
        known = self._seen.get(key)
        if known is None:
            known = self._scale(self.texts.count(text))
            if len(self._seen) >= self.entries:
                for old in list(self._seen)[: self.entries // 2]:
                    self._seen.pop(old, None)  # another thread may have been faster
            self._seen[key] = known
        return known

    def joined(self, texts: Iterable[str]) -> int:
        """
        Count the text that some texts make one after the other, in tokens.

        Counters with ``count_joined`` do so without joining a text that may be long.
        """
        count = getattr(self.texts, "count_joined", None)
        return self.text("".join(texts)) if count is None else self._scale(count(texts))

    def _scale(self, tokens: int) -> int:
        return tokens if self.ratio == 1.0 else max(1, round(tokens * self.ratio))

    def part(self, part: Part) -> int:
        """Count one part, in tokens; opaque signatures count nothing."""
        match part:
            case Text():
                return self.text(part.text)
            case ToolCall():
                return CALL_TOKENS + self.text(part.name) + self.text(part.arguments)
            case ToolResult():
                return CALL_TOKENS + sum(map(self.part, part.content))
            case Media():
                return self._media(part)
            case Omitted():
                return 0
            case _:
                return self.text(part.text)

    def _media(self, media: Media) -> int:
        match media.kind:
            case "image":
                return image_tokens(self.provider, media.width, media.height, media.detail)
            case "document":
                return document_tokens(media.pages, media.size)
            case _:
                return audio_tokens(None, media.size)

    def message(self, message: Message) -> int:
        """Count one message with its delimiters, in tokens; 0 if it has no remaining parts."""
        tokens = sum(map(self.part, message.parts))
        if not tokens and message.parts and all(isinstance(p, Omitted) for p in message.parts):
            return 0
        return MESSAGE_TOKENS + tokens

    def messages(self, messages: Iterable[Message]) -> int:
        """Count a conversation, in tokens."""
        return sum(map(self.message, messages))

    def overhead(self, system: str, tools: Iterable[Any]) -> int:
        """Count the overhead of a request: system prompt and tool schemas, in tokens."""
        schemas = sum(self.text(canonical_json(tool)) for tool in tools)
        return schemas + (MESSAGE_TOKENS + self.text(system) if system else 0)
