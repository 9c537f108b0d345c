"""The bytes of a transcript file: bounded, decompressed, never changed."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from foldline.errors import InputError
from foldline.frozen import field, frozen

MAX_BYTES = 512 * 1024 * 1024
"""Default maximum size of input, in bytes."""

EXPANSION = 25
"""Maximum expansion factor of compressed input; transcripts compress by a factor of 2 to 10."""

UNPACKED_BYTES = 8 * 1024 * 1024
"""Size to which any compressed input may expand, in bytes; as parsed JSON at most 0.5 GB."""

HEAD_BYTES = 64 * 1024
"""Bytes of a file that are read to detect its format; the last line is read to its end."""

HEAD_LINES = 200
"""Maximum number of lines that are read to detect a format."""

LONGEST_HEAD_LINE = 8 * 1024 * 1024
"""Maximum length of such a line, in bytes."""

_PIECE = 1024 * 1024
"""Size of one read, in bytes."""

_JSON = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"])")
_GZIP = b"\x1f\x8b"


@frozen
class TranscriptSource:
    """
    The content of a file.

    Args:
        data: Decompressed bytes.
        name: Its name in messages, usually the file name.
        max_bytes: The caller's limit, in bytes; None for the limits of this module.
    """

    data: bytes = field(repr=False)
    name: str = "input"
    max_bytes: int | None = None

    @classmethod
    def of(
        cls, data: bytes, name: str = "input", max_bytes: int | None = None
    ) -> TranscriptSource:
        """
        Create a source from bytes, decompressing gzip.

        Raises:
            InputError: Too large, damaged, empty or binary.
        """
        if data[:2] == _GZIP:
            data = _gunzip(data, name, unpacked_limit(len(data), max_bytes))
        elif len(data) > plain_limit(max_bytes):
            raise too_large(name, plain_limit(max_bytes))
        if not data.strip():
            raise InputError(f"{name} is empty", hint="Give a file that holds a conversation.")
        source = cls(data, name, max_bytes)
        if source.encoding == "utf-8" and b"\0" in data[:HEAD_BYTES] and data[:2] != b"PK":
            raise InputError(f"{name} is a binary file", hint="Give JSON, JSON Lines or Markdown.")
        return source

    @cached_property
    def encoding(self) -> str:
        """The encoding of the text, by its byte order mark; UTF-8 if it has none."""
        marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
        return marks.get(self.data[:2], "utf-8")

    @cached_property
    def text(self) -> str:
        """The content as text; undecodable bytes become replacement characters."""
        return decode_text(self.data, self.encoding)

    @cached_property
    def document(self) -> Any:
        """The content as one JSON value, or None if it is not one."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    @property
    def broken_at(self) -> str:
        """The position and cause of a JSON syntax error; "" if there is none or it is not JSON."""
        if self.head or _JSON.match(self.text) is None or self.document is not None:
            return ""
        try:
            json.loads(self.text)
        except json.JSONDecodeError as error:
            return f"line {error.lineno}, column {error.colno}: {error.msg}"
        except (ValueError, RecursionError):
            return ""
        return ""

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The lines with their endings, split at line feeds only; joined they are the data."""
        return tuple(_lines(self.data, self.encoding))

    @cached_property
    def head(self) -> tuple[Any, ...]:
        """The first readable JSON Lines values, for recognising a format."""
        if b"\n" not in self.data.rstrip():  # a single line is parsed only once
            return (self.document,) if isinstance(self.document, (dict, list)) else ()
        values, size = [], 0
        for line in islice(_lines(self.data, self.encoding), HEAD_LINES):
            if size < HEAD_BYTES and len(line) <= LONGEST_HEAD_LINE:
                values.append(parse_line(line, self.encoding))
            size += len(line)
        return tuple(value for value in values if value is not None)


def decode_text(data: bytes, encoding: str = "utf-8") -> str:
    """Decode text without its byte order mark; undecodable bytes become U+FFFD."""
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def parse_line(line: bytes, encoding: str = "utf-8") -> Any:
    """Parse one line as a JSON object or list; None if it is anything else."""
    text = decode_text(line, encoding).strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(data: bytes, encoding: str) -> Iterator[bytes]:
    feed, width = "\n".encode(encoding), len("\n".encode(encoding))
    start = 0
    found = data.find(feed)
    while found >= 0:
        if found % width:
            found = data.find(feed, found + 1)
            continue
        yield data[start : found + width]
        start = found + width
        found = data.find(feed, start)
    if start < len(data):
        yield data[start:]


def plain_limit(max_bytes: int | None) -> int:
    """Return the size limit of uncompressed input, in bytes."""
    return MAX_BYTES if max_bytes is None else max_bytes


def unpacked_limit(packed: int, max_bytes: int | None) -> int:
    """Return the size to which ``packed`` bytes of compressed input may expand, in bytes."""
    if max_bytes is not None:
        return max_bytes
    return min(MAX_BYTES, max(UNPACKED_BYTES, EXPANSION * packed))


def read_up_to(read: Callable[[int], bytes], most: int) -> bytes:
    """
    Read a stream up to a number of bytes, in memory proportional to its content.

    Streams themselves allocate the requested number of bytes, however few arrive.

    Args:
        read: The read method of the stream.
        most: Maximum number of bytes to read.
    """
    out = io.BytesIO()
    while piece := read(min(_PIECE, most - out.tell())):
        out.write(piece)
    return out.getvalue()


def _gunzip(data: bytes, name: str, limit: int) -> bytes:
    """Decompress every member of a gzip file, up to the limit."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = read_up_to(file.read, limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = "it ends too early" if isinstance(error, EOFError) else str(error)
        if why.startswith("Not a gzipped file"):  # the first member was valid
            why = "something else follows it"
        raise InputError(
            f"{name} is not a readable gzip file: {why}", hint="Copy or compress it again."
        ) from error
    if len(plain) > limit:
        raise too_large(name, limit)
    return plain


def too_large(name: str, limit: int) -> InputError:
    """Return the error for input larger than a limit in bytes."""
    return InputError(
        f"{name} is larger than {limit:,} bytes",
        hint="Split it, compact the newest part, or raise the limit: max_bytes, --max-bytes.",
    )
