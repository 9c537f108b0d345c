"""What a provider says that a request took, read on the side while its answer passes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from foldline.models.protocol import count, mapping, openai_usage
from foldline.values.messages import Usage

LONGEST: Final = 1 << 20
"""So much of one line of a stream, or of a whole answer, is read at most, in bytes."""

READABLE: Final = frozenset({"", "identity", "gzip", "deflate"})
"""Codings of an answer that are read here."""


class Tap:
    """
    Listens to an answer; what it cannot read it leaves alone.

    Args:
        kind: The type of the content.
        coding: How it is compressed.
    """

    def __init__(self, kind: str, coding: str) -> None:
        self.usage: Usage | None = None
        self._stream = "text/event-stream" in kind.lower()
        self._deaf = coding.lower() not in READABLE
        packed = coding.lower() in ("gzip", "deflate")
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._rest = b""
        self._counts: dict[str, int] = {}

    def feed(self, chunk: bytes) -> None:
        """Listen to the next bytes; nothing is raised."""
        if self._deaf:
            return
        try:
            data = chunk if self._unpack is None else self._unpack.decompress(chunk, LONGEST)
            self._deaf = self._unpack is not None and bool(self._unpack.unconsumed_tail)
            self._take(data)
        except (zlib.error, ValueError, RecursionError):
            self._deaf = True

    def end(self) -> Usage | None:
        """Return what was said, None where nothing was."""
        if not self._deaf and not self._stream and self._rest:
            try:
                self._look(json.loads(self._rest))
            except (ValueError, RecursionError):
                self._deaf = True
        return self.usage

    def _take(self, data: bytes) -> None:
        if not self._stream:
            self._rest += data
        else:
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = self._rest + lines[0]
                self._rest = rest
            else:
                self._rest += rest
            for line in lines:
                if b'"usage"' in line and line.startswith(b"data:"):
                    self._look(json.loads(line[5:]))
        if len(self._rest) > LONGEST:
            self._deaf, self._rest = True, b""

    def _look(self, value: Any) -> None:
        """Read an answer, or an event of one; Anthropic tells in two of them."""
        event = mapping(value)
        for holder in (event, mapping(event.get("message")), mapping(event.get("response"))):
            usage = mapping(holder.get("usage"))
            if usage:
                self.usage = self._read(usage) or self.usage

    def _read(self, usage: Mapping[str, Any]) -> Usage | None:
        if "prompt_tokens" in usage:
            return openai_usage(usage, "prompt_tokens", "completion_tokens")
        details = "input_tokens_details" in usage or "output_tokens_details" in usage
        if details and "cache_read_input_tokens" not in usage:
            return openai_usage(usage, "input_tokens", "output_tokens")
        for name in _ANTHROPIC:
            if name in usage:
                self._counts[name] = count(usage[name])
        found = Usage(*(self._counts.get(name, 0) for name in _ANTHROPIC))
        return found if found.total else None


_ANTHROPIC: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
