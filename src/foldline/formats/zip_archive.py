"""Zip files read within bounds, and written again with some members changed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from foldline.errors import InputError
from foldline.formats.source import too_large, unpacked_limit

MAX_MEMBERS = 20_000
"""Most members that an archive may have."""

# RuntimeError: encrypted; ValueError: names and offsets that make no sense.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One file of an archive, unpacked."""

    info: zipfile.ZipInfo
    data: bytes


def is_archive(data: bytes) -> bool:
    """Return True if bytes begin like a zip file."""
    return data[:4] == b"PK\x03\x04"


def entry_names(data: bytes) -> list[str]:
    """Return the names of the members, without unpacking any; none for what is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()[:MAX_MEMBERS]
    except _DAMAGED:
        return []


def unpack(data: bytes, name: str, max_bytes: int | None = None) -> tuple[ZipEntry, ...]:
    """
    Unpack an archive in memory.

    Args:
        data: The archive.
        name: What to call it in messages.
        max_bytes: The most that its members may take together; None for `unpacked_limit`.

    Raises:
        InputError: Damaged, encrypted, packed in an unknown way, or larger than the bounds.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_MEMBERS:
                raise InputError(f"{name} has more than {MAX_MEMBERS:,} members")
            out, total, limit = [], 0, unpacked_limit(len(data), max_bytes)
            for info in infos:
                out.append(ZipEntry(info, _read(archive, info, limit - total)))
                total += len(out[-1].data)
                if total > limit:
                    raise too_large(name, limit)
            return tuple(out)
    except _DAMAGED as error:
        raise InputError(
            f"{name} is not a readable zip file: {error}",
            hint="Dump the log as JSON and give that file.",
        ) from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{info.filename} is packed in another way than deflate")
    # The sizes in the directory are claims; what is read is bounded whatever they say.
    with archive.open(info) as stream:
        return stream.read(left + 1)


def pack(members: tuple[ZipEntry, ...], changes: Mapping[str, bytes]) -> bytes:
    """Write an archive again: the same members in the same order, some with other content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member in members:
            info = zipfile.ZipInfo(member.info.filename, member.info.date_time)
            info.compress_type = member.info.compress_type
            info.external_attr = member.info.external_attr
            info.create_system = member.info.create_system
            archive.writestr(info, changes.get(member.info.filename, member.data))
    return out.getvalue()
