"""Export of a session's whole original transcript as JSON Lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from foldline.atomic_files import open_replacement
from foldline.errors import StoreError
from foldline.formats.json_document import escape_halves
from foldline.session.codec import freeze
from foldline.values.messages import Message


class Writable(Protocol):
    """A file that is open for writing text."""

    def write(self, text: str, /) -> object:
        """Write a text."""
        ...


Target: TypeAlias = str | os.PathLike[str] | Writable


def export(messages: Iterable[Message], target: Target) -> int:
    """
    Write messages as they were received, one JSON value per line.

    The file replaces an earlier one only when all of it is on disk; until then, and after any
    error, the earlier file stays.

    Args:
        messages: The log.
        target: A path, or a file open for writing text.

    Returns:
        Number of messages written.

    Raises:
        StoreError: The file cannot be written.
    """
    if not isinstance(target, (str, os.PathLike)):
        return _write(messages, target)
    path = Path(target)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a device or a pipe
            with path.open("w", encoding="utf-8", newline="\n") as device:
                return _write(messages, device)
        with open_replacement(path) as file:
            text = TextIOWrapper(file, encoding="utf-8", newline="\n")
            count = _write(messages, text)
            text.detach()  # flushes; the file is closed by `open_replacement`
            return count
    except (OSError, ValueError) as error:
        if not isinstance(error, (OSError, UnicodeEncodeError)) and "\0" not in str(path):
            raise
        raise StoreError(
            f"The transcript cannot be written to {str(path)[:200]!r}: {str(error)[:200]}.",
            hint="Name a file in a folder that exists and can be written.",
        ) from error


def _write(messages: Iterable[Message], file: Writable) -> int:
    count = 0
    for count, line in enumerate(_lines(messages), 1):  # noqa: B007  # the last count is returned
        file.write(line)
    return count


def _lines(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        value: Any = freeze(message.raw)
        yield escape_halves(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n"
