"""Media of every wire: where the bytes or the address are, described in one way."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foldline.lazy_patterns import lazy_pattern
from foldline.values.media import image_size_base64
from foldline.values.messages import Media, MediaKind

_DATA_URI = lazy_pattern(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},")


def kind_of(media_type: str, default: MediaKind = "document") -> MediaKind:
    """Map a MIME type to the kind of media."""
    family = media_type.split("/", 1)[0]
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return kinds.get(family, default)


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
    """Build a media part from a URL; a data URI is read, anything else stays a reference."""
    match = _DATA_URI.match(url[:300])
    if match is None:
        return Media(kind, raw=raw, detail=detail)
    media_type = match.group(1) or ""
    return media_from_base64(url[match.end() :], media_type, raw, kind=kind, detail=detail)


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
"""Block types that carry media, and what they carry where no MIME type says otherwise."""

_GEMINI = ("inlineData", "inline_data", "fileData", "file_data")
_HOLDERS = (*_GEMINI, "source", "image_url", "video_url", "input_audio", "file")
_TYPES = ("media_type", "mimeType", "mime_type")
_DATA = ("data", "base64", "file_data")
_URLS = ("url", "image_url", "video_url", "file_url", "fileUri", "file_uri", "uri")


@dataclass(frozen=True, slots=True)
class MediaSource:
    """
    What a media block refers to: base64 ``data``, or a ``url``; both empty for a file id.

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
    """Describe a media block of any known wire; None where the block is something else."""
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
    """Build a media part from a block of any known wire; None where it is something else."""
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
            return b64encode(value).decode("ascii")
        if isinstance(value, str) and value:
            return value
    return ""


def _split(uri: str) -> tuple[str, str]:
    """Split a data URI into MIME type and data."""
    head, _, data = uri.partition(",")
    return head[5:200].split(";", 1)[0], data
