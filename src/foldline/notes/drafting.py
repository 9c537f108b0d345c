"""What somebody wants to be in a note, checked and brought into the form that is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from foldline.core.validation import meant
from foldline.errors import InputError
from foldline.notes.naming import one_line, title_of
from foldline.notes.note import KINDS, LEVELS, Kind, Level, Note, Status

MOST_TAGS: Final = 64
LONGEST_TAG: Final = 200
LONGEST_SOURCE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A note that is not made yet; see `Card` and `Note` for what the fields mean."""

    title: str
    content: str = ""
    type: Kind = "general"
    tags: Iterable[str] = ()
    level: Level = "task"
    source: str = ""
    status: Status | None = None
    needs: tuple[str, ...] = ()

    def note(self, id: str, now: datetime) -> Note:  # noqa: A002  # what every note calls it
        """
        Return the note.

        Args:
            id: Its id.
            now: When it is made.

        Raises:
            InputError: Something of it makes no sense; the error names the field.
        """
        kept = checked(
            title=self.title,
            content=self.content,
            type=self.type,
            tags=self.tags,
            level=self.level,
            source=self.source,
        )
        return Note(
            id=id, created_at=now, updated_at=now, status=self.status, needs=self.needs, **kept
        )


def checked(**given: Any) -> dict[str, Any]:
    """
    Return fields of a note in the form that is kept, without those that are None.

    Args:
        **given: ``title``, ``content``, ``type``, ``tags``, ``level``, ``source``.

    Raises:
        InputError: One makes no sense; the error names it.
    """
    return {name: FORMS[name](value) for name, value in given.items() if value is not None}


def tags_of(tags: Any) -> tuple[str, ...]:
    """
    Return tags as they are kept: each once, on one line; a text may have commas between them.

    Raises:
        InputError: They are no texts, too many, or too long.
    """
    given = tags.split(",") if isinstance(tags, str) else tuple(tags)
    if not all(isinstance(tag, str) for tag in given):
        raise InputError("tags are texts", field="tags")
    out = tuple(dict.fromkeys(shown for tag in given if (shown := one_line(tag))))
    if len(out) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in out):
        raise InputError(
            f"a note has at most {MOST_TAGS} tags of {LONGEST_TAG} characters", field="tags"
        )
    return out


def _title(value: Any) -> str:
    return title_of(_words("title", value))


def _content(value: Any) -> str:
    """Return a content with what is no character replaced, as a file cannot hold it."""
    return _words("content", value).encode("utf-8", "replace").decode()


def _source(value: Any) -> str:
    return one_line(_words("source", value)[:LONGEST_SOURCE])


def _words(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"the {name} of a note is a text, not {type(value).__name__}", field=name)
    return value


def _one_of(name: str, known: tuple[str, ...], value: Any) -> str:
    if value not in known:
        raise InputError(
            f"{str(value)[:40]!r} is no {name} of a note",
            field=name,
            hint=f"{meant(str(value), known)}Known: {', '.join(known)}.",
        )
    return str(value)


FORMS: Final = {
    "title": _title,
    "content": _content,
    "type": lambda value: _one_of("type", KINDS, value),
    "tags": tags_of,
    "level": lambda value: _one_of("level", LEVELS, value),
    "source": _source,
}
