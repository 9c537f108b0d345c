"""Memory items, search results, limits and options."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import isfinite
from sys import float_info
from typing import Any, Final, Literal, TypeAlias, get_args
from unicodedata import normalize

from foldline.errors import BudgetError, InputError
from foldline.frozen import field, fields, frozen, to_dict
from foldline.retrieval import TERMS_VERSION, Cutter, Embedder, Weights
from foldline.values.tags import tag_starts
from foldline.values.tokens import TextCounter

Kind: TypeAlias = Literal["working", "episodic", "semantic"]
"""The kinds of memory: current context, events, and facts."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

NO_CUTTER: Final = "characters"

_WORD: Final = re.compile(r"\w+")
_ARTICLES: Final = frozenset(("a", "an", "the"))


@frozen
class MemoryItem:
    """
    One revision of a memory.

    Args:
        id: The id; it stays when the memory is updated.
        revision: The number of the revision, counted from 1.
        kind: "working", "episodic" or "semantic".
        content: The text, as it was added.
        importance: 0 to 1.
        happened: The time of the event, in seconds since 1970.
        added: The time of writing, in seconds since 1970.
        expires: The time at which it expires, in seconds since 1970; None for never.
        tokens: The size of the content in tokens.
        session: The conversation it is from; its neighbours there help to find it.
        author: The author of the content.
        source: The source, as given when it was added.
        parents: The memories it was derived from, as ``id@revision``.
        seen: How often the same content was added.
        metadata: Additional JSON values.
    """

    id: str
    revision: int
    kind: Kind
    content: str
    importance: float
    happened: float
    added: float
    expires: float | None
    tokens: int
    session: str
    author: str
    source: str
    parents: tuple[str, ...]
    seen: int
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The id and revision, as ``id@revision``."""
        return f"{self.id}@{self.revision}"

    def is_expired(self, now: float) -> bool:
        """Return True if the memory is expired at ``now``, in seconds since 1970."""
        return self.expires is not None and self.expires <= now

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values."""
        out = {one.name: getattr(self, one.name) for one in fields(self)}
        return out | {"parents": list(self.parents), "metadata": dict(self.metadata)}


@frozen
class Added:
    """
    The result of adding a memory.

    Args:
        item: The memory; None if nothing was left to add.
        status: "added"; "known" if the same content existed and was refreshed; or "recalled" if
            the text was itself recalled from memory and was not added again.
        evicted: The ids of working memories evicted to make room.
    """

    item: MemoryItem | None
    status: Literal["added", "known", "recalled"]
    evicted: tuple[str, ...] = ()


@frozen
class FoundMemory:
    """
    A memory that a search found, and why.

    Args:
        item: The memory.
        score: The rank score; comparable within one result list only.
        parts: The components of the score.
        matched: The query terms that it contains.
        strength: 0 to 1, comparable between searches; see `foldline.retrieval.Hit`.
    """

    item: MemoryItem
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


def as_kind(name: object) -> Kind:
    """
    Validate the name of a kind.

    Raises:
        InputError: The kind is unknown.
    """
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(
        f"there is no kind of memory {str(name)[:40]!r}",
        field="kind",
        hint=f"Known: {', '.join(KINDS)}.",
    )


def clamp_importance(importance: object) -> float:
    """
    Return an importance clamped to 0 to 1.

    Raises:
        InputError: It is not a number.
    """
    if isinstance(importance, bool) or not isinstance(importance, int | float):
        raise InputError(f"{importance!r} is not a number", field="importance")
    if importance != importance:  # only NaN differs from itself
        raise InputError("it is NaN", field="importance")
    return float(min(max(importance, 0.0), 1.0))


def fingerprint(content: str) -> bytes:
    """
    Return a hash that texts with the same words share.

    Case, punctuation, whitespace and articles are ignored. Every other word counts: "likes" and
    "does not like", "beta 3" and "beta 4" are different memories, however similar they look.
    """
    words = _WORD.findall(normalize("NFKC", content).casefold())
    kept = [word for word in words if word not in _ARTICLES]
    text = " ".join(kept) if kept else content.strip()
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


LONGEST_NAME: Final = 200
"""The maximum length of the name of a user, an author or a session, in characters."""

LARGEST_METADATA: Final = 20_000
"""The maximum length of metadata as JSON, in characters."""

LAST: Final = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970."""


def check_content(content: str, longest: int) -> str:
    """
    Validate the content of a memory.

    Raises:
        InputError: It is empty or too long.
    """
    if len(content) > longest:
        raise InputError(
            f"it has {len(content):,} characters; a memory has at most {longest:,}",
            field="content",
            hint="Add documents to a knowledge base, and remember only what matters.",
        )
    if not content.strip():
        raise InputError("there is nothing to remember", field="content")
    # A lone surrogate cannot be written; it is always a damaged character.
    return content.encode("utf-8", "replace").decode()


def check_name(value: str, field: str, *, empty: bool = False) -> str:
    """
    Validate the name of a user, an author, a session or a source.

    Raises:
        InputError: It is too long, empty although required, or not valid Unicode.
    """
    if len(value) > LONGEST_NAME or not (value.strip() or empty):
        raise InputError(
            f"{value[:40]!r} is not a name of 1 to {LONGEST_NAME} characters", field=field
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError("it is not valid Unicode", field=field) from error
    return value


def check_time(value: object, field: str) -> float:
    """
    Validate a time in seconds since 1970.

    Raises:
        InputError: It is not a time within the range of calendars.
    """
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not -LAST < value < LAST:  # type: ignore[operator]
        raise InputError(f"{value!r} is not a time in seconds since 1970", field=field)
    return float(value)  # type: ignore[arg-type]


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """
    Validate metadata and return them as JSON values.

    Raises:
        InputError: They are not JSON values, or too large.
    """
    try:
        text = json.dumps(dict(metadata), ensure_ascii=True, allow_nan=False)
        read: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"it is not made of JSON values: {error}", field="metadata") from error
    if len(text) > LARGEST_METADATA:
        raise InputError(
            f"it takes {len(text):,} characters; {LARGEST_METADATA:,} are allowed",
            field="metadata",
        )
    return read


_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "importance": clamp_importance,
    "happened": partial(check_time, field="happened"),
    "metadata": check_metadata,
    **{
        name: partial(check_name, field=name, empty=True)
        for name in ("session", "author", "source")
    },
}


def check_details(**given: Any) -> dict[str, Any]:
    """
    Validate details of a memory and return them normalized, without those that are None.

    Args:
        **given: ``importance``, ``happened``, ``session``, ``author``, ``source``, ``metadata``.

    Raises:
        InputError: A field is invalid; the error names it.
    """
    return {name: _FORMS[name](value) for name, value in given.items() if value is not None}


@frozen
class MemoryLimits:
    """
    The limits of a memory.

    Args:
        working_items: The maximum number of working memories.
        working_tokens: Their maximum total size in tokens.
        working_seconds: The lifetime of each, in seconds.
        fade: The half-life of the weight of a working memory in eviction, in seconds.
        boost: The factor applied to the importance when a memory is consolidated.
        longest: The maximum length of a memory in characters.
        most: The maximum number of memories that a search or list returns.

    Raises:
        BudgetError: A number is invalid, or not positive.
    """

    working_items: int = 10
    working_tokens: int = 2_000
    working_seconds: float = 7_200.0
    fade: float = 3_600.0
    boost: float = 1.1
    longest: int = 100_000
    most: int = 1_000

    def __post_init__(self) -> None:
        for name, value in to_dict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value <= float_info.max:
                raise BudgetError(
                    f"{name} of a memory is {value!r:.60}; it has to be a finite number above 0."
                )


@frozen
class MemoryOptions:
    """
    Options for writing and searching memories.

    Args:
        limits: The limits.
        embedder: Embeds contents and queries; None writes and compares no vectors.
        counter: Counts tokens; None uses an estimate.
        words: Splits runs of Chinese into words.
        weights: The weights of the relevance features.
    """

    limits: MemoryLimits
    embedder: Embedder | None = None
    counter: TextCounter | None = None
    words: Cutter | None = None
    weights: Weights | None = None

    @property
    def model(self) -> str:
        """The name of the model that embeds, "" for none."""
        return "" if self.embedder is None else self.embedder.name

    @property
    def cut(self) -> str:
        """The version and function of the tokenizer; other rows are tokenized again on reading."""
        words = self.words
        name = NO_CUTTER if words is None else getattr(words, "__qualname__", type(words).__name__)
        return f"{TERMS_VERSION}/{name}"


OPEN: Final = "<recalled"
CLOSE: Final = "</recalled>"

_SPAN: Final = re.compile(r"<recalled\b[^>]{0,400}>.*?(?:</recalled>|\Z)", re.DOTALL)
_MARK: Final = tag_starts("recalled")
_NAME: Final = re.compile(r"[^\w@.\-]")


def mark_recalled(items: Iterable[MemoryItem]) -> str:
    """Return memories as text for a context, each between tags with its id."""
    return "\n".join(
        f'{OPEN} id="{_NAME.sub("", item.id)}" kind="{item.kind}">{_plain(item.content)}{CLOSE}'
        for item in items
    )


def remove_recalled(text: str) -> str:
    """Return a text without recalled memories; an unclosed tag extends to the end."""
    return _SPAN.sub("", text) if OPEN in text else text


def _plain(content: str) -> str:
    """Escape content so that no tag can end early, nor seem to: a model reads it loosely."""
    return _MARK.sub(r"<\\", content)
