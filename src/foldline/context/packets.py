"""Packets, the pieces of information for a context, and messages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from foldline.errors import InputError
from foldline.frozen import field, frozen

MOST_CHARACTERS: Final = 2_000_000
"""Maximum characters of one packet; a longer text should be searched, not included."""

LABELS: Final = ("label", "citation", "title", "path", "document")
"""Metadata entries that name a packet, the best first."""


class Unscored(float):
    """The relevance of a packet that has not been scored; its value is 0.5."""

    __slots__ = ()


UNSCORED: Final = Unscored(0.5)


@frozen
class ContextPacket:
    """
    A piece of information for a context.

    Args:
        content: The text.
        timestamp: When it was created or became true: a datetime (local time if it has no zone),
            seconds since 1970, or ISO 8601 text. None if age is irrelevant.
        token_count: The caller's estimate of its size, in tokens. The builder counts by itself,
            because a quarter of the characters is far off except for English.
        relevance_score: 0 to 1, used as given. By default the builder computes it.
        metadata: Further properties. ``type`` selects the section (see
            `foldline.context.settings`), ``section`` sets it directly; ``title``, ``source`` or
            ``path`` name the packet.
        mandatory: Whether it must be included whole.

    Raises:
        InputError: A field has a wrong value; the error names it.
    """

    content: str
    timestamp: datetime | float | str | None = None
    token_count: int | None = None
    relevance_score: float = UNSCORED
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    mandatory: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.content, str):
            raise InputError(
                f"the content of a packet must be a string, not {type(self.content).__name__}",
                field="content",
            )
        if len(self.content) > MOST_CHARACTERS:
            raise InputError(
                f"a packet holds at most {MOST_CHARACTERS:,} characters, "
                f"this one {len(self.content):,}",
                field="content",
                hint="Search the text and give the matches.",
            )
        metadata = {} if self.metadata is None else self.metadata
        if not isinstance(metadata, Mapping):
            raise InputError("the metadata of a packet must be a mapping", field="metadata")
        object.__setattr__(self, "metadata", dict(metadata))
        object.__setattr__(self, "timestamp", parse_time(self.timestamp))
        object.__setattr__(self, "relevance_score", _relevance(self.relevance_score))

    @property
    def type(self) -> str:
        """The type of information; "general" by default."""
        return str(self.metadata.get("type") or "general")

    @property
    def judged(self) -> bool:
        """Whether the caller set the relevance."""
        return not isinstance(self.relevance_score, Unscored)

    @property
    def label(self) -> str:
        """A readable name: its title, else its source and the start of its text."""
        for key in LABELS:
            value = self.metadata.get(key)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())[:80]
        source = str(self.metadata.get("source") or "")[:40]
        words = " ".join(f"{source}: {self.content[:200]}".removeprefix(": ").split())
        return words if len(words) <= 60 else f"{words[:59]}…"

    @property
    def seconds(self) -> float | None:
        """Its time in seconds since 1970; None if age is irrelevant."""
        return self.timestamp.timestamp() if isinstance(self.timestamp, datetime) else None


@frozen
class HistoryMessage:
    """
    One message of a conversation.

    Args:
        content: The text.
        role: The author: "user", "assistant", "tool" …
        timestamp: The time, as in `ContextPacket`.
    """

    content: str
    role: str = "user"
    timestamp: datetime | float | str | None = None


def parse_time(value: Any) -> datetime | None:
    """
    Parse a time in any form that a packet accepts.

    Raises:
        InputError: It is not a time.
    """
    if value is None:
        return None
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise InputError(
        f"{str(value)[:60]!r} is not a time",
        field="timestamp",
        hint="Give a datetime, seconds since 1970, or ISO 8601 text.",
    )


def _relevance(value: Any) -> float:
    if isinstance(value, Unscored):
        return value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is None:
        return UNSCORED
    if not number or math.isnan(value):
        raise InputError(
            f"a relevance must be a number from 0 to 1, not {str(value)[:40]!r}",
            field="relevance_score",
        )
    return max(0.0, min(1.0, float(value)))
