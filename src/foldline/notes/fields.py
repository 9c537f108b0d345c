"""Front matter as a note, and a note as front matter; what a person typed is read kindly."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from foldline.notes.front_matter import Page
from foldline.notes.naming import ID, one_line
from foldline.notes.note import KINDS, LEVELS, OPTIONAL, STATUSES, Card, Note
from foldline.notes.problems import BrokenNote
from foldline.notes.ulid import milliseconds

NAMES: Final = (
    "id",
    "title",
    "type",
    "level",
    "tags",
    "created_at",
    "updated_at",
    "version",
    "status",
    "needs",
    "attempts",
    "outcome",
    "source",
    "merged",
)
"""The fields of a note, in the order in which they are written."""


def note_of(page: Page) -> Note:
    """
    Return the note that a file holds.

    Raises:
        BrokenNote: A field makes no sense; the error names it.
    """
    return Note.of(card_of(page.fields), page.body)


def card_of(fields: Mapping[str, Any]) -> Card:
    """Return what front matter says about a note; see `note_of`."""
    id = _text(fields, "id")  # noqa: A001  # what every note calls it
    if not ID.fullmatch(id):
        raise BrokenNote("it has no id of a note in its front matter")
    made = milliseconds(id) or 0
    created = _moment(fields, "created_at", datetime.fromtimestamp(made / 1000, UTC))
    return Card(
        id=id,
        title=one_line(_text(fields, "title")) or id,
        type=_one_of(fields, "type", KINDS, "general"),
        level=_one_of(fields, "level", LEVELS, "task"),
        tags=_texts(fields, "tags"),
        created_at=created,
        updated_at=_moment(fields, "updated_at", created),
        version=max(1, _count(fields, "version")),
        status=_one_of(fields, "status", STATUSES, None),
        needs=_texts(fields, "needs"),
        attempts=_count(fields, "attempts"),
        outcome=_text(fields, "outcome"),
        source=_text(fields, "source"),
        merged=_texts(fields, "merged"),
        extra={name: value for name, value in fields.items() if name not in NAMES},
    )


def fields_of(card: Card) -> dict[str, Any]:
    """Return the front matter of a note, without fields of others."""
    out: dict[str, Any] = {}
    for name in NAMES:
        value = getattr(card, name)
        if name in OPTIONAL and not value:
            continue
        if isinstance(value, datetime):
            value = value.isoformat(timespec="milliseconds")
        out[name] = list(value) if isinstance(value, tuple) else value
    return out


def changes(before: Card, after: Card) -> dict[str, Any]:
    """Return the fields that differ, with their new values; None for those that are gone."""
    old, new = fields_of(before), fields_of(after)
    return {name: new.get(name) for name in NAMES if new.get(name) != old.get(name)}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise BrokenNote(f"its field {name} is no text")
    return value


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Read a list of texts; a person may have typed them with commas between."""
    value = fields.get(name, [])
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BrokenNote(f"its field {name} is no list of texts")
    return tuple(dict.fromkeys(shown for item in items if (shown := one_line(item))))


def _one_of(fields: Mapping[str, Any], name: str, known: tuple[Any, ...], default: Any) -> Any:
    value = _text(fields, name).strip().lower()
    if not value:
        return default
    if value not in known:
        shown = one_line(value[:40])
        raise BrokenNote(f"its {name} {shown!r} is not one of {', '.join(known)}")
    return value


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = _text(fields, name).strip()
    if not value:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise BrokenNote(f"its field {name} is no number")
    return int(value)


def _moment(fields: Mapping[str, Any], name: str, default: datetime) -> datetime:
    """Read a moment; one without a time zone is meant in UTC."""
    value = _text(fields, name).strip()
    if not value:
        return default
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BrokenNote(f"its field {name} is no date: {one_line(value[:40])!r}") from error
    return moment
