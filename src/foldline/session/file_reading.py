"""
Reading the files to reinject, as they are on disk now.

Only regular files inside one directory are read, whatever paths a conversation contains: the path
is resolved, and opened component by component without following another link.
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
from foldline.reinjection.file_access import FileAccess, relative_to_root
from foldline.rooted_files import TooLarge, open_file, read_content
from foldline.session.state import SessionState
from foldline.snapshot.file_operations import normalize_path

LARGEST: Final = 1 << 20
"""Maximum size of a file that is read, in bytes; a larger one is only named, with its size."""

CANDIDATES: Final = 4
"""Files that are read for each one to reinject, since some do not fit."""

SNIFF: Final = 8_192
"""Characters at the beginning that are checked to detect whether a file is text."""

ODD_SHARE: Final = 0.1
"""Maximum share of control characters, and of undecodable characters, in a text file."""

MARKS: Final = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_files(touched: Sequence[FileAccess], settings: FileSettings) -> tuple[FoundFile, ...]:
    """
    Read files as they are now.

    Args:
        touched: The newest access of each file, newest first.
        settings: The root directory, and how many files to reinject.

    Returns:
        The files inside the root that may be shown, in the same order; a file with two names
        appears once.
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
    """Return True if the newest content of a file is in view; the path is as passed to tools."""
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
    """Read one file; raise OSError if it is not a regular file, or cannot be read."""
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
    Decode the bytes of a file; undecodable bytes become replacement characters.

    Returns:
        The text; None if the file is not text.
    """
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    text = data.decode(MARKS.get(mark, "utf-8"), "replace")
    odd = sum(ord(sign) < 32 and sign not in "\t\n\r\f\x1b" for sign in text[:SNIFF])
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if odd > ODD_SHARE * min(len(text), SNIFF) or lost > ODD_SHARE * len(text) or "\0" in text:
        return None
    return text
