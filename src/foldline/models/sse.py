"""Server-sent events: the lines of a stream, put together whatever way they were cut."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from dataclasses import dataclass
from typing import Any, Final

from foldline.errors import ModelError

DONE: Final = "[DONE]"
"""What ends a stream of chat completions."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: its name, "" where it has none, and its data as text."""

    name: str
    data: str

    def value(self) -> dict[str, Any]:
        """
        Return the data as a JSON object.

        Raises:
            ModelError: It is none; asking again may help.
        """
        try:
            value = json.loads(self.data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            why = "The stream holds an event that is no JSON."
            raise ModelError(why, code="malformed", retry=True)
        return value


class SSEDecoder:
    """Takes bytes as they arrive and returns the events that they complete."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8-sig")("replace")
        self._rest: list[str] = []
        self._held = ""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that end in this chunk; one that was cut off is never returned."""
        text = self._held + self._decoder.decode(chunk)
        # A carriage return at the very end may be half of a line end.
        self._held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        first, *others = text.split("\n")
        self._rest.append(first)
        if not others:
            return []
        lines = ["".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None
