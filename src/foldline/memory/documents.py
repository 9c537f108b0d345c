"""
Read documents as text, with the source of each line, and walk folders of documents.

    document = read_file(Path("guide.md"))
    document.text, document.kind, document.title
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Literal, TypeAlias

from foldline.core.retention_settings import SECRETS
from foldline.core.validation import whole
from foldline.errors import InputError
from foldline.frozen import field, frozen
from foldline.memory.chunk import Kind
from foldline.memory.cut_points import headings
from foldline.memory.text_extraction import decode_text, html_text, pdf_text

Unit: TypeAlias = Literal["line", "page", "text line"]
"""The unit of a citation: lines of a file, pages, or lines of the extracted text."""

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


@frozen
class ReadLimits:
    """
    Limits of reading: bytes of a file, pages of a PDF file, entries of folders.

    Raises:
        BudgetError: A number is out of range.
    """

    bytes: int = 20_000_000
    pages: int = 5_000
    entries: int = 200_000

    def __post_init__(self) -> None:
        for name in ("bytes", "pages", "entries"):
            whole(f"documents.{name}", getattr(self, name), 1)


@frozen
class DocumentText:
    """
    A document as text.

    ``kind`` decides how it is split. ``unit`` is the unit of its citations; ``places`` has the
    number for each line of the text, and is empty if that is the line number. ``warnings`` are
    sentences about content that could not be read.
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
    Read a file; symbolic links are not followed.

    Raises:
        InputError: It is too large, not a regular file, not text, or cannot be opened.
        MissingExtra: HTML and PDF need the extra ``documents``.
    """
    bounds = limits or ReadLimits()
    # Opened without blocking: opening a pipe without a writer would never return.
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path} is not a regular file", hint="Name a file or a folder.")
            data = file.read(bounds.bytes + 1) if status.st_size <= bounds.bytes else None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}") from error
    if data is None or len(data) > bounds.bytes:
        raise InputError(f"{path} is larger than {bounds.bytes:,} bytes")
    return read_document(data, path.name, bounds)


def read_document(data: bytes, name: str, limits: ReadLimits | None = None) -> DocumentText:
    """
    Read bytes as a document of the type that the name suggests.

    Raises:
        InputError: They are not text.
        MissingExtra: HTML and PDF need the extra ``documents``.
    """
    bounds = limits or ReadLimits()
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if ending == "pdf" or data.startswith(b"%PDF-"):
        return _pdf(data, name, bounds)
    found = decode_text(data, name)
    warnings = (f"read as {found.encoding}, which is a guess",) if found.guessed else ()
    if ending in HTML:
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


# --- folders ------------------------------------------------------------------------------------

DEEPEST: Final = 32
LEFT_OUT: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages"}
)
"""Folders of third-party or generated files; folders whose name begins with a dot count, too."""


@frozen
class Skipped:
    """A path that was not read, and the reason."""

    path: Path
    why: str


def is_folder(path: Path) -> bool:
    """
    Return True if a path is a folder, False if it is anything else or missing.

    Raises:
        InputError: It is not a valid path.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{str(path)[:100]!r} cannot be read: {reason}", field="path") from error


def files_below(folder: Path, most: int) -> Iterator[Path | Skipped]:
    """
    Walk a folder in the order of names.

    Links are never followed, and files whose names suggest secrets are skipped.

    Args:
        folder: The folder.
        most: The maximum number of entries to read.

    Yields:
        Regular files that are not empty, and skipped entries worth reporting.
    """
    waiting, count = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(here, error.strerror or str(error))
            continue
        count += len(children)
        if count > most or depth > DEEPEST:
            yield Skipped(here, "too many or too deep folders; name a smaller one")
            return
        folders = [child for child in children if _is_folder(child)]
        waiting += [(Path(child.path), depth + 1) for child in reversed(folders)]
        for child in children:
            yield from _file(child)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    hidden = entry.name.startswith(".") or entry.name in LEFT_OUT
    return not hidden and entry.is_dir(follow_symlinks=False)


def _file(entry: os.DirEntry[str]) -> Iterator[Path | Skipped]:
    path = Path(entry.path)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        yield Skipped(path, error.strerror or str(error))
        return
    if stat.S_ISLNK(status.st_mode):
        yield Skipped(path, "a link")
    elif stat.S_ISREG(status.st_mode) and status.st_size:
        if any(fnmatch(entry.name.lower(), pattern) for pattern in SECRETS):
            yield Skipped(path, "its name suggests that it holds secrets")
        elif not entry.name.startswith("."):
            yield path
