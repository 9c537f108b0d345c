"""What is remembered, and what comes back."""

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
"""What is at hand now, what happened, and what is known."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

NO_CUTTER: Final = "characters"

_WORD: Final = re.compile(r"\w+")
_ARTICLES: Final = frozenset(("a", "an", "the"))


@frozen
class MemoryItem:
    """
    One memory, as it is now or was in an earlier revision.

    Args:
        id: Its name; it stays when the memory is updated.
        revision: Counted from 1.
        kind: "working", "episodic" or "semantic".
        content: What is remembered, as it was given.
        importance: 0 to 1.
        happened: When it took place; seconds since 1970.
        added: When it was written down; seconds since 1970.
        expires: When it is forgotten by itself; None for never.
        tokens: What the content takes in a context.
        session: The conversation it is from; its neighbours there help to find it.
        author: Who said it.
        source: Where it comes from, as given when it was added.
        parents: The memories that it was made of, as ``id@revision``.
        seen: How often the same was added.
        metadata: What else was given, JSON values.
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
        """The item and its revision, as ``id@revision``."""
        return f"{self.id}@{self.revision}"

    def is_expired(self, now: float) -> bool:
        """Return True if its time was over at a moment, in seconds since 1970."""
        return self.expires is not None and self.expires <= now

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values."""
        out = {one.name: getattr(self, one.name) for one in fields(self)}
        return out | {"parents": list(self.parents), "metadata": dict(self.metadata)}


@frozen
class Added:
    """
    What became of something that was to be remembered.

    Args:
        item: The memory; None where nothing was left to remember.
        status: "added"; "known" where the same was there, which was refreshed; or "recalled"
            where the text came out of a memory itself and was not taken in again.
        evicted: Working memories that had to go to make room, by their ids.
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
        score: What it is ranked by; comparable inside one answer only.
        parts: What added up to the score.
        matched: The terms of the query that it holds.
        strength: 0 to 1, comparable between answers; see `foldline.retrieval.Hit`.
    """

    item: MemoryItem
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


def as_kind(name: object) -> Kind:
    """
    Return a kind by its name.

    Raises:
        InputError: There is no kind of this name.
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
    Return an importance between 0 and 1.

    Raises:
        InputError: It is no number.
    """
    if isinstance(importance, bool) or not isinstance(importance, int | float):
        raise InputError(f"{importance!r} is not a number", field="importance")
    if importance != importance:  # only NaN differs from itself
        raise InputError("it is NaN, which is not a number", field="importance")
    return float(min(max(importance, 0.0), 1.0))


def fingerprint(content: str) -> bytes:
    """
    Return what texts share that say the same in the same words.

    Case, punctuation, blanks and articles make no difference. Every other word does: "likes" and
    "does not like", "beta 3" and "beta 4" are different memories, however alike they look.
    """
    words = _WORD.findall(normalize("NFKC", content).casefold())
    kept = [word for word in words if word not in _ARTICLES]
    text = " ".join(kept) if kept else content.strip()
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


LONGEST_NAME: Final = 200
"""Characters of the name of a user, an author or a session."""

LARGEST_METADATA: Final = 20_000
"""Characters of metadata as JSON."""

LAST: Final = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970."""


def check_content(content: str, longest: int) -> str:
    """
    Return content that can be remembered.

    Raises:
        InputError: It is empty or too long.
    """
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


def check_name(value: str, field: str, *, empty: bool = False) -> str:
    """
    Return the name of a user, an author, a session or a source.

    Raises:
        InputError: It is too long, empty where it may not be, or not valid Unicode.
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
    Return seconds since 1970.

    Raises:
        InputError: It is no time that a calendar has.
    """
    good = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not good or not -LAST < value < LAST:  # type: ignore[operator]
        raise InputError(f"{value!r} is not a time in seconds since 1970", field=field)
    return float(value)  # type: ignore[arg-type]


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return metadata as JSON values.

    Raises:
        InputError: They are something else, or too large.
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
    Return details of a memory in the form that is kept, without those that are None.

    Args:
        **given: ``importance``, ``happened``, ``session``, ``author``, ``source``, ``metadata``.

    Raises:
        InputError: A field is invalid; the error names it.
    """
    return {name: _FORMS[name](value) for name, value in given.items() if value is not None}


@frozen
class MemoryLimits:
    """
    The bounds of a memory.

    Args:
        working_items: Working memories that are kept at a time.
        working_tokens: What they may take together, in tokens.
        working_seconds: How long each is kept.
        fade: Seconds after which a working memory counts half as much when one has to go.
        boost: What the importance is multiplied by when a memory is consolidated.
        longest: Characters of one memory.
        most: Memories that a search or a list returns at most.

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
    What memories are made and found with.

    Args:
        limits: The bounds.
        embedder: Embeds contents and queries; None writes and compares no vectors.
        counter: Counts tokens; None takes an estimate.
        words: Cuts runs of Chinese into words.
        weights: How much each sign of relevance counts.
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
        """The version and the function that cut terms; others are cut again when they are read."""
        words = self.words
        name = NO_CUTTER if words is None else getattr(words, "__qualname__", type(words).__name__)
        return f"{TERMS_VERSION}/{name}"


OPEN: Final = "<recalled"
CLOSE: Final = "</recalled>"

_SPAN: Final = re.compile(r"<recalled\b[^>]{0,400}>.*?(?:</recalled>|\Z)", re.DOTALL)
_MARK: Final = tag_starts("recalled")
_NAME: Final = re.compile(r"[^\w@.\-]")


def mark_recalled(items: Iterable[MemoryItem]) -> str:
    """Return memories as text for a context, each between marks that name it."""
    return "\n".join(
        f'{OPEN} id="{_NAME.sub("", item.id)}" kind="{item.kind}">{_plain(item.content)}{CLOSE}'
        for item in items
    )


def remove_recalled(text: str) -> str:
    """Return a text without what came out of a memory; a mark that never ends goes to the end."""
    return _SPAN.sub("", text) if OPEN in text else text


def _plain(content: str) -> str:
    """Return content in which no mark can end early, nor seem to: a model reads it loosely."""
    return _MARK.sub(r"<\\", content)
