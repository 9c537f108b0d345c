"""The archive: every session in a store, and recall of content removed from any of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Self

from foldline.engine.receipt import Receipt
from foldline.errors import FoldlineError, RecallError, StoreError
from foldline.formats.dialect import Dialect
from foldline.frozen import replace
from foldline.recall import Recalled, recall
from foldline.recall.fitting import cap
from foldline.recall.holdings import parse, resolve
from foldline.recall.session_search import PastAnswer, PastSession, search_past
from foldline.session.batches import COMPACTION, Batch, History, restore_history
from foldline.session.codec import decode_stored, encode_stored, freeze
from foldline.session.damage import reading
from foldline.session.log import Log
from foldline.stores.log import next_kept
from foldline.stores.protocol import Change, SessionHead, SessionInfo, Store, StoredSession
from foldline.stores.retention import Retention, prune
from foldline.values.edit_json import message_to_json
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

LAST_DAY: Final = 253_402_128_000.0
"""The end of the calendar, the year 9999, in seconds since 1970."""


class Archive:
    """
    All sessions of a store, for programs that use more than one.

    Args:
        store: The store of the sessions.
        clock: Returns seconds since 1970.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, key: str | None = None) -> Self:
        """
        Open the archive in a file or a database; see `foldline.stores.opening.open_store`.

        Raises:
            StoreError: It cannot be opened, is not an archive, or is encrypted with another key.
        """
        from foldline.stores.opening import open_store

        return cls(open_store(path, key=key))

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return the sessions with their sizes, most recently changed first."""
        return self._store.sessions()

    def messages(self, name: str) -> tuple[Message, ...]:
        """
        Return the log of a session, with every original message.

        Raises:
            RecallError: There is no session with this name.
        """
        return tuple(self._log(self._load(name)))

    def salvage(self, name: str) -> tuple[Message, ...]:
        """
        Return every message of a session that can still be read, in order.

        Args:
            name: The name of a damaged session.

        Raises:
            RecallError: There is no session with this name.
            StoreError: No message can be read.
        """
        stored = self._load(name)
        found: list[Message] = []
        damage: StoreError | None = None
        dialect, position = _dialect(stored.head.dialect), 0
        while position < len(stored.messages):
            try:
                with reading(name):
                    item = stored.messages[position]
                    message = decode_stored(dialect, item)
                found.append(replace(message, id=item.id, pinned=item.pinned))
                position += 1
            except StoreError as error:
                damage = damage or error
                position = next_kept(stored.ids, position + 1)  # skip a gap of any length
        if damage is not None and not found:
            raise damage
        return tuple(found)

    def _load(self, name: str) -> StoredSession:
        stored = self._find(name)
        if stored is None:
            names = ", ".join(self._store.names()[:5])
            raise RecallError(
                f"There is no session {name!r}.", hint=f"The newest are: {names or 'none'}."
            )
        return stored

    def _find(self, name: str) -> StoredSession | None:
        with reading(name):
            return self._store.load(name)

    def compactions(self, name: str) -> tuple[Batch, ...]:
        """
        Return all batches of edits of a session, in order, including undone ones.

        Raises:
            RecallError: There is no session with this name.
        """
        return tuple(restore_history(self._load(name)).batches)

    def generation(self, name: str) -> int:
        """Return the number of changes of a session."""
        return self._load(name).generation

    def undo(self, name: str) -> Receipt | None:
        """
        Undo the last compaction of a session, durably; no other program may have it open.

        Returns:
            Its receipt; None if no compaction is in effect.

        Raises:
            StoreError: Another writer changed the session meanwhile; nothing was recorded.
        """
        stored = self._load(name)
        last = restore_history(stored).last()
        if last is None:
            return None
        at, now = len(stored.ids), self._clock()
        change = Change(at, undone=last.number, forgets=True, time=now, session=stored.number)
        self._store.commit(name, stored.generation, change)
        return last.receipt

    def receipts(self, name: str) -> tuple[Receipt, ...]:
        """
        Return the receipts of all compaction attempts on a session, in order, also undone ones.

        Raises:
            RecallError: There is no session with this name.
        """
        return tuple(batch.receipt for batch in self.compactions(name))

    def size(self) -> int:
        """Return the total size, in bytes."""
        return self._store.size()

    def save(self, name: str, transcript: Transcript, receipt: Receipt) -> str:
        """
        Save a transcript that was compacted as a whole, so that its handles can be recalled.

        Args:
            name: The name of the session. An existing session is continued if the transcript
                continues it; otherwise a session with another name is created.
            transcript: The original, with ids.
            receipt: The receipt of the compaction; the previous compaction is no longer in effect.

        Returns:
            The name of the session.

        Raises:
            InputError: A message is not JSON.
            StoreError: Nothing was recorded.
        """
        numbers = [message.id for message in transcript.messages]
        stored = self._place(name, transcript.dialect, numbers)
        history = restore_history(stored)
        last = history.last()
        if last is not None and last.edits == receipt.edits and last.at == len(numbers):
            return stored.head.name
        now, at = self._clock(), len(stored.messages)
        dialect = _dialect(transcript.dialect)
        batch = Batch(len(history.batches), len(numbers), COMPACTION, receipt, now)
        change = Change(
            at=at,
            messages=tuple(
                encode_stored(message, _form(message, dialect), now)
                for message in transcript.messages[at:]
            ),
            batches=(batch.to_stored(),) if receipt.edits else (),
            undone=last.number if last is not None and receipt.edits else None,
            session=stored.number,
        )
        self._store.commit(stored.head.name, stored.generation, change)
        return stored.head.name

    def _place(self, name: str, dialect: str, numbers: list[str]) -> StoredSession:
        """Return the session that the messages continue, or a new one."""
        attempt, title = 1, name
        while True:
            stored = self._store.begin(SessionHead(title, dialect, created=self._clock()))
            size = len(stored.messages)
            same = list(stored.ids) == numbers[:size]
            # A tool call of one format may be opaque to another.
            if same and stored.head.dialect == dialect:
                return stored
            attempt += 1
            title = f"{name} ({attempt})"

    def delete(self, *names: str) -> int:
        """
        Delete sessions permanently, with every content that no other session holds.

        Returns:
            The number of deleted sessions.

        Raises:
            StoreError: Nothing was deleted, or old bytes are still in the log of the file.
        """
        return self._store.delete(names)

    def prune(self, retention: Retention) -> tuple[str, ...]:
        """Delete sessions beyond the retention limits; return their names."""
        return prune(self._store, retention, self._clock())

    def recall(
        self,
        handle: str,
        *,
        session: str | None = None,
        counter: TokenCounter | None = None,
        **access: Any,
    ) -> Recalled:
        """
        Return the original content of a handle of any session.

        The newest session that issued the handle takes precedence.

        Args:
            handle: A handle in a stub, a snapshot or a receipt.
            session: The session to search; None for all.
            counter: Counts tokens, for ``max_tokens``; default the best available.
            access: The part to return; see `foldline.recall.recall`.

        Raises:
            RecallError: The handle is unknown, or ambiguous in its session, or there is no
                session with this name.
        """
        found = self._holding(handle, session)
        if found is None:
            if session:
                self._load(session)  # raises if there is none
            raise self._unknown_handle_error(handle)
        stored, history = found
        originals = self._log(stored).originals
        counter = counter or _counter(access.get("max_tokens"))
        return recall(history.holdings(originals), handle, counter=counter, **access)

    def search(
        self,
        query: str,
        *,
        session: str | None = None,
        before: float | None = None,
        start: int = 0,
        max_tokens: int | None = None,
        counter: TokenCounter | None = None,
    ) -> PastAnswer:
        """
        Return the passages of past sessions that answer a question best.

        Each has a handle for `recall` and the name of its session. The newest sessions are
        searched first; the search stops after a limit of seconds or characters, and ``before``
        reaches the others.

        Args:
            query: Words of the question.
            session: Only this session; None for all.
            before: Only sessions last changed before this time, in seconds since 1970.
            start: The number of passages already returned.
            max_tokens: Maximum size of the text, in tokens.
            counter: Counts tokens; default the best available.

        Raises:
            RecallError: The query has no words, or there is no session with this name.
        """
        if session is not None:
            self._load(session)
        chosen = [
            info
            for info in self.sessions()
            if session in (None, info.head.name) and (before is None or info.updated < before)
        ]
        fits = cap(max_tokens, None, counter or _counter(max_tokens))
        past = (self._past(info) for info in chosen)
        return search_past(past, query, fits, start=start, clock=time.monotonic)

    def _past(self, info: SessionInfo) -> PastSession:
        day = datetime.fromtimestamp(min(max(0.0, info.updated), LAST_DAY), UTC).date()
        title = f"session {json.dumps(info.head.name, ensure_ascii=False)}, {day}"
        return PastSession(title, self._load_messages(info.head.name))

    def _load_messages(self, name: str) -> Iterator[Message]:
        """Yield the messages of a session, which may have been deleted meanwhile."""
        stored = self._find(name)
        yield from () if stored is None else self._log(stored)

    def _holding(self, handle: str, session: str | None) -> tuple[StoredSession, History] | None:
        """Find the newest session that issued a handle, or else one that has content under it."""
        prefix, _ = parse(handle)
        has_message = list(dict.fromkeys(name for name, _ in self._store.find(prefix)))
        # Sessions with a message of this id first: usually no other one need be read.
        names = [session] if session else dict.fromkeys((*has_message, *self._store.names()))
        best = damage = None
        for name in names:
            try:
                with reading(name):
                    stored = self._store.load(name)
                    if stored is None:
                        continue
                    history = restore_history(stored)
                    made = any(number.startswith(prefix) for number in history.snapshots())
                    is_issued = history.has_issued(prefix)
            except StoreError as error:  # one damaged session must not hide the others
                damage = damage or error
                continue
            if made or name in has_message:
                if is_issued:
                    return stored, history
                best = best or (stored, history)
        if best is None and damage is not None:
            raise damage
        return best

    def _unknown_handle_error(self, handle: str) -> FoldlineError:
        """Return the error for an unknown handle, with similar ones."""
        near = {number: 0 for name in self._store.names()[:5] for number in self._ids(name)}
        try:
            resolve(handle, near)
        except RecallError as error:
            return error
        return RecallError(f"Nothing is kept under {handle}.")

    def _ids(self, name: str) -> Sequence[str]:
        try:
            stored = self._store.load(name)
            return () if stored is None else list(stored.ids)
        except StoreError:  # similar handles are listed as far as they can be read
            return ()

    def _log(self, stored: StoredSession) -> Log:
        dialect = _dialect(stored.head.dialect)
        return Log(stored, lambda item: decode_stored(dialect, item), lambda: stored)

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _counter(max_tokens: int | None) -> TokenCounter | None:
    """Return the best available counter if one is needed."""
    if max_tokens is None:
        return None
    from foldline.tokens.choose import choose_counter

    return TokenCounter(choose_counter())


def _dialect(name: str) -> Dialect | None:
    """Return the dialect of a session; None for the formats of files, which are not dialects."""
    from foldline.formats.registry import DIALECTS

    return DIALECTS.get(name)


def _form(message: Message, dialect: Dialect | None) -> Any:
    """Return the message as JSON, unless its wire original suffices."""
    if dialect is not None and message.dialect == dialect.name:
        try:
            if list(dialect.decode([message.raw]).messages) == [message]:
                return None
        except FoldlineError:
            pass
    return message_to_json(message, freeze) | {"raw": None}
