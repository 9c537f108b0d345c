"""Gemini API contents in a file: a bare list, a request body, or a wrapper with ``history``."""

from __future__ import annotations

from typing import Any

from foldline.errors import InputError
from foldline.formats.gemini import GeminiDialect
from foldline.formats.json_document import Path, at, read_recording, write_recording
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource

_GEMINI = GeminiDialect()
_PATHS: tuple[Path, ...] = (("contents",), ("history",), ())


class GeminiContents:
    """Files with the contents of Gemini requests."""

    name = "gemini-contents"
    title = "Gemini API contents (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for contents with ``parts``."""
        return 1.0 if _path(source.document) is not None else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the one conversation of the file."""
        path = _path(source.document)
        if path is None:
            raise InputError("the document holds no Gemini contents", field="contents")
        body = path == ("contents",)
        transcript = _GEMINI.decode(source.document if body else at(source.document, path))
        name = at(source.document, ("scenarioId",))
        title = name if isinstance(name, str) else "contents"
        return read_recording(self.name, source, [(title, path, transcript)])

    def encode(self, recording: Recording) -> bytes:
        """Write the contents again."""
        return write_recording(recording, lambda _, __, there: _GEMINI.messages(there.messages))


def _path(document: Any) -> Path | None:
    for path in _PATHS:
        items = at(document, path)
        if isinstance(items, list) and items and all(_is_content(item) for item in items):
            return path
    return None


def _is_content(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("parts"), list)
        and "kind" not in item  # as the messages of Pydantic AI have
        and item.get("role", "user") in ("user", "model", "function", "system")
    )
