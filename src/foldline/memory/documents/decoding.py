"""Bytes as text, in the encodings that files really have; or the news that they are no text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from foldline.errors import InputError

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HAN: Final = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LINE_END: Final = re.compile("\r\n?|[\u2028\x85]")

SAMPLE: Final = 65_536
"""Characters by which a text is told from other data, and its encoding from others."""

MOST_CONTROLS: Final = 0.02
"""The share of control characters from which on data is no text."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text whose lines end with a line feed, and the encoding that it had."""

    text: str
    encoding: str
    guessed: bool = False


def decoded(data: bytes, name: str) -> Decoded:
    """
    Read bytes as text.

    Args:
        data: The bytes.
        name: What errors call them.

    Raises:
        InputError: They are no text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text(data[len(mark) :].decode(encoding, "replace"), encoding, name)
    if b"\0" in data[:SAMPLE]:
        return _wide(data, name)
    try:
        return _text(data.decode("utf-8"), "utf-8", name)
    except UnicodeDecodeError:
        pass
    if _is_chinese(data[:SAMPLE]):
        return _text(data.decode("gb18030", "replace"), "gb18030", name, guessed=True)
    return _text(data.decode("cp1252", "replace"), "cp1252", name, guessed=True)


def _is_chinese(sample: bytes) -> bool:
    """Tell whether bytes are GB 18030; in other encodings they would pair with Latin letters."""
    text = sample.decode("gb18030", "ignore")
    wide = sum(char > "\x7f" for char in text)
    high = sum(byte > 0x7F for byte in sample)
    return high > 1.7 * wide and len(_HAN.findall(text)) > 0.6 * wide


def _wide(data: bytes, name: str) -> Decoded:
    """Read UTF-16 without a mark, in which every other byte of Latin text is zero."""
    even, odd = data[:SAMPLE:2].count(0), data[1:SAMPLE:2].count(0)
    if max(even, odd) > 20 * min(even, odd) and max(even, odd) * 8 > len(data[:SAMPLE]):
        encoding = "utf-16-be" if even > odd else "utf-16-le"
        return _text(data.decode(encoding, "replace"), encoding, name, guessed=True)
    raise _no_text(name)


def _text(text: str, encoding: str, name: str, *, guessed: bool = False) -> Decoded:
    sample = text[:SAMPLE]
    if len(_CONTROLS.findall(sample)) > MOST_CONTROLS * len(sample):
        raise _no_text(name)
    return Decoded(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), encoding, guessed)


def _no_text(name: str) -> InputError:
    return InputError(f"{name} is no text", hint="Only text, HTML and PDF files can be read.")
