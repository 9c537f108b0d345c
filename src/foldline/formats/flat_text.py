"""Parts as one string, for files whose messages hold plain text."""

from __future__ import annotations

from collections.abc import Iterable

from foldline.values.messages import Media, Opaque, Part, Text


def flat_text(parts: Iterable[Part]) -> str:
    """Join what a reader sees of some parts: text as it is, media as a short note."""
    pieces = []
    for part in parts:
        if isinstance(part, Media):
            pieces.append(f"[{part.kind} {part.media_type}".rstrip() + "]")
        elif isinstance(part, Text):
            pieces.append(part.text)
        elif isinstance(part, Opaque):
            pieces.append(part.text or f"[{part.kind}]")
    return "\n".join(pieces)
