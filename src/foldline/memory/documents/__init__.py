"""Documents as text: plain text, Markdown, code, HTML and PDF files, and folders of them."""

from __future__ import annotations

from foldline.memory.documents.folder import Skipped, files_below
from foldline.memory.documents.reading import DocumentText, ReadLimits, read_document, read_file

__all__ = ["DocumentText", "ReadLimits", "Skipped", "files_below", "read_document", "read_file"]
