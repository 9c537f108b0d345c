"""Session memory: what a compaction to come will show, prepared while the agent works."""

from __future__ import annotations

from _blake2 import blake2b  # `hashlib` would load OpenSSL
from collections.abc import Iterable, Mapping, Sequence

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
    Whether a session prepares its next compaction in the background.

    ``every`` is how many tokens have to be appended between two times that it is prepared; more
    where ``pace.growth`` of the window is more. It begins when the target of a compaction is
    passed: before that there is nothing to fold.

    Raises:
        BudgetError: A setting makes no sense.
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
    Edits that were prepared for what was shown at one moment.

    ``covered`` is what was shown, ``at`` how many messages the log had, and ``time`` the moment
    in seconds since 1970. The edits hold only as long as exactly these messages are shown;
    whatever came behind them stays as it is. ``recall`` maps handles to a few words about what
    the edits take out of sight. ``fallback`` says that they were made by lesser means than were
    wanted, for this ``reason``; ``spent`` is what the model calls took.
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
        """The id of the last message that it covers."""
        return self.covered[-1].id

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The edits that put a snapshot in the place of messages."""
        return tuple(e for e in self.edits if isinstance(e, Fold) and e.kind != "repair")

    def misfit(self, messages: Sequence[Message], dialect: str) -> str:
        """
        Return why the edits do not hold for what is shown now, "" when they do.

        Args:
            messages: What the model sees now.
            dialect: Whose rules count.
        """
        if dialect != self.dialect:
            return f"it was made for the format {self.dialect}"
        if len(messages) < len(self.covered):
            return f"it covers {len(self.covered):,} messages, {len(messages):,} are shown"
        for old, new in zip(self.covered, messages, strict=False):
            if old is not new and not _is_same(old, new):
                return f"the message {old.id[:12]} is no longer shown as it was"
        return ""


def _is_same(old: Message, new: Message) -> bool:
    return old.id == new.id and old.pinned == new.pinned and old == new


def fingerprint(messages: Iterable[Message], dialect: str) -> str:
    """
    Hash what is shown, so that another process can tell whether it still is.

    Args:
        messages: With ids. Where the id is not the hash of what a message shows, that is hashed.
        dialect: Whose rules count.

    Returns:
        32 hexadecimal digits (BLAKE2b, 128 bits).
    """
    digest = blake2b(dialect.encode(), digest_size=ID_BYTES)
    for message in messages:
        own = message.intact and not message.origin
        text = "" if own else content_hash(message)
        digest.update(f"\n{message.id} {text} {'pinned' if message.pinned else ''}".encode())
    return digest.hexdigest()
