"""Items made of what was given, checked, and brought into the form of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from secrets import token_hex
from typing import Any, Final

from foldline.errors import InputError
from foldline.memory.item_rows import Filter, MemoryRow
from foldline.memory.items import (
    Kind,
    MemoryItem,
    MemoryTools,
    as_kind,
    clamp_importance,
    fingerprint,
)
from foldline.relevance.terms import terms
from foldline.retrieval import pack
from foldline.tokens.estimate import estimate

LONGEST_NAME: Final = 200
"""Characters of the name of a user, an author or a session."""

LARGEST_METADATA: Final = 20_000
"""Characters of metadata as JSON."""

LAST: Final = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970."""


class ItemBuilder:
    """
    Makes items and rows.

    Args:
        tools: The bounds, and what contents are embedded, counted and cut with.
    """

    def __init__(self, tools: MemoryTools) -> None:
        self.tools, self.limits = tools, tools.limits

    def tokens(self, content: str, kind: Kind) -> int:
        """
        Return the tokens of a content that can be kept.

        Raises:
            InputError: A working memory is larger than all may be together.
        """
        counter = self.tools.counter
        tokens = estimate(content) if counter is None else counter.count(content)
        if kind == "working" and tokens > self.limits.working_tokens:
            raise InputError(
                f"it has {tokens:,} tokens; working memories have {self.limits.working_tokens:,}"
                " together",
                field="content",
                hint="Shorten it, or add it as episodic.",
            )
        return tokens

    def item(
        self,
        content: str,
        kind: Kind,
        now: float,
        *,
        importance: float,
        happened: float | None,
        session: str,
        author: str,
        source: str,
        metadata: Mapping[str, Any] | None,
    ) -> MemoryItem:
        """
        Return a new item; where it is not known when it happened, it did now.

        Raises:
            InputError: A value is none, or a working memory is larger than all may be.
        """
        return MemoryItem(
            id=token_hex(8),
            revision=1,
            kind=as_kind(kind),
            content=content,
            importance=clamp_importance(importance),
            happened=now if happened is None else check_time(happened, "happened"),
            added=now,
            expires=self._expires(kind, now),
            tokens=self.tokens(content, as_kind(kind)),
            session=check_name(session, "session", empty=True),
            author=check_name(author, "author", empty=True),
            source=check_name(source, "source", empty=True),
            parents=(),
            seen=1,
            metadata=check_metadata(metadata),
        )

    def refresh(self, old: MemoryItem, new: MemoryItem) -> MemoryItem:
        """Return an item that was added once more: as important as either, and as lasting."""
        return replace(
            old,
            revision=old.revision + 1,
            importance=max(old.importance, new.importance),
            added=new.added,
            expires=new.expires,
            parents=tuple(dict.fromkeys((*old.parents, *new.parents))),
            seen=old.seen + 1,
            metadata=check_metadata({**old.metadata, **new.metadata}),
        )

    def change(
        self,
        old: MemoryItem,
        now: float,
        *,
        content: str | None,
        importance: float | None,
        happened: float | None,
        metadata: Mapping[str, Any] | None,
    ) -> MemoryItem:
        """Return the next revision of an item; what is None stays, metadata are added."""
        text = old.content if content is None else check_content(content, self.limits.longest)
        return replace(
            old,
            revision=old.revision + 1,
            content=text,
            importance=old.importance if importance is None else clamp_importance(importance),
            happened=old.happened if happened is None else check_time(happened, "happened"),
            added=now,
            tokens=self.tokens(text, old.kind),
            metadata=check_metadata({**old.metadata, **dict(metadata or {})}),
        )

    def promote(self, old: MemoryItem, kind: Kind, now: float) -> MemoryItem:
        """Return what an item becomes in another kind."""
        return replace(
            old,
            id=token_hex(8),
            revision=1,
            kind=as_kind(kind),
            importance=clamp_importance(old.importance * self.limits.boost),
            added=now,
            expires=self._expires(kind, now),
            parents=(old.name,),
            seen=1,
        )

    def row(self, item: MemoryItem, vector: bytes | None = None) -> MemoryRow:
        """
        Return the row of an item; ``vector`` is that of its content, where it is known.

        Whatever the embedder raises is raised: nothing is written without its vector.
        """
        tools = self.tools
        if tools.embedder is None or not tools.embedder.understands(item.content):
            vector = None
        elif vector is None:
            vector = pack(tools.embedder.embed([item.content])[0])
        text = f"{item.author} {item.content}" if item.author else item.content
        cut = " ".join(terms(text, words=tools.words))
        model = "" if vector is None else tools.model
        return MemoryRow(item, fingerprint(text), cut, tools.cut, vector, model)

    def _expires(self, kind: Kind, now: float) -> float | None:
        return now + self.limits.working_seconds if kind == "working" else None


def check_content(content: object, longest: int) -> str:
    """
    Return content that can be remembered.

    Raises:
        InputError: It is no text, empty, too long, or no valid Unicode.
    """
    if not isinstance(content, str):
        raise InputError(f"{type(content).__name__} is no text", field="content")
    if len(content) > longest:
        raise InputError(
            f"it has {len(content):,} characters; a memory has at most {longest:,}",
            field="content",
            hint="Keep documents as knowledge, and remember what matters of them.",
        )
    if not content.strip():
        raise InputError("there is nothing to remember", field="content")
    # Half a surrogate pair cannot be written; it is never more than a damaged character.
    return content.encode("utf-8", "replace").decode()


def check_name(value: object, field: str, *, empty: bool = False) -> str:
    """
    Return the name of a user, an author, a session or a source.

    Raises:
        InputError: It is none, too long, or empty where it may not be.
    """
    if not isinstance(value, str) or len(value) > LONGEST_NAME or not (value.strip() or empty):
        raise InputError(
            f"{str(value)[:40]!r} is no name of 1 to {LONGEST_NAME} characters", field=field
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError("it is no valid Unicode", field=field) from error
    return value


def check_time(value: object, field: str) -> float:
    """
    Return seconds since 1970.

    Raises:
        InputError: It is no time that a calendar has.
    """
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not -LAST < value < LAST:  # type: ignore[operator]
        raise InputError(f"{value!r} is no time in seconds since 1970", field=field)
    return float(value)  # type: ignore[arg-type]


def make_filter(
    now: float,
    kinds: Iterable[Kind],
    min_importance: float,
    time_range: Sequence[float | None] | None,
    session: str | None,
) -> Filter:
    """
    Return a filter of what was given.

    Raises:
        InputError: A kind, an importance or a time is none, or the range ends before it begins.
    """
    names = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if time_range is not None and len(time_range) != 2:
        raise InputError("a range of time has a beginning and an end", field="time_range")
    since, until = (
        None if one is None else check_time(one, "time_range")
        for one in (time_range or (None, None))
    )
    if since is not None and until is not None and since > until:
        raise InputError("the range of time ends before it begins", field="time_range")
    if session is not None:
        check_name(session, "session", empty=True)
    kept = tuple(map(as_kind, names))
    return Filter(now, kept, clamp_importance(min_importance), since, until, session)


def check_whole(value: object, field: str) -> int:
    """
    Return a number that a file can hold.

    Raises:
        InputError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise InputError(f"{str(value)[:40]!r} is no number that was told", field=field)
    return value


def check_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """
    Return metadata as JSON values.

    Raises:
        InputError: They are something else, or too large.
    """
    try:
        text = json.dumps(dict(metadata or {}), ensure_ascii=True, allow_nan=False)
        read: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"it is not made of JSON values: {error}", field="metadata") from error
    if len(text) > LARGEST_METADATA:
        raise InputError(
            f"it takes {len(text):,} characters; {LARGEST_METADATA:,} are allowed",
            field="metadata",
        )
    return read
