"""Session memory: the edits of the next compaction, prepared while the agent works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foldline.blake2 import blake2b
from foldline.core.limits import Spent
from foldline.core.validation import whole
from foldline.errors import BudgetError
from foldline.frozen import field, frozen
from foldline.values.edits import Edit, Fold
from foldline.values.identity import ID_BYTES, content_hash
from foldline.values.messages import Message


@frozen
class MemorySettings:
    """
    Settings for preparing the next compaction in the background.

    ``every`` is the minimum number of tokens appended between two preparations, or ``pace.growth``
    of the window if that is more. Preparation starts when the target of a compaction is passed:
    before that there is nothing to fold.

    Raises:
        BudgetError: A setting is invalid.
    """

    enabled: bool = False
    every: int = 8_000

    def __post_init__(self) -> None:
        if not isinstance(self.enabled, bool):
            raise BudgetError(f"memory.enabled must be true or false, not {self.enabled!r:.40}.")
        whole("memory.every", self.every, 1)


@frozen
class Prepared:
    """
    Edits that were prepared for the view at one moment.

    ``covered`` are the messages of that view, ``at`` is the length of the log, and ``time`` the
    moment in seconds since 1970. The edits are valid only while the view starts with exactly these
    messages; later messages are kept unchanged. ``recall`` maps handles to short descriptions of
    the content that the edits remove. ``fallback`` is True if they were made by a lesser method
    than intended, for this ``reason``; ``spent`` is the usage of the model calls.
    """

    covered: tuple[Message, ...] = field(repr=False)
    edits: tuple[Edit, ...] = field(repr=False)
    dialect: str
    at: int
    time: float
    recall: Mapping[str, str] = field(default_factory=dict, repr=False)
    fallback: bool = False
    reason: str = ""
    spent: Spent = field(default_factory=Spent)

    @property
    def until(self) -> str:
        """The id of the last covered message."""
        return self.covered[-1].id

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The edits that replace messages by a snapshot."""
        return tuple(e for e in self.edits if isinstance(e, Fold) and e.kind != "repair")

    def misfit(self, messages: Sequence[Message], dialect: str) -> str:
        """
        Return why the edits are not valid for the current view, "" if they are.

        Args:
            messages: The current view.
            dialect: The dialect whose rules apply.
        """
        if dialect != self.dialect:
            return f"it was made for the format {self.dialect}"
        if len(messages) < len(self.covered):
            return f"it covers {len(self.covered):,} messages, the view has {len(messages):,}"
        for old, new in zip(self.covered, messages, strict=False):
            if old is not new and not _is_same(old, new):
                return f"the message {old.id[:12]} has changed in the view"
        return ""


def _is_same(old: Message, new: Message) -> bool:
    return old.id == new.id and old.pinned == new.pinned and old == new


def fingerprint(messages: Iterable[Message], dialect: str) -> str:
    """
    Hash a view, so that another process can detect whether it has changed.

    Args:
        messages: Messages with ids. If the id is not the hash of the content, that is hashed too.
        dialect: The dialect whose rules apply.

    Returns:
        32 hexadecimal digits (BLAKE2b, 128 bits).
    """
    digest = blake2b(dialect.encode(), digest_size=ID_BYTES)
    for message in messages:
        own = message.intact and not message.origin
        text = "" if own else content_hash(message)
        digest.update(f"\n{message.id} {text} {'pinned' if message.pinned else ''}".encode())
    return digest.hexdigest()
