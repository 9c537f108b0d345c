"""Pointers into the codebase: a file, perhaps lines of it, and the hash of what was there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias

from foldline.errors import FoldlineError, InputError
from foldline.tools.files.root import Root

Standing: TypeAlias = Literal["same", "changed", "gone", "unknown"]

LARGEST: Final = 10 << 20
"""Bytes of a file that is pointed at."""

DIGITS: Final = 16
"""Hexadecimal digits of the SHA-256 that a pointer keeps."""

_TEXT: Final = re.compile(
    r"(?P<path>.+?)(?::(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?)?(?:@(?P<hash>[0-9a-f]{16}))?"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """
    A place in the codebase.

    ``lines`` are counted from 1, the last one included; None means the whole file. The hash is
    that of these lines only, so that a change elsewhere in the file does not count.
    """

    path: str
    lines: tuple[int, int] | None = None
    hash: str = ""

    @classmethod
    def parsed(cls, text: str) -> Self:
        """
        Read a pointer, written as ``path``, ``path:12`` or ``path:12-20``, perhaps with ``@hash``.

        Raises:
            InputError: It is none.
        """
        found = _TEXT.fullmatch(text.strip())
        if found is None or "\n" in text:
            raise InputError(
                f"{text[:80]!r} is no place in a file",
                field="source",
                hint="Write path, path:12 or path:12-20.",
            )
        lines = None
        if found["first"]:
            first = int(found["first"])
            lines = (first, int(found["last"] or first))
            if not 1 <= lines[0] <= lines[1]:
                raise InputError(f"there are no lines {lines[0]} to {lines[1]}", field="source")
        return cls(found["path"], lines, found["hash"] or "")

    @property
    def where(self) -> str:
        """The place without its hash."""
        if self.lines is None:
            return self.path
        first, last = self.lines
        return f"{self.path}:{first}" if first == last else f"{self.path}:{first}-{last}"

    def __str__(self) -> str:
        return f"{self.where}@{self.hash}" if self.hash else self.where

    def taken(self, root: Root) -> Self:
        """
        Return the pointer with the hash of what is there now.

        Raises:
            InputError: There is no such file, or it does not have these lines.
        """
        try:
            parts = root.parts(self.path)
            data = root.read(parts, LARGEST).data
        except OSError as error:
            raise InputError(
                f"{self.path[:200]!r} cannot be read: {error.strerror}", field="source"
            ) from error
        return type(self)("/".join(parts), self.lines, _hash(data, self.lines, self.where))

    def standing(self, root: Root) -> Standing:
        """Say whether what is there is still what was seen."""
        if not self.hash:
            return "unknown"
        try:
            return "same" if self.taken(root).hash == self.hash else "changed"
        except FoldlineError:
            return "gone"


def pointer_in(source: str) -> Pointer | None:
    """Return the pointer that a note or a memory names, None where it names none with a hash."""
    try:
        found = Pointer.parsed(source) if source else None
    except InputError:
        return None
    return found if found is not None and found.hash else None


def _hash(data: bytes, lines: tuple[int, int] | None, where: str) -> str:
    if lines is not None:
        rows = data.splitlines(keepends=True)
        if lines[1] > len(rows):
            raise InputError(f"{where}: the file has {len(rows):,} lines", field="source")
        data = b"".join(rows[lines[0] - 1 : lines[1]])
    return hashlib.sha256(data).hexdigest()[:DIGITS]
