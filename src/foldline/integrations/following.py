"""Following a framework's authoritative history with a session that is synchronized to it."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import is_
from typing import Any, Final, Self

from foldline.ask_runner import run_to_end
from foldline.errors import BudgetError, InputError, StoreError
from foldline.formats.dialect import Dialect
from foldline.formats.registry import detect_dialect, dialect
from foldline.formats.sdk_objects import to_json
from foldline.session import Session
from foldline.session.fair_lock import FairLock
from foldline.session.fork import fork
from foldline.stores.protocol import Store
from foldline.values.identity import content_hash, shared_length
from foldline.values.messages import Message

BRANCHES: Final = 16
"""Maximum number of branches searched for the one that a history continues."""


class Follower:
    """
    Computes the model's view of a history that a framework keeps.

    The framework passes its whole history before every model call. New messages are appended to a
    session; the session's view is returned. A history that was rewound or edited continues as a
    branch, its own session that shares the beginning; the old branch is kept, so that every handle
    can still be recalled.

        follower = Follower(window=32_000)
        answer = model.invoke(follower.view(history))

    Args:
        path: The archive, a SQLite file; None keeps everything in memory.
        name: The name of the conversation.
        store: A store to use instead of a file.
        **options: Options of `Session.open`, such as ``window``, ``model``, ``policy``,
            ``summarizer``.

    Raises:
        StoreError: The archive cannot be opened.
        BudgetError: An option contradicts another.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        name: str = "conversation",
        *,
        store: Store | None = None,
        **options: Any,
    ) -> None:
        self._owns_store = store is None
        self._store = _store(path) if store is None else store
        self._name = name
        self._options = options
        self._turn = FairLock()
        self._session = self._open(self._newest())

    @property
    def session(self) -> Session:
        """The session of the current branch."""
        return self._session

    def follow(self, messages: Sequence[Any]) -> None:
        """Append the new messages of a history, or branch, without building a view; see `view`."""
        with self._turn:
            self._catch_up(messages)

    def view(
        self,
        messages: Sequence[Any],
        *,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
    ) -> Sequence[Any]:
        """
        Return the view to send instead of a history.

        Args:
            messages: The whole history, in the wire format of the session or as objects.
            system: The system prompt sent with it, if it is known only now.
            tools: The tool schemas sent with it.

        Returns:
            ``messages`` itself if nothing changes, else a new list. Unchanged messages are the
            original objects.

        Raises:
            InputError: A message cannot be read.
            BudgetError: System prompt and tools leave no room for messages.
        """
        with self._turn:
            self._catch_up(messages, system, tools)
            return self._with_originals(messages, self._session.view())

    async def aview(
        self,
        messages: Sequence[Any],
        *,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
    ) -> Sequence[Any]:
        """Return the view to send instead of a history, in async programs; see `view`."""
        async with self._turn:
            await _run_in_thread(self._catch_up, messages, system, tools)
            return self._with_originals(messages, await self._session.aview())

    def overflowed(self, messages: Sequence[Any], error: Any) -> Sequence[Any]:
        """
        Return a smaller view after the provider rejected one as too long.

        Args:
            messages: The whole history.
            error: The provider's error: an exception, or a response.

        Raises:
            ContextOverflow: Nothing strictly smaller can be sent.
        """
        with self._turn:
            self._catch_up(messages)
            return self._with_originals(messages, self._session.overflowed(error))

    async def aoverflowed(self, messages: Sequence[Any], error: Any) -> Sequence[Any]:
        """Return a smaller view after a rejection, in async programs; see `overflowed`."""
        async with self._turn:
            await _run_in_thread(self._catch_up, messages)
            return self._with_originals(messages, await self._session.aoverflowed(error))

    def close(self) -> None:
        """Close the session and the archive; closing twice is allowed."""
        with self._turn:
            self._session.close()
            if self._owns_store:
                self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- synchronizing ---------------------------------------------------------------------

    def _catch_up(
        self,
        messages: Sequence[Any],
        system: str | None = None,
        tools: Iterable[Any] | None = None,
    ) -> None:
        log = self._session.messages
        shared = self._count_shared(log, messages)
        if shared < len(log):
            self._branch(messages, shared)
            shared = len(self._session.messages)
        if system is not None or tools is not None:
            self._session.surround(system=system, tools=tools)
        if shared < len(messages):
            self._session.extend(messages[shared:])

    def _count_shared(self, log: Sequence[Message], messages: Sequence[Any]) -> int:
        """Return the length of the common prefix of a log and a history."""
        shared = shared_length((known.raw for known in log), messages)
        if shared == min(len(log), len(messages)):
            return shared
        # Messages stored as JSON are read back as other objects with the same content.
        rest = to_json(messages[shared:])
        wire = dialect(self._session.format) if self._session.format else detect_dialect(rest)
        return shared + shared_length(log[shared:], rest, partial(_is_alike, wire))

    # --- branches --------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """Return the names of the branches, most recently changed first."""
        names = self._store.names()
        return [n for n in names if n == self._name or n.startswith(f"{self._name}#")]

    def _newest(self) -> str:
        return next(iter(self._names()), self._name)

    def _branch(self, messages: Sequence[Any], shared: int) -> None:
        """Continue the branch that is the longest prefix of a history, or start one."""
        left, names = self._session, self._names()
        for name in names[:BRANCHES]:
            if name == left.name:
                continue
            other = self._open(name)
            if shared < len(other.messages) == self._count_shared(other.messages, messages):
                self._session = other
                left.close()
                return
            other.close()
        titles = (f"{self._name}#{number}" for number in count(2))
        title = next(title for title in titles if title not in names)
        fork(self._store, left.name, title, shared, time.time())
        self._session = self._open(title)
        left.close()

    def _open(self, name: str) -> Session:
        return Session.open(None, name, store=self._store, **self._options)

    # --- the view --------------------------------------------------------------------------

    def _with_originals(self, messages: Sequence[Any], view: Sequence[Any]) -> Sequence[Any]:
        """Return a view with the original objects of unchanged messages."""
        came = {
            id(known.raw): wire
            for known, wire in zip(self._session.messages, messages, strict=False)
        }
        restored = [came.get(id(wire), wire) for wire in view]
        if len(restored) == len(messages) and all(map(is_, restored, messages)):
            return messages
        return restored


def _is_alike(wire: Dialect, known: Message, message: Any) -> bool:
    try:
        return content_hash(wire.decode([message]).messages[0]) == content_hash(known)
    except InputError:
        return False


def archive_name(name: str) -> str:
    """Return the name of a conversation in an archive, in which # separates a branch."""
    return name.replace("%", "%25").replace("#", "%23")


async def _run_in_thread(work: Callable[..., None], *arguments: Any) -> None:
    """Run blocking work in a thread, to its end even if the task is cancelled."""
    await run_to_end(asyncio.to_thread(work, *arguments))


def _store(path: str | os.PathLike[str] | None) -> Store:
    if path is None:
        from foldline.stores.memory import MemoryStore

        return MemoryStore()
    from foldline.stores.opening import open_store

    return open_store(os.fspath(path))


MOST: Final = 64
"""Default maximum number of open conversations."""


@dataclass(slots=True)
class _PooledFollower:
    follower: Follower
    options: dict[str, Any]
    users: int = 0


class FollowerPool:
    """
    A pool with one follower per conversation.

    Beyond ``most`` the least recently used one is closed. It is reopened from the archive, if any;
    otherwise from the history that the framework keeps.

    Args:
        path: The archive, a SQLite file; None keeps everything in memory.
        most: Maximum number of open conversations.
        **options: Options of `Follower`, for all conversations.

    Raises:
        BudgetError: ``most`` is not positive.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, most: int = MOST, **options: Any
    ) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise BudgetError(f"At least one conversation must be kept open, not {most!r}.")
        self._path = path
        self._most = most
        self._options = options
        self._lock = threading.Lock()
        self._pool: OrderedDict[str, _PooledFollower] = OrderedDict()

    @contextmanager
    def following(self, name: str, **options: Any) -> Iterator[Follower]:
        """
        Return the follower of a conversation; it is not closed before the block ends.

        Args:
            name: The name of the conversation.
            **options: Options of `Follower`; if they changed it is reopened, without any it is
                kept as it is.
        """
        pooled = self._acquire(name, options)
        try:
            yield pooled.follower
        finally:
            self._release(pooled)

    @asynccontextmanager
    async def afollowing(self, name: str, **options: Any) -> AsyncIterator[Follower]:
        """Return the follower of a conversation in async programs; see `following`."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._acquire, name, options))
        try:
            pooled = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # It is opened nevertheless, and must be released.
            taking.add_done_callback(self._release_late)
            raise
        try:
            yield pooled.follower
        finally:
            self._release(pooled)

    def session(self, name: str) -> Session:
        """
        Return the session of an open conversation.

        Raises:
            StoreError: It is not open.
        """
        with self._lock:
            pooled = self._pool.get(name)
        if pooled is None:
            raise StoreError(
                f"The conversation {name!r} is not open.",
                hint="Run it first, or open its session from the archive.",
            )
        return pooled.follower.session

    def close(self) -> None:
        """Close all conversations."""
        with self._lock:
            while self._pool:
                self._pool.popitem()[1].follower.close()

    def _acquire(self, name: str, options: dict[str, Any]) -> _PooledFollower:
        with self._lock:
            pooled = self._pool.get(name)
            if pooled is not None and options and pooled.options != options and not pooled.users:
                self._pool.pop(name).follower.close()
                pooled = None
            if pooled is None:
                follower = Follower(self._path, name, **(self._options | options))
                pooled = self._pool[name] = _PooledFollower(follower, options)
            self._pool.move_to_end(name)
            pooled.users += 1
            self._close_idle()
            return pooled

    def _close_idle(self) -> None:
        idle = [name for name, pooled in self._pool.items() if not pooled.users]
        for name in idle[: max(0, len(self._pool) - self._most)]:
            self._pool.pop(name).follower.close()

    def _release_late(self, taking: asyncio.Future[_PooledFollower]) -> None:
        if not taking.cancelled() and taking.exception() is None:
            self._release(taking.result())

    def _release(self, pooled: _PooledFollower) -> None:
        with self._lock:
            pooled.users -= 1
