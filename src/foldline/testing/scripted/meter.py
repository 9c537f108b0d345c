"""Counting what a request gives and an answer takes, and what a prompt cache would hold."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from foldline.testing.scripted.steps import Tool
from foldline.values.identity import canonical_json
from foldline.values.messages import Usage
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript


class Meter:
    """
    Counts tokens, and remembers the last request as a prompt cache would.

    Args:
        counter: Counts messages.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._lock = threading.Lock()
        self._last: list[str] = []

    def given(self, transcript: Transcript, *, marked: bool = True) -> Usage:
        """
        Count a request.

        Args:
            transcript: The request.
            marked: Whether it may be cached at all; Anthropic wants a ``cache_control`` for that.

        Returns:
            What was given; ``cache_read`` is what the last request began with in the same way.
        """
        pieces = list(self._pieces(transcript))
        names = [name for name, _ in pieces]
        with self._lock:
            before, self._last = self._last, names
        total = sum(tokens for _, tokens in pieces)
        if not marked:
            return Usage(input=total)
        same = next(
            (at for at, pair in enumerate(zip(names, before, strict=False)) if pair[0] != pair[1]),
            min(len(names), len(before)),
        )
        cached = sum(tokens for _, tokens in pieces[:same])
        return Usage(input=total - cached, cache_read=cached)

    def answered(self, text: str, calls: tuple[Tool, ...]) -> int:
        """Count an answer, in tokens."""
        texts = [text, *(part for call in calls for part in (call.name, call.json))]
        return sum(map(self.counter.text, texts))

    def _pieces(self, transcript: Transcript) -> Iterator[tuple[str, int]]:
        around = self.counter.overhead(transcript.system, transcript.tools)
        if around:
            yield canonical_json([transcript.system, transcript.tools]), around
        for message in transcript.messages:
            yield message.id, self.counter.message(message)
