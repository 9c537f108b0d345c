"""Locate and open the archive, notes, memory and knowledge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from foldline.errors import InputError, StoreError
from foldline.settings.sources import data_folder

if TYPE_CHECKING:
    from foldline.archive import Archive
    from foldline.notes import Notes


def archive_file(given: Path | None) -> Path:
    """Return the path of the archive: as given, in FOLDLINE_HOME, or in the user's data folder."""
    return given or data_folder() / "archive.db"


def memory_file(given: Path | None) -> Path:
    """Return the path of the memory: as given, in FOLDLINE_HOME, or in the user's data folder."""
    return given or data_folder() / "memory.db"


def notes_folder(given: Path | None) -> Path:
    """Return the folder of the notes: as given, FOLDLINE_NOTES, or ./notes."""
    return given or Path(os.environ.get("FOLDLINE_NOTES") or "notes")


def archive_place(given: Path | str | None) -> Path | str:
    """Return the URL of an archive as given, or its path; see `archive_file`."""
    return given if isinstance(given, str) else archive_file(given)


def open_archive(given: Path | str | None) -> Archive:
    """
    Open an archive that exists, in a file or a database.

    Raises:
        StoreError: There is none.
    """
    from foldline.archive import Archive

    place = archive_place(given)
    return Archive.open(existing(place, "archive", made_by="compact", option="--archive"))


def open_notes(given: Path | None, *, make: bool = False) -> Notes:
    """
    Open the folder of the notes.

    Args:
        given: As given on the command line.
        make: Whether to create it if it is missing.

    Raises:
        InputError: It is missing.
    """
    from foldline.notes import Notes

    path = notes_folder(given)
    if not make and not path.is_dir():
        raise InputError(
            f"There is no folder of notes {path}",
            hint="'foldline note new' makes it, --notes or FOLDLINE_NOTES names another.",
        )
    return Notes.open(path)


Place = TypeVar("Place", Path, Path | str)
"""A file, or a file or the URL of a database."""


def existing(path: Place, what: str, *, made_by: str, option: str) -> Place:
    """
    Return the path of an existing store; for a database, the server checks that.

    Args:
        path: Location of the store.
        what: Its name in the error.
        made_by: The command that creates it.
        option: The option that names another one.

    Raises:
        StoreError: It does not exist.
    """
    if isinstance(path, Path) and not path.exists():
        raise StoreError(
            f"There is no {what} {path}.",
            hint=f"'foldline {made_by}' makes it, {option} or FOLDLINE_HOME names another.",
        )
    return path


def make_folder(path: Place, option: str, without: str = "") -> Place:
    """
    Create the folder of a store, for its owner only, and return the path of the store.

    The URL of a database is returned as it is.

    Args:
        path: Location of the store.
        option: The option that names another one.
        without: The option of a command that can do without a store.

    Raises:
        StoreError: It cannot be created.
    """
    if not isinstance(path, Path):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        alternative = f", or go without: {without}" if without else ""
        raise StoreError(
            f"The folder {path.parent} cannot be created: {error.strerror}.",
            hint=f"Name another file with {option}{alternative}.",
        ) from error
    return path
