"""
The edge of what is put back: the files that tools touched, read again from the disk.

Only regular files inside one directory are read, whatever a conversation claims: the path is
followed to where it really leads, and opened step by step without following another link.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.attachment import FoundFile, visible_paths
from foldline.reinjection.file_access import FileAccess, normalize_path, relative_to_root
from foldline.rooted_files import TooLarge, open_file, read_content
from foldline.session.state import SessionState

LARGEST: Final = 1 << 20
"""A file of more bytes is not read; it is named, with its size."""

CANDIDATES: Final = 4
"""How many times the configured number of files is looked at, since some do not fit."""

SNIFF: Final = 8_192
"""Bytes at the beginning that tell whether a file is text."""

ODD_SHARE: Final = 0.1
"""From this share of control characters, or of characters that cannot be decoded, it is not."""

MARKS: Final = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_files(touched: Sequence[FileAccess], settings: FileSettings) -> tuple[FoundFile, ...]:
    """
    Read files as they are now.

    Args:
        touched: The newest access of each file, newest first.
        settings: Where the files lie and how many are put back.

    Returns:
        Those that lie inside the root and may be shown, in the same order; a file under two names
        comes once.
    """
    if settings.root is None:
        return ()
    root = Path(settings.root).resolve()
    found: dict[Path, FoundFile] = {}
    for access in touched[: settings.count * CANDIDATES]:
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            path = (root / access.path).resolve()
            hidden = _is_hidden(path, settings) or _is_hidden(Path(access.path), settings)
            if path != root and path.is_relative_to(root) and not hidden and path not in found:
                found[path] = _read(root, path, access)
    return tuple(found.values())


def is_in_view(state: SessionState, path: str) -> bool:
    """Return True if the newest content of a file is in view; the path is as tools got it."""
    settings = state.settings.config.files
    view = state.current_view.view(state.codec.name)
    name = relative_to_root(normalize_path(path), settings.root)
    return bool(name) and name in visible_paths(
        view, state.current_view.statistics.working.accesses
    )


def _is_hidden(path: Path, settings: FileSettings) -> bool:
    name = path.name.casefold()
    return any(fnmatchcase(name, pattern.casefold()) for pattern in settings.never)


def _read(root: Path, path: Path, access: FileAccess) -> FoundFile:
    """Read one file; raises OSError for what is no regular file, or may not be read."""
    try:
        with open_file(root, path.relative_to(root).parts) as number:
            size = os.fstat(number).st_size
            data = read_content(number, LARGEST).data
    except FileNotFoundError:
        return FoundFile(access, "deleted")
    except TooLarge:
        return FoundFile(access, "large", size=max(size, LARGEST + 1))
    text = decode(data)
    return FoundFile(access, "binary" if text is None else "text", text or "", size)


def decode(data: bytes) -> str | None:
    """
    Return a file's bytes as text; what cannot be decoded becomes a replacement character.

    Returns:
        None where this is no text.
    """
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    text = data.decode(MARKS.get(mark, "utf-8"), "replace")
    odd = sum(ord(sign) < 32 and sign not in "\t\n\r\f\x1b" for sign in text[:SNIFF])
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if odd > ODD_SHARE * min(len(text), SNIFF) or lost > ODD_SHARE * len(text) or "\0" in text:
        return None
    return text
