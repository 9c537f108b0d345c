"""
Token cost of images, sounds and documents: a rule per provider, never the length of their base64.

The size of an image is read from the first bytes of the file. An unknown size is replaced by a
common one, so that a count is never 0 and a file of a megabyte never exceeds 6,000 tokens.
Sources: the vision, document and audio pages of the providers' documentation, read in 2025; every
constant below names its own.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from math import ceil
from typing import Final

LEAST_TOKENS: Final = 80
"""Minimum count of any media; the cheapest published image (OpenAI, 85) rounded down."""

COMMON_SIZE: Final = (1920, 1080)
"""Width and height, in pixels, assumed for an image of unknown size: a screenshot."""

AUDIO_TOKENS_PER_SECOND: Final = 32
"""Gemini's published rate, the highest one (OpenAI's speech models take 10)."""

AUDIO_BYTES_PER_SECOND: Final = 16_000
"""Bytes per second of a compressed recording at 128 kbit/s, to estimate an unknown length."""

TOKENS_PER_PAGE: Final = 1_800
"""Tokens of a PDF page: 1,500 to 3,000 by density (Anthropic), 258 plus its text (Gemini)."""

BYTES_PER_PAGE: Final = 400_000
"""Bytes per page of a scanned or illustrated PDF, to estimate an unknown page count."""

_HEAD = 64  # base64 characters that hold the size in every format but JPEG
_LONG_HEAD = 262_144  # characters to search for the size of a JPEG, after its metadata
_PLAIN = str.maketrans("-_", "+/", " \t\r\n")


def image_size(data: bytes) -> tuple[int, int] | None:
    """
    Read width and height, in pixels, from the first bytes of an image file.

    Args:
        data: The file or its beginning: PNG, GIF, WebP (30 bytes suffice) or JPEG.

    Returns:
        Width and height, both positive, or None if the format or the size is not found.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        size = _big(data[16:20]), _big(data[20:24])
    elif data.startswith((b"GIF87a", b"GIF89a")):
        size = _little(data[6:8]), _little(data[8:10])
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        size = _webp_size(data)
    elif data.startswith(b"\xff\xd8"):
        size = _jpeg_size(data)
    else:
        return None
    return size if min(size) > 0 else None


def image_size_base64(b64: str) -> tuple[int, int] | None:
    """Read width and height, in pixels, from base64 text, decoding only its head (192 KiB)."""
    head = _decode(b64[:_HEAD])
    if head.startswith(b"\xff\xd8"):
        head = _decode(b64[:_LONG_HEAD])
    return image_size(head)


def image_tokens(
    provider: str, width: int | None, height: int | None, detail: str | None = None
) -> int:
    """
    Count an image by its provider's published rule.

    Args:
        provider: "anthropic", "gemini"; anything else counts as "openai".
        width: Pixels, or None if unknown.
        height: Pixels, or None if unknown.
        detail: OpenAI's "low" costs a flat rate; other values count in full.

    Returns:
        Tokens, from ``LEAST_TOKENS`` to about 4,200.
    """
    if not width or not height or min(width, height) < 1:
        width, height = COMMON_SIZE
    match provider:
        case "anthropic":
            tokens = _anthropic_image(width, height)
        case "gemini":
            tokens = _gemini_image(width, height)
        case _:
            tokens = _openai_image(width, height, detail)
    return max(LEAST_TOKENS, tokens)


def audio_tokens(seconds: float | None, size: int | None) -> int:
    """Count a recording by its length in seconds, or else by its size in bytes."""
    if not seconds or seconds < 0:
        seconds = (size or 0) / AUDIO_BYTES_PER_SECOND
    return max(LEAST_TOKENS, ceil(seconds * AUDIO_TOKENS_PER_SECOND))


def document_tokens(pages: int | None, size: int | None) -> int:
    """Count a PDF by its pages, or else by its size in bytes; at least one page."""
    if not pages or pages < 0:
        pages = ceil((size or 0) / BYTES_PER_PAGE)
    return max(1, pages) * TOKENS_PER_PAGE


def _anthropic_image(width: int, height: int) -> int:
    """Width times height over 750, after shrinking to 1,568 pixels a side and 1,600 tokens."""
    scale = min(1.0, 1568 / max(width, height))
    return min(1600, ceil(width * scale * height * scale / 750))


def _openai_image(width: int, height: int, detail: str | None) -> int:
    """85, and 170 per 512-pixel tile after shrinking to fit 2,048 square, shortest side 768."""
    if detail == "low":
        return 85
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return 85 + 170 * ceil(width * scale / 512) * ceil(height * scale / 512)


def _gemini_image(width: int, height: int) -> int:
    """258 up to 384 pixels a side, else 258 per tile of two thirds of the shorter side."""
    if max(width, height) <= 384:
        return 258
    tile = max(256, int(min(width, height) / 1.5))
    tiles = ceil(width / tile) * ceil(height / tile)
    return 258 * min(16, tiles)  # the cap is our own: a banner is scaled down before tiling


def _webp_size(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return _little(data[24:27]) + 1, _little(data[27:30]) + 1
        case b"VP8L":
            bits = _little(data[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case _:
            return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        if marker == 0xFF:  # fill byte
            at += 1
        else:
            at += 2 + max(2, _big(data[at + 2 : at + 4]))
    return 0, 0


def _decode(b64: str) -> bytes:
    plain = b64.translate(_PLAIN)
    try:
        return a2b_base64(plain[: len(plain) // 4 * 4])
    except (Base64Error, ValueError):
        return b""


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
