"""Blocks of every wire: media in one representation, and blocks of unknown types."""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from foldline.errors import InputError
from foldline.frozen import frozen
from foldline.values.media import image_size_base64
from foldline.values.messages import Media, MediaKind, Message, Opaque, Thinking


def kind_of(media_type: str, default: MediaKind = "document") -> MediaKind:
    """Map a MIME type to the kind of media."""
    family = media_type.split("/", 1)[0]
    return next((kind for kind in get_args(MediaKind) if kind == family), default)


def media_from_base64(
    data: str,
    media_type: str,
    raw: Any,
    *,
    kind: MediaKind | None = None,
    detail: str | None = None,
) -> Media:
    """Build a media part from base64 text; only the head is decoded, to find the size."""
    kind = kind or kind_of(media_type)
    size = image_size_base64(data) if kind == "image" else None
    width, height = size or (None, None)
    return Media(kind, media_type, len(data) * 3 // 4, width, height, None, detail, raw)


def media_from_url(
    url: str, raw: Any, *, kind: MediaKind = "image", detail: str | None = None
) -> Media:
    """Build a media part from a URL; a data URI is decoded, another one kept as a reference."""
    if url[:5] != "data:" or "," not in url[:300]:
        return Media(kind, raw=raw, detail=detail)
    media_type, data = _split(url)
    return media_from_base64(data, media_type, raw, kind=kind, detail=detail)


KINDS: Mapping[str, MediaKind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "file": "document",
    "input_file": "document",
    "document": "document",
    "media": "document",
}
"""Block types that carry media, and the kind to assume without a MIME type."""

_GEMINI = ("inlineData", "inline_data", "fileData", "file_data")
_HOLDERS = (*_GEMINI, "source", "image_url", "video_url", "input_audio", "file")
_TYPES = ("media_type", "mimeType", "mime_type")
_DATA = ("data", "base64", "file_data")
_URLS = ("url", "image_url", "video_url", "file_url", "fileUri", "file_uri", "uri")


@frozen
class MediaSource:
    """
    The source of a media block: base64 ``data``, or a ``url``; both empty for a file id.

    ``data_uri`` joins type and data.
    """

    kind: MediaKind
    media_type: str = ""
    data: str = ""
    url: str = ""
    detail: str | None = None

    @property
    def data_uri(self) -> str:
        """The data as a URI, else the URL, else the empty string."""
        return f"data:{self.media_type};base64,{self.data}" if self.data else self.url


def media_source(block: Any) -> MediaSource | None:
    """Return the source of a media block of any known wire; None for other blocks."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    default = KINDS.get(kind) if isinstance(kind, str) else None
    if default is None and not any(isinstance(block.get(key), dict) for key in _GEMINI):
        return None
    inner = next((block[key] for key in _HOLDERS if isinstance(block.get(key), dict)), block)
    if inner.get("type") == "text":
        return None
    media_type, data, url = _string(inner, _TYPES), _string(inner, _DATA), _string(inner, _URLS)
    if url[:5] == "data:" or data[:5] == "data:":
        media_type, data = _split(data or url)
        url = ""
    elif kind == "input_audio":
        media_type = media_type or f"audio/{_string(inner, ('format',)) or 'wav'}"
    family = kind_of(media_type, default or "document")
    return MediaSource(family, media_type, data, url, _string(inner, ("detail",)) or None)


def media_part(block: Any) -> Media | None:
    """Build a media part from a block of any known wire; None for other blocks."""
    source = media_source(block)
    if source is None:
        return None
    if not source.data:
        return Media(source.kind, source.media_type, detail=source.detail, raw=block)
    return media_from_base64(
        source.data, source.media_type, block, kind=source.kind, detail=source.detail
    )


def _string(block: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = block.get(key)
        if isinstance(value, bytes):
            return b2a_base64(value, newline=False).decode("ascii")
        if isinstance(value, str) and value:
            return value
    return ""


def _split(uri: str) -> tuple[str, str]:
    """Split a data URI into MIME type and data."""
    head, _, data = uri.partition(",")
    return head[5:200].split(";", 1)[0], data


def read_thinking_blocks(value: Any) -> tuple[Thinking, ...]:
    """Read reasoning that is stored beside the content, as blocks signed by Anthropic."""
    return tuple(
        Thinking(str(block.get("thinking") or ""), signed=True, raw=block)
        for block in (value if isinstance(value, list) else ())
        if isinstance(block, dict)
    )


MAX_DEPTH = 8
"""Maximum depth to which a block is searched, in levels."""

_WORDS = frozenset(
    {
        *("text", "title", "url", "name", "description", "content", "context", "source"),
        *("query", "queries", "code", "logs", "stdout", "stderr", "output", "summary"),
        *("reason", "refusal", "error_code", "revised_prompt"),
    }
)
_OBJECTS = frozenset({"input", "arguments", "action", "operation", "tools", "parameters"})


# --- blocks and messages of an unknown kind: carried along, with the text in them --------------


def opaque_text(block: dict[str, Any]) -> str:
    """
    Collect the visible text of a block, in order, joined by line feeds.

    Encrypted values, signatures, ids and base64 data are omitted, so that they are not counted
    as text.
    """
    return "\n".join(text for text in _words(block, MAX_DEPTH) if text)


def _words(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, list):
        for item in value:
            yield from _words(item, depth - 1)
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            if key in _OBJECTS:
                yield item if isinstance(item, str) else _shallow_json(item)
            elif key in _WORDS or (isinstance(item, (dict, list)) and key != "citations"):
                yield from _words(item, depth - 1)


def _shallow_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except RecursionError:
        return ""


def opaque(wire: dict[str, Any], key: str = "type") -> Opaque:
    """Wrap a block unchanged; its kind is the value of ``key``."""
    kind = wire.get(key)
    return Opaque(kind if isinstance(kind, str) else "unknown", opaque_text(wire), wire)


ELSEWHERE: Final = frozenset({"tool", "function", "model", "user", "assistant", "developer"})
"""Roles of known dialects: in any other dialect they mean that the format is wrong."""


def unknown_role(wire: dict[str, Any], role: str, dialect: str, index: int) -> Message:
    """
    Read a message of an unknown role; see `unknown_message`.

    Raises:
        InputError: The role belongs to another dialect.
    """
    if role in ELSEWHERE:
        raise InputError(
            f"unknown role {role!r}",
            index=index,
            field="role",
            hint=f"It belongs to another format than {dialect}; name the right one.",
        )
    return unknown_message(wire, role, dialect)


def unknown_message(wire: dict[str, Any], kind: str, dialect: str) -> Message:
    """
    Read a message or an item of an unknown role or type.

    It may be essential to the model, such as its tools: so it gets the role "system", which no
    compaction removes or moves, and a part that none edits.

    Args:
        wire: The message.
        kind: Its role or type.
        dialect: The name of its dialect.
    """
    return Message("system", (Opaque(kind[:80], opaque_text(wire), raw=wire),), wire, dialect)
