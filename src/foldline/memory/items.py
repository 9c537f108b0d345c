"""What is remembered, and what comes back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args
from unicodedata import normalize

from foldline.errors import InputError

Kind: TypeAlias = Literal["working", "episodic", "semantic"]
"""What is at hand now, what happened, and what is known."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_WORD: Final = re.compile(r"\w+")
_ARTICLES: Final = frozenset(("a", "an", "the"))


@dataclass(frozen=True, slots=True)
class Item:
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
        source: Where it comes from: "" for directly, or what whoever added it says.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values."""
        out = {name: getattr(self, name) for name in self.__slots__}
        return out | {"parents": list(self.parents), "metadata": dict(self.metadata)}


@dataclass(frozen=True, slots=True)
class Added:
    """
    What became of something that was to be remembered.

    Args:
        item: The memory; None where nothing was left to remember.
        status: "added"; "known" where the same was there, which was refreshed; or "recalled"
            where the text came out of a memory itself and was not taken in again.
        evicted: Working memories that had to go to make room, by their ids.
    """

    item: Item | None
    status: Literal["added", "known", "recalled"]
    evicted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """
    A memory that a search found, and why.

    Args:
        item: The memory.
        score: What it is ranked by; comparable inside one answer only.
        parts: What added up to the score.
        matched: The terms of the query that it holds.
        strength: 0 to 1, comparable between answers; see `foldline.retrieval.Hit`.
    """

    item: Item
    score: float
    parts: Mapping[str, float]
    matched: tuple[str, ...]
    strength: float


def as_kind(name: object) -> Kind:
    """
    Return a kind by its name.

    Raises:
        InputError: There is none.
    """
    for kind in KINDS:
        if name == kind:
            return kind
    raise InputError(
        f"there is no kind of memory {str(name)[:40]!r}",
        field="kind",
        hint=f"Known: {', '.join(KINDS)}.",
    )


def clamped(importance: object) -> float:
    """
    Return an importance between 0 and 1.

    Raises:
        InputError: It is no number.
    """
    if isinstance(importance, bool) or not isinstance(importance, int | float):
        raise InputError(f"{importance!r} is no number", field="importance")
    if importance != importance:  # only NaN differs from itself
        raise InputError("it is NaN, which is no number", field="importance")
    return float(min(max(importance, 0.0), 1.0))


def fingerprint(content: str) -> bytes:
    """
    Return what texts share that say the same in the same words.

    Case, punctuation, blanks and articles make no difference. Every other word does: "likes" and
    "does not like", "beta 3" and "beta 4" are different memories, however alike they look.
    """
    words = _WORD.findall(normalize("NFKC", content).casefold())
    kept = [word for word in words if word not in _ARTICLES]
    told = " ".join(kept) if kept else content.strip()
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()
