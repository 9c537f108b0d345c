"""The fields of a note: ids, titles, file names, checked values, and front matter."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final
from unicodedata import category, normalize

from foldline.core.validation import suggest_name
from foldline.errors import InputError
from foldline.notes.markdown_file import MarkdownFile
from foldline.notes.note import KINDS, LEVELS, STATUSES, BrokenNote, Note, NoteMetadata, Status

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 26
RANDOM_BITS: Final = 80
LARGEST: Final = (1 << 128) - 1


class UlidMaker:
    """
    Generates ids, each greater than the one before; thread-safe.

    Args:
        clock: Returns the time, in seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last = 0

    def __call__(self) -> str:
        """Return a new id."""
        moment = max(0, int(self._clock() * 1000)) & ((1 << 48) - 1)
        number = moment << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        with self._lock:
            if number <= self._last or self._last >> RANDOM_BITS == moment:
                # A random step keeps the next id unguessable; it is small compared to 80 bits.
                number = min(self._last + 1 + secrets.randbits(40), LARGEST)
            self._last = number
        return encode_ulid(number)


def encode_ulid(number: int) -> str:
    """Encode 128 bits as a ULID."""
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def ulid_milliseconds(ulid: str) -> int | None:
    """Return the milliseconds since 1970 of a ULID; None if it is not a ULID."""
    if len(ulid) != LENGTH or ulid[0] > "7" or not set(ulid) <= set(ALPHABET):
        return None
    number = 0
    for letter in ulid:
        number = number << 5 | ALPHABET.index(letter)
    return number >> RANDOM_BITS


LONGEST_TITLE: Final = 16_384
"""The maximum length of a title in characters."""

SLUG_BYTES: Final = 80
"""The maximum size of the title in a file name, so that the name stays below 255 bytes."""

TURNS: Final = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Bidirectional control characters, with which a title could imitate another."""

ID: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""The pattern of an id; it excludes characters that are special in a path."""

_BETWEEN: Final = re.compile(r"[\W_]+")


def one_line(text: str) -> str:
    """Return a text on one line, without control characters and lone surrogates."""
    letters = (" " if _is_hidden(letter) else letter for letter in text)
    return " ".join("".join(letters).split())


def _is_hidden(letter: str) -> bool:
    return letter in TURNS or category(letter) in ("Cc", "Cs", "Zl", "Zp")


def check_title(text: str) -> str:
    """
    Normalize a title to one line.

    Raises:
        InputError: It is empty or too long.
    """
    title = one_line(text[: LONGEST_TITLE + 1])
    if not title:
        raise InputError("a note needs a title", field="title")
    if len(text) > LONGEST_TITLE:
        raise InputError(
            f"the title has {len(text):,} characters; the limit is {LONGEST_TITLE:,}",
            field="title",
            hint="Put the text into the content.",
        )
    return title


def file_name(created: datetime, title: str, id: str) -> str:  # noqa: A002  # of the note
    """Return the name of a new note: its day, its title, its id; it never changes."""
    slug = _BETWEEN.sub("-", normalize("NFKC", title).lower()).strip("-")
    slug = slug.encode()[:SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return f"{created:%Y-%m-%d}-{f'{slug}-' if slug else ''}{id}.md"


MOST_TAGS: Final = 64
LONGEST_TAG: Final = 200
LONGEST_SOURCE: Final = 2_000


def draft_note(
    *, status: Status | None = None, needs: tuple[str, ...] = (), **given: Any
) -> Callable[[str, datetime], Note]:
    """
    Return a function that creates a new note from its id and the time.

    Args:
        status: The status of a task; None for other notes.
        needs: The tasks it depends on.
        **given: The other fields, see `check_fields`.

    Raises:
        InputError: A field is invalid; the error names it.
    """
    kept = check_fields(**given)
    return lambda id, now: Note(  # noqa: A006  # the name of the field
        id=id, created_at=now, updated_at=now, status=status, needs=needs, **kept
    )


def check_fields(**given: Any) -> dict[str, Any]:
    """
    Validate and normalize fields of a note, without those that are None.

    Args:
        **given: ``title``, ``content``, ``type``, ``tags``, ``level``, ``source``.

    Raises:
        InputError: A field is invalid; the error names it.
    """
    return {name: CHECKS[name](value) for name, value in given.items() if value is not None}


def parse_tags(tags: Any) -> tuple[str, ...]:
    """
    Normalize tags: unique, each on one line; a string is split at commas.

    Raises:
        InputError: They are not strings, too many, or too long.
    """
    given = tags.split(",") if isinstance(tags, str) else tuple(tags)
    if not all(isinstance(tag, str) for tag in given):
        raise InputError("tags must be strings", field="tags")
    out = tuple(dict.fromkeys(line for tag in given if (line := one_line(tag))))
    if len(out) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in out):
        raise InputError(
            f"a note has at most {MOST_TAGS} tags of {LONGEST_TAG} characters", field="tags"
        )
    return out


def _one_of(name: str, known: tuple[str, ...], value: Any) -> str:
    if value not in known:
        raise InputError(
            f"{str(value)[:40]!r} is not a {name} of a note",
            field=name,
            hint=f"{suggest_name(str(value), known)}Known: {', '.join(known)}.",
        )
    return str(value)


CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "title": check_title,
    # Lone surrogates are replaced: a file cannot hold them.
    "content": lambda value: value.encode("utf-8", "replace").decode(),
    "type": lambda value: _one_of("type", KINDS, value),
    "tags": parse_tags,
    "level": lambda value: _one_of("level", LEVELS, value),
    "source": lambda value: one_line(value[:LONGEST_SOURCE]),
}


NAMES: Final = tuple(one.name for one in fields(NoteMetadata) if one.name != "extra")
"""The fields of a note, in the order in which they are written."""


def to_note(page: MarkdownFile) -> Note:
    """
    Convert a parsed file to a note.

    Raises:
        BrokenNote: A field is invalid; the error names it.
    """
    return Note.of(to_metadata(page.fields), page.body)


def to_metadata(given: Mapping[str, Any]) -> NoteMetadata:
    """Convert front matter to the metadata of a note; see `to_note`."""
    id = _text(given, "id")  # noqa: A001  # the name of the field
    if not ID.fullmatch(id):
        raise BrokenNote("its front matter has no valid id")
    made = ulid_milliseconds(id) or 0
    created = _moment(given, "created_at", datetime.fromtimestamp(made / 1000, UTC))
    return NoteMetadata(
        id=id,
        title=one_line(_text(given, "title")) or id,
        type=_choice(given, "type", KINDS, "general"),
        level=_choice(given, "level", LEVELS, "task"),
        tags=_texts(given, "tags"),
        created_at=created,
        updated_at=_moment(given, "updated_at", created),
        version=max(1, _count(given, "version")),
        status=_choice(given, "status", STATUSES, None),
        needs=_texts(given, "needs"),
        attempts=_count(given, "attempts"),
        outcome=_text(given, "outcome"),
        source=_text(given, "source"),
        merged=_texts(given, "merged"),
        extra={name: value for name, value in given.items() if name not in NAMES},
    )


def to_fields(metadata: NoteMetadata) -> dict[str, Any]:
    """Return the front matter of a note, without unknown fields."""
    return {name: value for name, value in metadata.to_dict().items() if name in NAMES}


def changed_fields(before: NoteMetadata, after: NoteMetadata) -> dict[str, Any]:
    """Return the fields that differ, with their new values; None for removed ones."""
    old, new = to_fields(before), to_fields(after)
    return {name: new.get(name) for name in NAMES if new.get(name) != old.get(name)}


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise BrokenNote(f"its field {name} is not text")
    return value


def _texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Read a list of strings; a string is split at commas, since people type it that way."""
    value = given.get(name, [])
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BrokenNote(f"its field {name} is not a list of texts")
    return tuple(dict.fromkeys(line for item in items if (line := one_line(item))))


def _choice(given: Mapping[str, Any], name: str, known: tuple[Any, ...], default: Any) -> Any:
    value = _text(given, name).strip().lower()
    if not value:
        return default
    if value not in known:
        quote = one_line(value[:40])
        raise BrokenNote(f"its {name} {quote!r} is not one of {', '.join(known)}")
    return value


def _count(given: Mapping[str, Any], name: str) -> int:
    value = _text(given, name).strip()
    if not value:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise BrokenNote(f"its field {name} is not a number")
    return int(value)


def _moment(given: Mapping[str, Any], name: str, default: datetime) -> datetime:
    """Read a time; without a time zone it is in UTC."""
    value = _text(given, name).strip()
    if not value:
        return default
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BrokenNote(f"its field {name} is not a date: {one_line(value[:40])!r}") from error
    return moment
