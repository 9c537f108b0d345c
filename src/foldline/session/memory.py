"""Session memory between a session and its store: written in one step, read after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from foldline.core.limits import Breaker, Spent
from foldline.core.prepared import Prepared, fingerprint
from foldline.errors import UNREADABLE
from foldline.frozen import frozen
from foldline.session.codec import freeze, thaw
from foldline.session.damage import interpreting
from foldline.session.statistics import BackgroundStatistics
from foldline.stores.protocol import StoredMemory
from foldline.type_checks import check_fields
from foldline.values.edit_json import edits_from_json, edits_to_json
from foldline.values.edits import Edit
from foldline.values.messages import Message


@frozen
class PreparedMemory:
    """What is prepared, and how it stands in the store."""

    prepared: Prepared
    stored: StoredMemory


@dataclass(slots=True)
class PreparedSlot:
    """
    Where a session keeps what is prepared.

    ``appended`` is how many tokens came since it was last tried to prepare something, ``revision``
    counts the times that what was shown changed other than by appending, and ``problem`` says why
    the last try came to nothing. ``breaker`` counts answers of the summarizer that were of no use.
    ``statistics`` are those of the log, for the worker. ``text`` is what the user wants the next
    snapshot to begin with, "" for nothing.
    """

    breaker: Breaker
    memory: PreparedMemory | None = None
    appended: int = 0
    revision: int = 0
    problem: str = ""
    text: str = ""
    statistics: BackgroundStatistics = field(default_factory=BackgroundStatistics)

    def void(self, tokens: int) -> None:
        """Note that other messages are shown now, of so many tokens: nothing prepared holds."""
        self.memory, self.appended, self.problem = None, tokens, ""
        self.revision += 1

    def put(self, memory: PreparedMemory, appended: int = 0) -> None:
        """Keep what is prepared now; so many tokens were appended behind it."""
        self.memory, self.appended, self.problem = memory, appended, ""


def text_to_store(text: str, at: int, generation: int, time: float) -> StoredMemory | None:
    """
    Return what is kept of the user's own text; None where there is none.

    Args:
        text: The text.
        at: How many messages the log has.
        generation: That of the session.
        time: In seconds since 1970.
    """
    return StoredMemory("", "", at, generation, time, {"text": text}) if text else None


def text_from_store(stored: StoredMemory | None) -> str:
    """Return the user's own text that is kept, "" where there is none."""
    content = None if stored is None else stored.content
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""


def to_store(prepared: Prepared, generation: int, text: str = "") -> StoredMemory:
    """
    Return what is kept of something prepared.

    Args:
        prepared: It covers at least one message.
        generation: The generation that the session will have with it.
        text: The user's own text that it was made with.
    """
    content = {
        "text": text,
        "edits": edits_to_json(prepared.edits, freeze),
        "recall": dict(prepared.recall),
        "covered": len(prepared.covered),
        "dialect": prepared.dialect,
        "fallback": prepared.fallback,
        "reason": prepared.reason,
        "spent": asdict(prepared.spent),
    }
    digest = fingerprint(prepared.covered, prepared.dialect)
    return StoredMemory(prepared.until, digest, prepared.at, generation, prepared.time, content)


def from_store(stored: StoredMemory, view_messages: Sequence[Message]) -> PreparedMemory | None:
    """
    Take up what another process prepared.

    Args:
        stored: What is kept of it.
        view_messages: What the model sees now.

    Returns:
        The memory; None when other messages are shown than those that it was made for, or when
        another version of Foldline wrote it. Then it is prepared anew when that is due.
    """
    try:
        count, dialect = stored.content["covered"], stored.content["dialect"]
        if type(count) is not int or not 0 < count <= len(view_messages):
            return None
        covered = tuple(view_messages[:count])
        if covered[-1].id != stored.until:
            return None
        if fingerprint(covered, dialect) != stored.digest:
            return None
        prepared = Prepared(
            covered,
            edits_from_json(stored.content["edits"], thaw),
            dialect,
            stored.at,
            stored.time,
            _words(stored.content["recall"]),
            stored.content["fallback"] is True,
            str(stored.content["reason"]),
            Spent(**stored.content["spent"]),
        )
        check_fields(prepared.spent)
    except UNREADABLE:
        return None
    return PreparedMemory(prepared, stored)


def read_edits(stored: StoredMemory) -> tuple[tuple[Edit, ...], dict[str, str]]:
    """
    Return the edits that a compaction took over, and what their handles recall.

    Raises:
        StoreError: This version of Foldline cannot read them.
    """
    with interpreting(f"The session memory of message {stored.until}"):
        return edits_from_json(stored.content["edits"], thaw), _words(stored.content["recall"])


def _words(recall: Any) -> dict[str, str]:
    """Return what handles recall, in a few words each."""
    if not isinstance(recall, dict) or not all(isinstance(one, str) for one in recall.values()):
        raise TypeError("not the words of handles")
    return dict(recall)
