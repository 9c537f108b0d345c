"""Storage of session memory: written with a change of the session, read after a restart."""

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
    """A prepared compaction, and its stored form."""

    prepared: Prepared
    stored: StoredMemory


@dataclass(slots=True)
class PreparedSlot:
    """
    The prepared compaction of a session, and the state of its preparation.

    ``appended`` is the number of tokens appended since the last preparation, ``revision`` counts
    changes of the view other than by appending, and ``problem`` is the reason why the last
    preparation failed. ``breaker`` counts unusable answers of the summarizer. ``statistics`` are
    those of the log, for the worker. ``text`` is the user's text for the start of the next
    snapshot, "" for none.
    """

    breaker: Breaker
    memory: PreparedMemory | None = None
    appended: int = 0
    revision: int = 0
    problem: str = ""
    text: str = ""
    statistics: BackgroundStatistics = field(default_factory=BackgroundStatistics)

    def void(self, tokens: int) -> None:
        """Discard the prepared compaction: the view was replaced by one of ``tokens`` tokens."""
        self.memory, self.appended, self.problem = None, tokens, ""
        self.revision += 1

    def put(self, memory: PreparedMemory, appended: int = 0) -> None:
        """Set the prepared compaction; ``appended`` tokens follow the messages it covers."""
        self.memory, self.appended, self.problem = memory, appended, ""


def text_to_store(text: str, at: int, generation: int, time: float) -> StoredMemory | None:
    """
    Return the stored form of the user's own text; None if it is empty.

    Args:
        text: The text.
        at: Length of the log, in messages.
        generation: Generation of the session.
        time: Current time, in seconds since 1970.
    """
    return StoredMemory("", "", at, generation, time, {"text": text}) if text else None


def text_from_store(stored: StoredMemory | None) -> str:
    """Return the stored text of the user, "" if there is none."""
    content = None if stored is None else stored.content
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""


def to_store(prepared: Prepared, generation: int, text: str = "") -> StoredMemory:
    """
    Return the stored form of a prepared compaction.

    Args:
        prepared: The compaction; it covers at least one message.
        generation: The generation that the session will have with it.
        text: The user's own text at the start of its snapshot.
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
    Restore a compaction that another process prepared.

    Args:
        stored: Its stored form.
        view_messages: The messages of the view.

    Returns:
        The memory; None if the view differs from the one that it was made for, or if
        another version of Foldline wrote it. Then it is prepared again when that is due.
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
            _descriptions(stored.content["recall"]),
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
    Return the edits of a stored memory that a compaction used, and its handles.

    Raises:
        StoreError: This version of Foldline cannot read them.
    """
    with interpreting(f"The session memory of message {stored.until}"):
        edits = edits_from_json(stored.content["edits"], thaw)
        return edits, _descriptions(stored.content["recall"])


def _descriptions(recall: Any) -> dict[str, str]:
    """Return the descriptions of handles, after a check of their type."""
    if not isinstance(recall, dict) or not all(isinstance(one, str) for one in recall.values()):
        raise TypeError("the descriptions of handles are not texts")
    return dict(recall)
