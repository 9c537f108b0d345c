"""A request as received by a scripted server, with its tokens as counted by the provider."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

from foldline.errors import FoldlineError
from foldline.formats.dialect import Violation
from foldline.formats.registry import dialect
from foldline.frozen import field, frozen
from foldline.testing.scripted.steps import CallTool
from foldline.values.identity import canonical_json
from foldline.values.messages import Usage, visible_texts
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

SECRET_WORDS: Final = ("auth", "key", "token", "secret", "cookie", "session")
"""A header whose name contains one of these is recorded without its value."""


@frozen
class ReceivedRequest:
    """
    A received request.

    Args:
        number: Its position in the order of arrival, from 0.
        method: The method, such as "POST".
        path: The path, without the query, which may hold a key.
        format: The wire format: "openai-chat", "openai-responses", "anthropic"; "" for another
            path.
        headers: Headers by lower-case name; those that may hold a secret are "(hidden)".
        body: The parsed JSON, None if it was missing or malformed.
        time: The time of arrival, in seconds since 1970.
        usage: The input, as the server counts it, in tokens; the prefix shared with the request
            before is ``cache_read``.
        violations: The rules of the provider that it breaks.
    """

    number: int
    method: str
    path: str
    format: str
    headers: Mapping[str, str]
    body: Any = field(repr=False)
    time: float
    usage: Usage = field(default_factory=Usage)
    violations: tuple[Violation, ...] = ()

    @property
    def tokens(self) -> int:
        """The input, cached or not: system prompt, tools and messages, in tokens."""
        return self.usage.total

    @property
    def model(self) -> str:
        """The name of the requested model, "" if there is none."""
        return str(self._field("model") or "")

    @property
    def is_streaming(self) -> bool:
        """Whether a stream was requested."""
        return self._field("stream") is True

    @property
    def wants_usage(self) -> bool:
        """Whether a stream of chat completions should end with its usage."""
        options = self._field("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def messages(self) -> list[Any]:
        """The messages, or items, as received."""
        given = self._field("input" if self.format == "openai-responses" else "messages")
        return given if isinstance(given, list) else []

    @cached_property
    def transcript(self) -> Transcript:
        """The decoded request; without messages if it cannot be decoded."""
        try:
            return dialect(self.format).decode(self.body)
        except (FoldlineError, RecursionError):
            return Transcript((), self.format)

    @property
    def text(self) -> str:
        """All texts that the model reads, joined, the system prompt first."""
        read = self.transcript
        texts = [text for message in read.messages for text in visible_texts(message)]
        return "\n".join([read.system, *texts] if read.system else texts)

    @property
    def last(self) -> str:
        """All texts of the last message."""
        messages = self.transcript.messages
        return "\n".join(visible_texts(messages[-1])) if messages else ""

    def _field(self, name: str) -> Any:
        return self.body.get(name) if isinstance(self.body, dict) else None


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers with likely secrets hidden."""
    out = {name.lower(): value for name, value in headers.items()}
    secret = [name for name in out if any(word in name for word in SECRET_WORDS)]
    return out | dict.fromkeys(secret, "(hidden)")


class TokenMeter:
    """
    Counts tokens, and models a prompt cache that holds the last request.

    Args:
        counter: Counts messages.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._lock = threading.Lock()
        self._last: list[str] = []

    def count_request(self, transcript: Transcript, *, marked: bool = True) -> Usage:
        """
        Count a request.

        Args:
            transcript: The request.
            marked: Whether it may be cached at all; Anthropic requires a ``cache_control`` for
                that.

        Returns:
            The usage; ``cache_read`` is the prefix shared with the last request.
        """
        pieces = list(self._pieces(transcript))
        with self._lock:
            before, self._last = self._last, [name for name, _ in pieces]
        total = sum(tokens for _, tokens in pieces)
        if not marked:
            return Usage(input=total)
        same = takewhile(lambda pair: pair[0][0] == pair[1], zip(pieces, before, strict=False))
        cached = sum(tokens for (_, tokens), _ in same)
        return Usage(input=total - cached, cache_read=cached)

    def count_answer(self, text: str, calls: tuple[CallTool, ...]) -> int:
        """Count an answer, in tokens."""
        texts = [text, *(part for call in calls for part in (call.name, call.json))]
        return sum(map(self.counter.text, texts))

    def _pieces(self, transcript: Transcript) -> Iterator[tuple[str, int]]:
        around = self.counter.overhead(transcript.system, transcript.tools)
        if around:
            yield canonical_json([transcript.system, transcript.tools]), around
        for message in transcript.messages:
            yield message.id, self.counter.message(message)
