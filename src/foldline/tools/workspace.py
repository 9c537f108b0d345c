"""
A workspace: read and change text files inside one folder.

    tools = ToolRegistry(file_tools(Workspace(".")))
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from foldline.core.validation import whole
from foldline.errors import FoldlineError, InputError
from foldline.frozen import frozen
from foldline.rooted_files import Content, Root, TooLarge
from foldline.tools.approvals import Approvals
from foldline.tools.backups import Backups
from foldline.tools.description import describe_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.replacements import Replacement, apply_replacements
from foldline.tools.sensitive import SENSITIVE, refuse_sensitive
from foldline.tools.spec import Tool

UNTOUCHABLE: Final = (".git", ".foldline")
"""Folders that must not be written: git, because of its hooks, and the backups."""


@frozen
class FileBounds:
    """
    Limits of reading and of backups.

    A file has at most ``size`` bytes; a read returns at most ``lines`` lines and ``characters``
    characters. The newest ``backups`` earlier versions of a file are kept, none with 0.

    Raises:
        BudgetError: A value is not a number, or too small.
    """

    size: int = 5 << 20
    lines: int = 2_000
    characters: int = 60_000
    backups: int = 20

    def __post_init__(self) -> None:
        for name, least in (("size", 1), ("lines", 1), ("characters", 100), ("backups", 0)):
            whole(f"files.{name}", getattr(self, name), least)


class Conflict(FoldlineError):
    """A file has changed since it was read."""


class Workspace:
    """
    Reads and changes files inside one folder.

    A change requires that the content of the file is what this workspace last read or wrote; with
    one workspace per agent, the second writer gets a conflict. Changes are atomic, and the earlier
    version is kept. Thread-safe.

    Args:
        root: The folder; nothing outside of it is ever touched, and no link is followed.
        bounds: The limits.
        is_in_view: Returns True if the model still sees a file as it last read or wrote it; see
            `foldline.Session.is_in_view`. Then reading the same content returns only a notice.
        clock: Returns the time, in seconds since 1970, for the names of backups.
        approvals: Approves reading files that may hold secrets; None denies it.
        sensitive: Patterns of such files and folders, in lower case; ``*`` matches anything.

    Raises:
        StoreError: The folder does not exist.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        bounds: FileBounds | None = None,
        is_in_view: Callable[[str], bool] = lambda _: False,
        clock: Callable[[], float] = time.time,
        approvals: Approvals | None = None,
        sensitive: Sequence[str] = SENSITIVE,
    ) -> None:
        self.root = Root(root)
        self._approvals, self._sensitive = approvals, tuple(sensitive)
        self.bounds = bounds or FileBounds()
        self._is_in_view = is_in_view
        self._backups = Backups(self.root, self.bounds.backups, clock)
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, ...], str] = {}
        # The versions of files that were returned completely, so that they need not be again.
        self._whole: dict[tuple[str, ...], str] = {}

    # --- reading ---------------------------------------------------------------------------

    def read(self, path: str, offset: int = 0, limit: int | None = None) -> ToolOutput:
        """
        Return lines of a text file.

        Args:
            path: Relative to the root, or absolute and inside it.
            offset: The number of lines to skip.
            limit: The maximum number of lines.
        """
        try:
            parts = self.root.parts(path)
            where = str(self.root.path)
            if denied := refuse_sensitive(where, parts, self._sensitive, self._approvals):
                return denied
            found = self.root.read(parts, self.bounds.size)
        except (InputError, OSError) as error:
            return refusal(path, error)
        version, text = version_of(found.data), _text(found)
        if text is None:
            return ToolOutput.error(ErrorCode.NOT_TEXT, f"{path} is not valid UTF-8.")
        with self._lock:
            known = self._whole.get(parts) == version
            self._seen[parts] = version
        data = {"path": "/".join(parts), "version": version, "changed": found.changed}
        everything = offset == 0 and limit is None
        if everything and known and self._is_in_view(path):
            message = f"{path} has not changed since you read it; its text is still above."
            return ToolOutput(message, data=data | {"unchanged": True})
        page, note = _page(text, offset, limit, self.bounds)
        with self._lock:
            if everything and not note:
                self._whole[parts] = version
            else:
                # The conversation now ends with only a part of it.
                self._whole.pop(parts, None)
        if note:
            page += f"\n[{note}]" if page and not page.endswith("\n") else f"[{note}]"
        return ToolOutput(page or "[It is empty.]", "partial" if note else "success", data=data)

    # --- changing --------------------------------------------------------------------------

    def write(self, path: str, content: str, *, version: str | None = None) -> ToolOutput:
        """
        Write a complete file; an existing one must have been read before.

        Args:
            path: Relative to the root, or absolute and inside it; folders are created.
            content: The new text.
            version: The expected version, as in ``data["version"]`` of an output; default the
                last one read or written.
        """

        def changed(old: Content | None, parts: tuple[str, ...]) -> bytes:
            if old is not None and version is None and parts not in self._seen:
                raise Conflict(f"{path} exists and was not read.", hint="Read it first.")
            return content.encode("utf-8", "replace")

        return self._change(path, changed, version)

    def edit(
        self, path: str, replacements: Sequence[Replacement], *, version: str | None = None
    ) -> ToolOutput:
        """
        Replace pieces of a file, all or none; see `apply_replacements`.

        Args:
            path: Relative to the root, or absolute and inside it.
            replacements: The replacements.
            version: The expected version; default the last one read or written.
        """

        def changed(old: Content | None, _: tuple[str, ...]) -> bytes:
            if old is None:
                raise FileNotFoundError(0, "it does not exist")
            text = _text(old)
            if text is None:
                raise InputError("it is not valid UTF-8")
            return apply_replacements(text, replacements, self.bounds.size).encode()

        return self._change(path, changed, version)

    def backups(self, path: str) -> list[str]:
        """
        Return the names of the backups of a file, the newest first.

        Raises:
            InputError: The path leads outside.
        """
        return self._backups.names(self.root.parts(path))

    def restore(self, path: str, name: str | None = None) -> ToolOutput:
        """
        Restore an earlier version of a file; the current one is kept as a backup.

        Args:
            path: The path of the file.
            name: One of `backups`; default the newest.
        """

        def changed(_: Content | None, parts: tuple[str, ...]) -> bytes:
            return self._backups.read(parts, name, self.bounds.size)

        return self._change(path, changed, version=None, force=True)

    def _change(
        self,
        path: str,
        changed: Callable[[Content | None, tuple[str, ...]], bytes],
        version: str | None,
        *,
        force: bool = False,
    ) -> ToolOutput:
        """Replace a file by the result of ``changed``, unless it changed concurrently."""
        try:
            parts = self.root.parts(path)
            if any(part.casefold() in UNTOUCHABLE for part in parts):
                raise PermissionError(0, f"{' and '.join(UNTOUCHABLE)} must not be written")
            with self._lock, self.root.locked():
                try:
                    old = self.root.read(parts, self.bounds.size)
                except FileNotFoundError:
                    old = None
                if not force:
                    self._check_version(path, parts, old, version)
                data = changed(old, parts)
                if len(data) > self.bounds.size:
                    raise TooLarge(f"it would have more than {self.bounds.size:,} bytes")
                if old is not None and old.data != data:
                    self._backups.keep(parts, old)
                self.root.replace(parts, data, 0o644 if old is None else old.mode)
                self._seen[parts] = version_of(data)
        except (FoldlineError, OSError) as error:
            return refusal(path, error)
        stats = {"bytes": len(data), "bytes_before": 0 if old is None else len(old.data)}
        message = f"{path} was {'created' if old is None else 'changed'}: {len(data):,} bytes."
        named = {"path": "/".join(parts), "version": version_of(data)}
        return ToolOutput(message, data=named, stats=stats)

    def _check_version(
        self, path: str, parts: tuple[str, ...], old: Content | None, version: str | None
    ) -> None:
        expected = version or self._seen.get(parts)
        if expected is None or (old is not None and version_of(old.data) == expected):
            return
        what = "was deleted" if old is None else "was changed by another writer"
        raise Conflict(f"{path} {what} since it was read.", hint="Read it again first.")


def version_of(data: bytes) -> str:
    """Return the version of a file: a prefix of the SHA-256 of its content."""
    return hashlib.sha256(data).hexdigest()[:32]


def refusal(path: str, error: Exception) -> ToolOutput:
    """Return the error output for a file that could not be read or changed."""
    if isinstance(error, TooLarge):
        return ToolOutput.error(ErrorCode.TOO_LARGE, f"{path[:200]}: {error}.")
    if isinstance(error, Conflict):
        return ToolOutput.error(ErrorCode.CONFLICT, str(error))
    if isinstance(error, InputError):
        return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, f"{path[:200]}: {error}")
    if isinstance(error, FileNotFoundError):
        return ToolOutput.error(ErrorCode.NOT_FOUND, f"There is no file {path[:200]!r}.")
    if isinstance(error, OSError):
        # Links in the path end here: ELOOP for the last component, ENOTDIR for earlier ones.
        why = f"{error.strerror or type(error).__name__}. Links are not followed."
        return ToolOutput.error(ErrorCode.DENIED, f"{path[:200]}: {why}")
    return ToolOutput.error(ErrorCode.UNAVAILABLE, str(error))


def _text(found: Content) -> str | None:
    try:
        text = found.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _page(text: str, offset: int, limit: int | None, bounds: FileBounds) -> tuple[str, str]:
    """Return the requested lines, and a note about the others."""
    lines = text.splitlines(keepends=True)
    end = min(len(lines), offset + min(bounds.lines if limit is None else limit, bounds.lines))
    page_lines, size = [], 0
    for line in lines[offset:end]:
        if size + len(line) > bounds.characters:
            break
        page_lines.append(line)
        size += len(line)
    last = offset + len(page_lines)
    if lines and offset >= len(lines):
        return "", f"The file has {len(lines):,} lines."
    if not page_lines and lines:
        cut = lines[offset][: bounds.characters]
        return cut, f"Line {offset + 1:,} has {len(lines[offset]):,} characters; it was cut."
    note = f"Lines {offset + 1:,} to {last:,} of {len(lines):,}."
    if last < len(lines):
        note += f" Continue with offset={last}."
    return "".join(page_lines), "" if len(page_lines) == len(lines) else note


# --- the tools ------------------------------------------------------------------------------


def file_tools(workspace: Workspace) -> tuple[Tool, Tool, Tool, Tool]:
    """Return the tools read_file, write_file, edit_file and multi_edit_file."""

    def edit(path: str, edits: list[dict[str, Any]]) -> ToolOutput:
        pieces = [(one["old_string"], one["new_string"], one["replace_all"]) for one in edits]
        return workspace.edit(path, [Replacement(*piece) for piece in pieces])

    def edit_once(path: str, **piece: Any) -> ToolOutput:
        return edit(path, [piece])

    def tool(name: str, act: Callable[..., ToolOutput]) -> Tool:
        return describe_tool(name).tool(lambda given: act(**given))

    return (
        tool("read_file", workspace.read),
        tool("write_file", workspace.write),
        tool("edit_file", edit_once),
        tool("multi_edit_file", edit),
    )
