"""Files of a corpus, local or remote: opened, written and listed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from foldline.atomic_files import replace_file
from foldline.errors import FoldlineError, InputError, MissingExtra, StoreError
from foldline.formats.files import may_be_transcript, read_bytes

_SKIP: Final = 1024 * 1024
"""Bytes of an overlong line to skip at a time."""


def is_remote(path: str) -> bool:
    """Return True if a path is an address such as ``s3://bucket/folder``."""
    return "://" in path


def connect(path: str) -> tuple[Any, str]:
    """
    Return the file system of a path, and the path within it.

    Raises:
        InputError: No file system has this protocol, or its package is missing.
        MissingExtra: fsspec is not installed.
    """
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("fsspec", "cluster") from error
    try:
        system, inner = url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise InputError(f"{path} cannot be reached: {error}") from error
    return system, str(inner)


@contextmanager
def _readable(path: str, action: str = "read") -> Iterator[None]:
    """Turn any storage error into an `InputError` that names the path."""
    try:
        yield
    except FoldlineError:
        raise
    except Exception as error:  # every storage has its own exceptions
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"{path} cannot be {action}: {reason[:300]}") from error


def read_whole(path: str, most: int) -> bytes:
    """
    Read a file.

    Args:
        path: A path or an address.
        most: Maximum size, in bytes; of a larger file, ``most + 1`` bytes are read.

    Raises:
        InputError: It cannot be read.
    """
    return read_bytes(Path(path), most) if not is_remote(path) else read_start(path, most + 1)


def read_start(path: str, size: int) -> bytes:
    """
    Read the beginning of a file, at most ``size`` bytes.

    Raises:
        InputError: It cannot be read.
    """
    with _readable(path):
        system, inner = connect(path)
        with system.open(inner, "rb") as file:
            data: bytes = file.read(size)
        return data


def read_lines(
    path: str, start: int, end: int, longest: int
) -> Iterator[tuple[int, bytes | None]]:
    """
    Read the lines that start in a range of a file.

    Args:
        path: A path or an address.
        start: The first byte of the range.
        end: The first byte after it.
        longest: Maximum length of a line, in bytes.

    Yields:
        The offset of a line, and the line, or None if it is longer.

    Raises:
        InputError: It cannot be read.
    """
    with _readable(path):
        system, inner = connect(path)
        with system.open(inner, "rb") as file:
            if start:
                file.seek(start - 1)
                _pass_line(file)
            position = file.tell()
            while position < end:
                line = file.readline(longest + 1)
                if not line:
                    return
                if len(line) > longest and not line.endswith(b"\n"):
                    _pass_line(file)
                    line = None
                yield position, line
                position = file.tell()


def _pass_line(file: Any) -> None:
    """Skip to the start of the next line."""
    piece = file.readline(_SKIP)
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(_SKIP)


def write_whole(path: str, data: bytes) -> None:
    """
    Write a file atomically; objects of a store are atomic by themselves.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        if is_remote(path):
            system, inner = connect(path)
            system.pipe_file(inner, data)
        else:
            replace_file(Path(path), data)
    except FoldlineError:
        raise
    except Exception as error:
        raise StoreError(f"{path} cannot be written: {error}.") from error


MAX_FILES: Final = 10_000_000
MAX_DEPTH: Final = 64
SKIPPED: Final = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", ".tox"})
_VERSIONS: Final = ("ETag", "etag", "mtime", "LastModified", "last_modified", "created")


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """
    A file of a corpus.

    Args:
        path: An absolute path, or an address with its protocol.
        size: In bytes; -1 if the storage does not report it.
        version: A text that changes with the content.
        problem: Why it cannot be read; "" if it can.
    """

    path: str
    size: int = -1
    version: str = ""
    problem: str = ""


def list_files(patterns: Iterable[str], out: str) -> list[SourceFile]:
    """
    List the files that patterns name.

    Args:
        patterns: Files, folders with everything below them, and patterns with ``*``, ``**``, ``?``
            and ``[…]``; addresses such as ``s3://bucket/logs``. A link is followed only if it is
            named itself.
        out: The output folder, which is skipped.

    Returns:
        Each file once, sorted by path.

    Raises:
        InputError: A pattern matches nothing, or a folder cannot be read.
    """
    own = _absolute(out).rstrip("/") + "/"
    found = dict[str, SourceFile]()
    for pattern in patterns:
        before = len(found)
        for file in _matching(_absolute(pattern)):
            if not file.path.startswith(own):
                found[file.path] = file
            if len(found) > MAX_FILES:
                raise InputError(f"{pattern} names more than {MAX_FILES:,} files")
        if len(found) == before and not any(True for _ in _matching(_absolute(pattern))):
            raise InputError(f"{pattern} names no transcript", hint="Name a file or a folder.")
    return [found[path] for path in sorted(found)]


def _absolute(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111  # of any bytes


def _matching(pattern: str) -> Iterator[SourceFile]:
    with _readable(pattern, "listed"):
        try:
            yield from _look_up(pattern)
        except FileNotFoundError as error:
            raise InputError(f"{pattern} does not exist") from error


def _look_up(pattern: str) -> Iterator[SourceFile]:
    system, inner = connect(pattern)
    web = pattern.startswith(("http://", "https://"))
    if _has_magic(inner, web) and (web or not system.exists(inner)):
        for info in system.glob(inner, detail=True).values():
            if info.get("type") == "file" or info.get("islink"):
                yield _file(system, info, pattern)
    elif inner.endswith("/") if web else system.isdir(inner):
        yield from _walk(system, inner, pattern)
    else:
        info = system.info(inner)
        if info.get("type") == "other" and not info.get("islink"):
            raise InputError(f"{pattern} is not a regular file")
        yield _file(system, info, pattern)


def _has_magic(path: str, web: bool) -> bool:
    return "*" in path or (not web and ("?" in path or "[" in path))


def _walk(system: Any, folder: str, pattern: str) -> Iterator[SourceFile]:
    """Walk a folder tree; an unreadable entry becomes a file with a problem."""
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            children = system.ls(here, detail=True)
        except OSError as error:
            yield SourceFile(_name(system, here, pattern), problem=error.strerror or str(error))
            continue
        for info in children:
            name = str(info["name"]).rstrip("/").rsplit("/", 1)[-1]
            if info["type"] == "directory":
                if name not in SKIPPED and depth < MAX_DEPTH:
                    waiting.append((info["name"], depth + 1))
            elif info["type"] == "file" and info.get("size") != 0 and may_be_transcript(name):
                yield _file(system, info, pattern)


def _file(system: Any, info: Mapping[str, Any], pattern: str) -> SourceFile:
    size = info.get("size")
    version = next((str(info[key]) for key in _VERSIONS if info.get(key)), "")
    named = _name(system, str(info["name"]), pattern)
    return SourceFile(named, -1 if size is None else int(size), version)


def _name(system: Any, inner: str, pattern: str) -> str:
    return str(system.unstrip_protocol(inner)) if is_remote(pattern) else inner
