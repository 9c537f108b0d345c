"""
Matching a request's history to the session that it continues.

A history continues a session if it begins with the session's whole log, compared by message ids.
A history that diverges gets its own session; if the old session was compacted, the new one is a
branch whose shared beginning keeps its compacted view.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.engine.receipt import Receipt
from foldline.errors import StoreError
from foldline.proxy.requests import ConversationRequest
from foldline.session import Session
from foldline.session.fork import fork
from foldline.stores.memory import MemoryStore
from foldline.stores.protocol import Store
from foldline.values.identity import shared_length
from foldline.values.messages import Usage

PREFIX: Final = "serve-"
"""Prefix of the proxy's session names; it continues no other sessions."""

RECENT_MESSAGES: Final = 24
"""Number of the newest messages of a history that are looked up in the archive."""

MAX_CANDIDATES: Final = 16
"""Maximum number of archived sessions that are compared with a history."""

ATTEMPTS: Final = 3

MAX_BYTES: Final = 128 << 20
"""Maximum total size of the newest requests of all open sessions, in bytes."""


@dataclass(eq=False)
class OpenConversation:
    """
    An open session, used only under its ``lock``.

    ``ids`` are the message ids of its log. ``sent`` is the view last sent: positions in the log,
    and the JSON of messages made by edits. ``answer`` is the length of the log at the last request
    and the usage of its answer. ``coming`` are the ids about to be appended, so that a repeated
    request waits for it; ``size`` is the size of the newest request, in characters.
    """

    session: Session
    store: Store
    ids: list[str]
    root: tuple[str, bool]
    hint: str = ""
    sent: tuple[int | str, ...] = ()
    answer: tuple[int, Usage] | None = None
    around: bytes = b""
    coming: Sequence[str] = ()
    size: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def shares(self, ids: Sequence[str]) -> int:
        """Return the length of the common prefix of messages."""
        return _count_shared(self.ids, ids)


class ConversationMatcher:
    """
    The most recently used sessions, and the lookup of a request's session.

    Args:
        store: The archive; None keeps every session in memory while it is open.
        opens: Opens a session for a request, in a store, with a name.
        most: Maximum number of open sessions.
    """

    def __init__(
        self,
        store: Store | None,
        opens: Callable[[ConversationRequest, Store, str], Session],
        *,
        most: int,
    ) -> None:
        self._store = store
        self._opens = opens
        self._most = most
        self._guard = threading.Lock()
        self._open: OrderedDict[str, OpenConversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def match(self, request: ConversationRequest) -> Iterator[OpenConversation]:
        """Lock the session that a request continues, and append the new messages to it."""
        for attempt in range(ATTEMPTS):
            conversation = self._find(request)
            with conversation.lock:
                if conversation.shares(request.ids) < len(conversation.ids):
                    continue  # another request was faster
                try:
                    _catch_up(conversation, request)
                except StoreError:
                    # Another process may have continued the session.
                    self._drop(conversation)
                    if attempt + 1 == ATTEMPTS:
                        raise
                    continue
                conversation.size = len(request.body.text)
                yield conversation
                return
        raise StoreError("Another process keeps changing the session.")

    def find_open(self, request: ConversationRequest) -> OpenConversation | None:
        """Return the open session that a request continues, unchanged; None for none."""
        with self._guard:
            found, shared = self._nearest(request)
        return found if found is not None and found.ids and shared == len(found.ids) else None

    def close(self) -> None:
        """Close all sessions."""
        with self._guard:
            while self._open:
                self._open.popitem()[1].session.close()

    # --- finding -----------------------------------------------------------------------------

    def _find(self, request: ConversationRequest) -> OpenConversation:
        with self._guard:
            found, shared = self._nearest(request)
            if found is not None and shared == len(found.ids or found.coming):
                self._open.move_to_end(found.session.name)
                return found
            kept = self._find_archived(request, shared)
            if kept is not None:
                return kept
            if found is not None and shared and any(map(is_compaction, found.session.receipts)):
                return self._branch(request, found.store, found.session.name, shared)
            return self._open_session(
                request, self._store or MemoryStore(), _new_name(request), []
            )

    def _branch(
        self, request: ConversationRequest, store: Store, left: str, shared: int
    ) -> OpenConversation:
        """Start a new session as a branch from the shared beginning of another."""
        name = _new_name(request)
        fork(store, left, name, shared, time.time())
        return self._open_session(request, store, name, list(request.ids[:shared]))

    def _nearest(self, request: ConversationRequest) -> tuple[OpenConversation | None, int]:
        """Return the open session with the longest common prefix, and its length."""
        best, most = None, (False, 0, False)
        for conversation in self._open.values():
            if conversation.root != request.root:
                continue
            ids = conversation.ids or conversation.coming
            shared = _count_shared(ids, request.ids)
            goes_on = shared == len(ids)
            rank = (goes_on, shared, bool(request.hint) and conversation.hint == request.hint)
            if shared and rank >= most:
                best, most = conversation, rank
        return best, most[1]

    def _find_archived(self, request: ConversationRequest, shared: int) -> OpenConversation | None:
        """Reopen a session of the archive that shares more than the open ones."""
        if self._store is None:
            return None
        best, most = "", shared
        for name in self._candidates(request):
            with _skip_damaged():
                stored = self._store.load(name)
                ids = [] if stored is None else list(stored.ids)
                if not ids or stored is None or stored.head.dialect != request.endpoint.dialect:
                    continue
                same = _count_shared(ids, request.ids)
                if same == len(ids):
                    return self._open_session(request, self._store, name, ids)
                if same > most and stored.batches:
                    best, most = name, same
        if not best:
            return None
        with _skip_damaged():
            return self._branch(request, self._store, best, most)
        return None

    def _candidates(self, request: ConversationRequest) -> Iterator[str]:
        assert self._store is not None  # noqa: S101  # callers check it
        seen: set[str] = set(self._open)
        for number in reversed(request.ids[-RECENT_MESSAGES:]):
            for name, _ in self._store.find(number):
                if name.startswith(PREFIX) and name not in seen:
                    seen.add(name)
                    yield name
                if len(seen) >= MAX_CANDIDATES + len(self._open):
                    return

    # --- open sessions -------------------------------------------------------------------------

    def _open_session(
        self, request: ConversationRequest, store: Store, name: str, ids: list[str]
    ) -> OpenConversation:
        session = self._opens(request, store, name)
        made = OpenConversation(
            session, store, ids, request.root, request.hint, coming=request.ids
        )
        self._open[name] = made
        self._close_idle(made)
        return made

    def _close_idle(self, made: OpenConversation) -> None:
        """Close the longest idle sessions above the limits on number and size."""
        size = sum(one.size for one in self._open.values())
        for old in list(self._open.values()):
            if len(self._open) <= self._most and size <= MAX_BYTES:
                return
            # A session in use is closed later.
            if old is not made and old.lock.acquire(blocking=False):
                del self._open[old.session.name]
                size -= old.size
                old.session.close()
                old.lock.release()

    def _drop(self, conversation: OpenConversation) -> None:
        with self._guard:
            self._open.pop(conversation.session.name, None)
        conversation.session.close()


def _new_name(request: ConversationRequest) -> str:
    return f"{PREFIX}{request.client}-{uuid.uuid4().hex[:12]}"


@contextmanager
def _skip_damaged() -> Iterator[None]:
    """Skip a session that is damaged; the conversation starts a new one."""
    try:
        yield
    except StoreError as error:
        if not error.damaged:
            raise


def _count_shared(log: Sequence[str], ids: Sequence[str]) -> int:
    """Return the length of the common prefix of a log and a history."""
    size = len(log)
    if size and size <= len(ids) and log[-1] == ids[size - 1] and log == ids[:size]:
        return size
    return shared_length(log, ids)


def _catch_up(conversation: OpenConversation, request: ConversationRequest) -> None:
    """Append the new messages of a request."""
    session, done = conversation.session, len(conversation.ids)
    if conversation.around != request.around:
        session.surround(system=request.system, tools=request.tools)
        conversation.around = request.around
    fresh = range(done, len(request.ids))
    if not fresh:
        return
    wires: list[Any] = [request.wire(position) for position in fresh]
    session.extend(wires, usage=_usage(conversation, request))
    conversation.ids += request.ids[done:]
    for position in fresh:
        if request.known[position].must_stay:
            session.pin(request.ids[position])


def _usage(conversation: OpenConversation, request: ConversationRequest) -> Usage | None:
    """Return the usage that the provider reported for the new answer in a request, if any."""
    done = len(conversation.ids)
    if conversation.answer is None or conversation.answer[0] != done:
        return None
    answers = [known.role == "assistant" for known in request.known[done:]]
    # One answer may be several items; items after the first other message are not part of it.
    return conversation.answer[1] if answers[0] and answers == sorted(answers)[::-1] else None


def is_compaction(receipt: Receipt) -> bool:
    """Return True if the view was reduced, not only repaired."""
    return receipt.status == "compacted" and receipt.reason != "repair"
