"""The output of a run: a folder of Parquet files, each with its totals, and a manifest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from foldline.corpus.filesystem import connect, is_remote, write_whole
from foldline.corpus.operation import Operation
from foldline.corpus.planning import WorkTask
from foldline.errors import MissingExtra, StoreError

Footer: TypeAlias = dict[str, Any]

PARTS: Final = "parts"
MANIFEST: Final = "manifest.json"
SCHEMA: Final = "foldline.corpus/1"
MAX_MANIFEST: Final = 64 * 1024 * 1024
"""Maximum size of a manifest, in bytes."""

_PART: Final = re.compile(r"part-[0-9]{8}-([0-9a-f]{20})\.parquet")


class OutputFolder:
    """
    The output of one run, in a folder on this machine or in a store.

    Args:
        folder: A path, or an address.

    Raises:
        StoreError: The folder cannot be created.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/") if is_remote(folder) else os.path.abspath(folder)  # noqa: PTH100  # of any bytes
        self._system, self._inner = connect(self.folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """
        Lock the folder against other runs on this machine; a remote store cannot be locked.

        Raises:
            StoreError: Another run writes to it, or the folder cannot be created.
        """
        try:
            self._system.makedirs(f"{self._inner}/{PARTS}", exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be created: {error}.") from error
        if is_remote(self.folder):
            yield
            return
        from foldline.notes.folder import FolderLock

        busy = f"Another run writes to {self.folder}."
        with FolderLock(Path(self.folder, ".lock"), 0.2, busy).held():
            yield

    def begin(self, operation: Operation, mark: str) -> None:
        """
        Record the purpose of the folder.

        Raises:
            StoreError: It holds the results of another run.
        """
        before = self.manifest()
        if before and before.get("fingerprint") != mark:
            raise StoreError(
                f"{self.folder} holds the results of another run ({before.get('operation')}, "
                "other settings or another version).",
                hint="Name another folder, or remove it.",
            )
        if not before:
            self._note(operation, mark, {"complete": False})

    def manifest(self) -> dict[str, Any]:
        """
        Read the manifest; empty if there is none.

        Raises:
            StoreError: It cannot be read.
        """
        name = f"{self._inner}/{MANIFEST}"
        try:
            if not self._system.exists(name):
                return {}
            with self._system.open(name, "rb") as file:
                found = json.loads(file.read(MAX_MANIFEST))
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.folder}/{MANIFEST} cannot be read: {error}.") from error
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise StoreError(f"{self.folder}/{MANIFEST} is not a manifest of a corpus.")
        return found

    def finished_parts(self, tasks: Sequence[WorkTask]) -> dict[str, Footer]:
        """
        Find the parts that an earlier run finished, by the key of their task.

        Parts with transient failures are not among them. A part whose number has changed, because
        earlier files were added or removed, is renamed.
        """
        existing = {found[1]: name for name in self._names() if (found := _PART.fullmatch(name))}
        done = dict[str, Footer]()
        for task in tasks:
            name = existing.get(task.key)
            footer = self._footer(name) if name else None
            if name is None or footer is None or footer.get("again"):
                continue
            if name != task.name:
                self._system.mv(self._place(name), self._place(task.name))
            done[task.key] = footer
        return done

    def finish(
        self, operation: Operation, mark: str, tasks: Sequence[WorkTask], found: Mapping[str, Any]
    ) -> None:
        """Remove leftovers of earlier runs, and write the manifest."""
        own = {task.name for task in tasks}
        for name in self._names():
            if name not in own and (_PART.fullmatch(name) or name.startswith(".part-")):
                self._system.rm_file(self._place(name))
        parts = [task.name for task in tasks]
        self._note(operation, mark, {"complete": True, **found, "parts": parts})

    def open_parts(self, names: Iterable[str]) -> Iterator[Any]:
        """
        Open parts one after the other.

        Raises:
            StoreError: One is missing, or has an invalid name.
        """
        for name in names:
            if not _PART.fullmatch(str(name)):
                shown = repr(str(name)[:80])
                raise StoreError(f"{self.folder}/{MANIFEST} has an invalid part name: {shown}.")
            try:
                file = self._system.open(self._place(str(name)), "rb")
            except OSError as error:
                raise StoreError(f"A part of {self.folder} cannot be read: {error}.") from error
            with file:
                yield file

    def _names(self) -> list[str]:
        found = self._system.ls(f"{self._inner}/{PARTS}", detail=False)
        return sorted(str(name).rsplit("/", 1)[-1] for name in found)

    def _place(self, name: str) -> str:
        return f"{self._inner}/{PARTS}/{name}"

    def _footer(self, name: str) -> Footer | None:
        with self._system.open(self._place(name), "rb") as file:
            return read_footer(file)

    def _note(self, operation: Operation, mark: str, more: Mapping[str, Any]) -> None:
        head = {"schema": SCHEMA, "operation": operation.name, "settings": settings(operation)}
        text = json.dumps({**head, "fingerprint": mark, **more}, indent=1, ensure_ascii=True)
        write_whole(f"{self.folder}/{MANIFEST}", f"{text}\n".encode())


def settings(operation: Operation) -> dict[str, Any]:
    """Return the settings of an operation as JSON values, the same in every process."""
    found = asdict(operation)  # type: ignore[call-overload]  # every operation is a dataclass
    plain: dict[str, Any] = json.loads(json.dumps(found, sort_keys=True, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else repr(value)


# --- one part: a table, and its totals in the footer of its file ------------------------------

ROWS: Final = 10_000
"""Rows of a row group: the unit that a search reads or skips."""

_KEY: Final = b"foldline"


def parquet_bytes(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], footer: Mapping[str, Any]
) -> bytes:
    """
    Write a table; equal rows give equal bytes.

    Args:
        rows: Values by column name; a missing value is null.
        columns: The types by name: text, int or float.
        footer: JSON values, read back by `read_footer`; may be filled while rows are read.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = import_arrow()
    types = {"text": arrow.string(), "int": arrow.int64(), "float": arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
    out, left = BytesIO(), iter(rows)
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        while batch := list(islice(left, ROWS)):
            arrays = [
                arrow.array([_value(row.get(name)) for row in batch], schema.field(name).type)
                for name in columns
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
        writer.add_key_value_metadata({_KEY: json.dumps(footer)})
    return out.getvalue()


def read_footer(file: Any) -> dict[str, Any] | None:
    """
    Return the footer of a part; None if the file is truncated or not a part.

    Args:
        file: A path, or an open file.
    """
    arrow, parquet = import_arrow()
    try:
        found = (parquet.read_metadata(file).metadata or {}).get(_KEY)
        value = json.loads(found) if found else None
    except (OSError, ValueError, arrow.ArrowException):
        return None
    return value if isinstance(value, dict) else None


def read_rows(file: Any, column: str, values: Sequence[str]) -> Iterator[dict[str, Any]]:
    """
    Read the rows whose text in a column is one of the given ones.

    Args:
        file: A path, or an open file.
        column: The column; row groups that cannot hold such a value are skipped.
        values: The texts.

    Raises:
        StoreError: The file is damaged.
    """
    arrow, parquet = import_arrow()
    try:
        found = parquet.read_table(file, filters=[(column, "in", list(values))], use_threads=False)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise StoreError(f"{file} cannot be read: {error}.", hint="Make it again.") from error
    for batch in found.to_batches():
        yield from batch.to_pylist()


def _value(value: Any) -> Any:
    """Return a value; lone surrogates, which Parquet cannot store, become ``?``."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def import_arrow() -> tuple[Any, Any]:
    """
    Import pyarrow, and its module for Parquet files.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("pyarrow", "cluster") from error
    return pyarrow, pyarrow.parquet
