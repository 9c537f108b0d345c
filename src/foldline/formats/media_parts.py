"""Media parts from what wires carry: data URIs, base64 blocks, references."""

from __future__ import annotations

import re
from typing import Any

from foldline.values.media import image_size_base64
from foldline.values.messages import Media, MediaKind

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},")


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
