"""PDF files as text, page by page."""

from __future__ import annotations

import logging
import time
from io import BytesIO
from typing import Any, Final

from foldline.errors import InputError, MissingExtra

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
        pages, warnings = _pages(reader, most_pages, most_chars)
        title = str(getattr(reader.metadata, "title", None) or "").strip()
    except InputError:
        raise
    except Exception as error:  # a damaged file can raise anything in its parser
        told = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{name} cannot be read as PDF: {told}") from error
    if not any(page.strip() for page in pages):
        raise InputError(
            f"{name} holds no text",
            hint="It may be a scan; run it through text recognition first.",
        )
    return pages, title, warnings


def _pages(reader: Any, most_pages: int, most_chars: int) -> tuple[list[str], tuple[str, ...]]:
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
