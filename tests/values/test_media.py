import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.values.media import (
    audio_tokens,
    document_tokens,
    image_size,
    image_size_base64,
    image_tokens,
)

MEGABYTE = 1_048_576
PROVIDERS = ["openai", "anthropic", "gemini", "someone else"]


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(40)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(30)


def jpeg(width: int, height: int, metadata: int = 20, marker: int = 0xC0) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", metadata + 2) + bytes(metadata)
    frame = b"\xff" + bytes([marker]) + struct.pack(">HBHHB", 17, 8, height, width, 3)
    return b"\xff\xd8" + exif + b"\xff" + frame + bytes(40)


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + body + bytes(40)


IMAGES = {
    "png": png(640, 480),
    "gif": gif(640, 480),
    "jpeg": jpeg(640, 480),
    "progressive jpeg": jpeg(640, 480, marker=0xC2),
    "jpeg with 60 kB of metadata": jpeg(640, 480, metadata=60_000),
    "webp lossy": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 640, 480)),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)),
    "webp extended": webp(b"VP8X", bytes(4) + (639).to_bytes(3, "little") + b"\xdf\x01\x00"),
}


@pytest.mark.parametrize("data", IMAGES.values(), ids=IMAGES.keys())
def test_reads_the_size_of_an_image(data: bytes) -> None:
    assert image_size(data) == (640, 480)
    assert image_size_base64(base64.b64encode(data).decode()) == (640, 480)


def test_reads_base64_with_line_breaks_and_in_the_url_safe_alphabet() -> None:
    assert image_size_base64(base64.encodebytes(jpeg(800, 600)).decode()) == (800, 600)
    assert image_size_base64(base64.urlsafe_b64encode(jpeg(800, 600)).decode()) == (800, 600)


def test_an_image_of_a_megabyte_is_decoded_only_at_its_head() -> None:
    broken_later = base64.b64encode(png(30, 20)).decode() + "\x00 no base64 at all" * 60_000
    assert image_size_base64(broken_later) == (30, 20)


@pytest.mark.parametrize(
    "data",
    [b"", b"BM\x00", b"%PDF-1.7", png(0, 5), b"\xff\xd8\xff", b"\xff\xd8" + b"\xff\xe1\0\0" * 999],
)
def test_an_unknown_format_or_size_is_none(data: bytes) -> None:
    assert image_size(data) is None


@given(st.binary(max_size=200), st.sampled_from([b"", *(image[:20] for image in IMAGES.values())]))
def test_damaged_files_never_raise(tail: bytes, head: bytes) -> None:
    size = image_size(head + tail)
    assert size is None or min(size) > 0


@given(st.text(max_size=100))
def test_text_that_is_not_base64_never_raises(text: str) -> None:
    size = image_size_base64(text)
    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    ("provider", "width", "height", "detail", "tokens"),
    [
        ("openai", 1024, 1024, "high", 765),
        ("openai", 2048, 4096, "high", 1105),
        ("openai", 4096, 8192, "low", 85),
        ("openai", 512, 512, None, 255),
        ("anthropic", 1000, 1000, None, 1334),
        ("anthropic", 1092, 1092, None, 1590),
        ("anthropic", 4000, 4000, None, 1600),
        ("gemini", 384, 384, None, 258),
        ("gemini", 960, 540, None, 1548),
    ],
)
def test_follows_the_published_examples(
    provider: str, width: int, height: int, detail: str | None, tokens: int
) -> None:
    assert image_tokens(provider, width, height, detail) == tokens


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_image_of_unknown_size_counts_as_a_screenshot(provider: str) -> None:
    assert image_tokens(provider, None, None) == image_tokens(provider, 1920, 1080)
    assert image_tokens(provider, 0, -3) == image_tokens(provider, 1920, 1080)


@given(
    st.sampled_from(PROVIDERS),
    st.one_of(st.none(), st.integers(-5, 10**9)),
    st.one_of(st.none(), st.integers(-5, 10**9)),
    st.sampled_from([None, "low", "high", "auto", "?"]),
)
def test_every_image_costs_between_80_and_6000_tokens(
    provider: str, width: int | None, height: int | None, detail: str | None
) -> None:
    assert 80 <= image_tokens(provider, width, height, detail) <= 6_000


def test_a_file_of_a_megabyte_costs_between_80_and_6000_tokens() -> None:
    assert 80 <= document_tokens(None, MEGABYTE) <= 6_000
    assert 80 <= audio_tokens(None, MEGABYTE) <= 6_000


def test_documents_count_by_page_and_grow_with_size() -> None:
    assert document_tokens(10, MEGABYTE) == 18_000
    assert document_tokens(None, 20 * MEGABYTE) > document_tokens(None, MEGABYTE)
    assert document_tokens(None, None) == document_tokens(0, 0) == 1_800


def test_audio_counts_by_second() -> None:
    assert audio_tokens(60, None) == 1_920
    assert audio_tokens(None, 160_000) == 320
    assert audio_tokens(None, None) == 80
