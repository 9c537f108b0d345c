"""A compaction, before and after: the fate of every message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from foldline.evaluation.future_use import identifiers
from foldline.frozen import field, frozen
from foldline.inspector.timeline import Revision, ViewSegment
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite
from foldline.values.messages import Message, visible_texts
from foldline.values.tokens import TokenCounter

Fate: TypeAlias = Literal[
    "kept", "cut", "cleared", "quoted", "summarized", "folded", "handle", "file", "added"
]

FATES: Final[dict[Fate, str]] = {
    "kept": "kept word for word",
    "cut": "cut: a part is still in view",
    "cleared": "cleared: replaced by a note",
    "quoted": "folded: lines of it are quoted in the snapshot",
    "summarized": "folded: covered by a model's summary",
    "folded": "folded: the snapshot names its subject",
    "handle": "out of view: only by handle",
    "file": "out of view: only in the agent's file",
    "added": "added by the compaction",
}
"""Description of every fate, from most to least visible to the model."""

SHORTEST: Final = 16
"""Minimum length of a line in a snapshot to count as quoted, in characters."""

LINES: Final = 400
"""Maximum lines of one message searched for in a snapshot."""

_REWRITES: Final[dict[str, Fate]] = {"truncate": "cut", "repair": "cut"}


@frozen
class MessageFate:
    """
    One message before and its replacement after; either may be missing.

    ``before`` and ``after`` are tokens. ``quoted`` counts the lines that a snapshot quotes.
    """

    fate: Fate
    old: Message | None = field(repr=False)
    new: Message | None = field(repr=False)
    before: int
    after: int
    quoted: int = 0


@frozen
class ViewComparison:
    """All rows of a compaction, in the order of the view before; tokens of both views."""

    rows: tuple[MessageFate, ...] = field(repr=False)
    before: int
    after: int

    def tokens(self) -> dict[Fate, tuple[int, int]]:
        """Return the number of messages with each fate, and their tokens before."""
        found: dict[Fate, tuple[int, int]] = {}
        for fate in FATES:
            rows = [row for row in self.rows if row.fate == fate]
            if rows:
                size = sum(row.after if fate == "added" else row.before for row in rows)
                found[fate] = (len(rows), size)
        return found


def compare(
    old: Sequence[Message], new: Sequence[Message], revision: Revision, counter: TokenCounter
) -> ViewComparison:
    """
    Determine the fate of every message.

    Args:
        old: The view before.
        new: The view after.
        revision: The change between the two.
        counter: Counts messages.
    """
    size = counter.message
    rows = tuple(
        MessageFate(fate, was, now, size(was) if was else 0, size(now) if now else 0, quoted)
        for fate, was, now, quoted in _FateFinder(old, new, revision).rows()
    )
    return ViewComparison(rows, sum(row.before for row in rows), sum(row.after for row in rows))


def around(
    segments: Sequence[ViewSegment], index: int
) -> tuple[Sequence[Message], Sequence[Message]]:
    """Return the views before and after the change that a segment begins with."""
    segment = segments[index]
    return segments[index - 1].messages, segment.messages[: segment.start]


class SnapshotText:
    """The text of snapshots; ``names`` are the identifiers in their ``text``."""

    def __init__(self, snapshots: Iterable[Message]) -> None:
        self.text = "\n".join(text for m in snapshots for text in visible_texts(m))
        self.names = identifiers(self.text)

    def quotes(self, lines: Iterable[str]) -> int:
        """Count the lines that occur verbatim in the snapshots."""
        return sum(line in self.text for line in lines) if self.text else 0


class _FateFinder:
    """Follows messages through one change of the view."""

    def __init__(self, old: Sequence[Message], new: Sequence[Message], revision: Revision) -> None:
        self._old = old
        self._new = new
        self._stays = {message.id: message for message in new}
        self._revision = revision
        self._stood = {message.id for message in old}
        self._added = [message for message in new if message.id not in self._stood]
        self._snapshot = SnapshotText(self._added)
        self._rewrites = {
            edit.message: edit for edit in revision.edits if isinstance(edit, Rewrite)
        }

    def rows(self) -> Iterator[tuple[Fate, Message | None, Message | None, int]]:
        """Yield rows: old messages in order, each new one before the message that follows it."""
        places = self._fold_places()
        waiting: list[Message] = []
        for message in self._new:
            if message.id in self._stood:
                places.setdefault(message.id, [])[:0] = waiting
                waiting = []
            else:
                waiting.append(message)
        coming = {message.id: message for message in self._added}
        for message in self._old:
            for new in places.get(message.id, ()):
                if coming.pop(new.id, None):
                    yield "added", None, new, 0
            yield self._row(message)
        for new in coming.values():
            yield "added", None, new, 0

    def _fold_places(self) -> dict[str, list[Message]]:
        """Return the snapshots by the first message that each replaces."""
        if self._revision.cause == "recorded":
            first = next((m.id for m in self._old if m.id not in self._stays), "")
            return {first: list(self._added)}
        places: dict[str, list[Message]] = {}
        for edit in self._revision.edits:
            if isinstance(edit, Fold) and edit.snapshot.id in self._stays:
                folded_ids = set(edit.messages)
                first = next((m.id for m in self._old if m.id in folded_ids), "")
                places.setdefault(first, []).append(self._stays[edit.snapshot.id])
        return places

    def _row(self, message: Message) -> tuple[Fate, Message | None, Message | None, int]:
        stays = self._stays.get(message.id)
        if stays is message or (stays is not None and stays == message):
            return "kept", message, stays, 0
        if stays is not None:
            edit = self._rewrites.get(message.id)
            fate = _REWRITES.get(edit.kind, "cleared") if edit else "cut"
            return fate, message, stays, 0
        quoted = self._count_quoted(message)
        return self._explain_removal(message, quoted), message, None, quoted

    def _explain_removal(self, message: Message, quoted: int) -> Fate:
        if quoted:
            return "quoted"
        if self._snapshot.names and any(
            identifiers(text[:20_000]) & self._snapshot.names for text in visible_texts(message)
        ):
            receipt = self._revision.receipt
            by_model = receipt is None or receipt.spent.output_tokens > 0
            return "summarized" if by_model else "folded"
        return "file" if self._revision.cause == "recorded" else "handle"

    def _count_quoted(self, message: Message) -> int:
        texts = visible_texts(message) if self._snapshot.text else ()
        return sum(
            self._snapshot.quotes({s for line in lines if len(s := line.strip()) >= SHORTEST})
            for lines in (text[:200_000].split("\n")[:LINES] for text in texts)
        )


def describe(revision: Revision) -> str:
    """Describe the edits of a change briefly."""
    words = {
        Rewrite: "parts rewritten",
        Drop: "ranges dropped",
        Fold: "snapshots made",
        Insert: "messages inserted",
        Move: "messages moved",
    }
    counts = {kind: sum(isinstance(edit, kind) for edit in revision.edits) for kind in words}
    return ", ".join(f"{words[kind]}: {count:,}" for kind, count in counts.items() if count)
