"""
One document as text, with where each line of it comes from: plain text, HTML and PDF.

    document = read_file(Path("guide.md"))
    document.text, document.kind, document.title
"""

from __future__ import annotations

import codecs
import logging
import os
import re
import stat
import time
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from foldline.core.validation import whole
from foldline.errors import InputError, MissingExtra
from foldline.memory.chunk import Kind
from foldline.memory.chunk.outline import headings

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
class DecodedText:
    """A text whose lines end with a line feed, and the encoding that it had."""

    text: str
    encoding: str
    guessed: bool = False


def decode_text(data: bytes, name: str) -> DecodedText:
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
    """Return True if bytes are GB 18030; in other encodings they would pair with Latin letters."""
    text = sample.decode("gb18030", "ignore")
    wide = sum(char > "\x7f" for char in text)
    high = sum(byte > 0x7F for byte in sample)
    return high > 1.7 * wide and len(_HAN.findall(text)) > 0.6 * wide


def _wide(data: bytes, name: str) -> DecodedText:
    """Read UTF-16 without a mark, in which every other byte of Latin text is zero."""
    even, odd = data[:SAMPLE:2].count(0), data[1:SAMPLE:2].count(0)
    if max(even, odd) > 20 * min(even, odd) and max(even, odd) * 8 > len(data[:SAMPLE]):
        encoding = "utf-16-be" if even > odd else "utf-16-le"
        return _text(data.decode(encoding, "replace"), encoding, name, guessed=True)
    raise _no_text(name)


def _text(text: str, encoding: str, name: str, *, guessed: bool = False) -> DecodedText:
    sample = text[:SAMPLE]
    if len(_CONTROLS.findall(sample)) > MOST_CONTROLS * len(sample):
        raise _no_text(name)
    return DecodedText(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), encoding, guessed)


def _no_text(name: str) -> InputError:
    return InputError(f"{name} is no text", hint="Only text, HTML and PDF files can be read.")


SECONDS: Final = 120.0
"""The longest that one file may take."""


def pdf_text(
    data: bytes, name: str, most_pages: int, most_chars: int
) -> tuple[list[str], str, tuple[str, ...]]:
    """
    Return the text of each page, the title, and what could not be read.

    Args:
        data: The file.
        name: What errors call it.
        most_pages: Pages that are read.
        most_chars: Characters that are read.

    Raises:
        InputError: It is damaged, locked with a password, or holds no text, as a scan does.
        MissingExtra: What reads it is not installed.
    """
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtra("pypdf", "documents") from error
    # It tells every oddity of a file in the log of the program, which is not where we tell it.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is locked with a password")
        pages, warnings = _pdf_pages(reader, most_pages, most_chars)
        title = str(getattr(reader.metadata, "title", None) or "").strip()
    except InputError:
        raise
    except Exception as error:  # a damaged file can raise anything in its parser
        cause = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{name} cannot be read as PDF: {cause}") from error
    if not any(page.strip() for page in pages):
        raise InputError(
            f"{name} holds no text",
            hint="It may be a scan; run it through text recognition first.",
        )
    return pages, title, warnings


def _pdf_pages(reader: Any, most_pages: int, most_chars: int) -> tuple[list[str], tuple[str, ...]]:
    whole = len(reader.pages)
    pages, warnings, chars = list[str](), list[str](), 0
    deadline = time.monotonic() + SECONDS
    for number in range(min(whole, most_pages)):
        if chars > most_chars or time.monotonic() > deadline:
            break
        try:
            text = reader.pages[number].extract_text()
        except Exception as error:  # noqa: BLE001  # the other pages may be readable
            warnings.append(f"page {number + 1} cannot be read: {type(error).__name__}")
            text = ""
        pages.append(text[: most_chars + 1])
        chars += len(text)
    if len(pages) < whole:
        warnings.append(f"{len(pages):,} of {whole:,} pages were read")
    return pages, tuple(warnings)


Unit: TypeAlias = Literal["line", "page", "text line"]
"""What a citation counts: lines of a file, pages, or lines of the text that was taken from it."""

CODE: Final = frozenset(
    """
    c cc cpp cs css cxx clj dart el erl ex exs fs go gradle graphql groovy h hpp hs hxx ini
    java jl js json jsonc jsx kt kts less lua m mjs cjs ml nim nix php pl proto ps1 py pyi r
    rb rs sass scala scss sh bash zsh fish sql svelte swift tf toml ts tsx vim vue yaml yml
    zig
    """.split()  # noqa: SIM905  # a list of words
)
MARKDOWN: Final = frozenset({"md", "markdown", "mdx", "mkd", "qmd"})
HTML: Final = frozenset({"html", "htm", "xhtml"})
CODE_NAMES: Final = frozenset({"makefile", "dockerfile", "rakefile", "gemfile", "justfile"})


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """
    The most that is read: bytes of a file, pages of a PDF file, entries of folders.

    Raises:
        BudgetError: A number is out of range.
    """

    bytes: int = 20_000_000
    pages: int = 5_000
    entries: int = 200_000

    def __post_init__(self) -> None:
        for name in ("bytes", "pages", "entries"):
            whole(f"documents.{name}", getattr(self, name), 1)


@dataclass(frozen=True, slots=True)
class DocumentText:
    """
    A document as text.

    ``kind`` says how it is cut. ``unit`` is what its citations count; ``places`` has the number
    for each line of the text, and is empty where that is the number of the line. ``warnings`` are
    sentences about what could not be read.
    """

    text: str = field(repr=False)
    kind: Kind = "text"
    title: str = ""
    unit: Unit = "line"
    places: tuple[int, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()

    def place(self, line: int) -> int:
        """Return the number by which a line of the text is cited."""
        return self.places[line - 1] if self.places else line


def read_file(path: Path, limits: ReadLimits | None = None) -> DocumentText:
    """
    Read a file; a link is not followed.

    Raises:
        InputError: It is too large, no regular file, no text, or cannot be opened.
        MissingExtra: HTML and PDF need the extra ``documents``.
    """
    bounds = limits or ReadLimits()
    # Not blocking: a pipe without a writer would be waited for without end.
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path} is no regular file", hint="Name a file or a folder.")
            data = file.read(bounds.bytes + 1) if status.st_size <= bounds.bytes else None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}") from error
    if data is None or len(data) > bounds.bytes:
        raise InputError(f"{path} is larger than {bounds.bytes:,} bytes")
    return read_document(data, path.name, bounds)


def read_document(data: bytes, name: str, limits: ReadLimits | None = None) -> DocumentText:
    """
    Read bytes as the document that their name says they are.

    Raises:
        InputError: They are no text.
        MissingExtra: HTML and PDF need the extra ``documents``.
    """
    bounds = limits or ReadLimits()
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if ending == "pdf" or data.startswith(b"%PDF-"):
        return _pdf(data, name, bounds)
    found = decode_text(data, name)
    warnings = (f"read as {found.encoding}, which is a guess",) if found.guessed else ()
    if ending in HTML:
        from foldline.memory.documents.html import html_text

        text, title = html_text(found.text, name)
        return DocumentText(text, "markdown", title, "text line", warnings=warnings)
    if ending in MARKDOWN:
        first = next(headings(found.text[:20_000]), None)
        title = first.title if first is not None else ""
        return DocumentText(found.text, "markdown", title, warnings=warnings)
    is_code = ending in CODE or name.lower() in CODE_NAMES
    return DocumentText(found.text, "code" if is_code else "text", warnings=warnings)


def _pdf(data: bytes, name: str, limits: ReadLimits) -> DocumentText:

    pages, title, warnings = pdf_text(data, name, limits.pages, limits.bytes)
    lines, places = list[str](), list[int]()
    for number, page in enumerate(pages, 1):
        rows = [*page.replace("\r", "\n").replace("\0", "").split("\n"), ""]
        lines += rows
        places += [number] * len(rows)
    return DocumentText("\n".join(lines), "text", title, "page", tuple(places), warnings)
