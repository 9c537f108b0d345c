"""Tables as Parquet files, and the totals of a part in the footer of its file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from typing import Any, Final

from foldline.errors import MissingExtra, StoreError

ROWS: Final = 10_000
"""Rows of a row group: what a search reads or passes over at once."""

_KEY: Final = b"foldline"


def parquet_bytes(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], footer: Mapping[str, Any]
) -> bytes:
    """
    Write a table; the same rows are the same bytes.

    Args:
        rows: Values by the name of their column; one that is missing is null.
        columns: The types by name: text, int or float.
        footer: JSON values, read again by `read_footer`; may be filled while rows are read.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _arrow()
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
    Return what a part says about itself; None if it is not whole, or no part.

    Args:
        file: A path, or an open file.
    """
    arrow, parquet = _arrow()
    try:
        found = (parquet.read_metadata(file).metadata or {}).get(_KEY)
        value = json.loads(found) if found else None
    except (OSError, ValueError, arrow.ArrowException):
        return None
    return value if isinstance(value, dict) else None


def read_rows(file: Any, column: str, values: Sequence[str]) -> Iterator[dict[str, Any]]:
    """
    Read the rows whose text in a column is one of a few.

    Args:
        file: A path, or an open file.
        column: The column; row groups that cannot hold such a value are passed over.
        values: The texts.

    Raises:
        StoreError: The file is damaged.
    """
    arrow, parquet = _arrow()
    try:
        found = parquet.read_table(file, filters=[(column, "in", list(values))], use_threads=False)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise StoreError(f"{file} cannot be read: {error}.", hint="Make it again.") from error
    for batch in found.to_batches():
        yield from batch.to_pylist()


def _value(value: Any) -> Any:
    """Return a value; half a surrogate pair, which Parquet has no place for, becomes ``?``."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra("pyarrow", "cluster") from error
    return pyarrow, pyarrow.parquet
