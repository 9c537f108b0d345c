"""LangGraph thread states, and lists of LangChain messages, plain or serialized."""

from __future__ import annotations

from typing import Any

from foldline.errors import InputError
from foldline.formats.json_document import Path, at, read_recording, write_recording
from foldline.formats.langchain import LangChainDialect
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource

_CHAIN = LangChainDialect()
_TYPES = frozenset({"human", "ai", "tool", "system", "function", "chat", "remove", "developer"})
_PATHS: tuple[Path, ...] = (
    ("values", "messages"),
    ("channel_values", "messages"),
    ("checkpoint", "channel_values", "messages"),
    ("messages",),
    (),
)


class LangGraph:
    """State files of LangGraph and message files of LangChain."""

    name = "langgraph"
    title = "LangGraph thread state, LangChain messages (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for LangChain messages where states and dumps have them."""
        return 1.0 if _path(source.document) is not None else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file."""
        path = _path(source.document)
        if path is None:
            raise InputError("the document holds no LangChain messages", field="values.messages")
        transcript = _CHAIN.decode(at(source.document, path))
        return read_recording(self.name, source, [("thread", path, transcript)])

    def encode(self, recording: Recording) -> bytes:
        """Write the state again."""
        return write_recording(recording, lambda _, __, there: _CHAIN.messages(there.messages))


def _path(document: Any) -> Path | None:
    for path in _PATHS:
        items = at(document, path)
        if isinstance(items, list) and items and all(_is_message(item) for item in items):
            return path
    return None


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        return "content" in item["kwargs"]
    return "content" in item and "role" not in item and str(item.get("type")) in _TYPES
