"""Following a framework: its history is the truth, and a session keeps step with it."""

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
"""How many branches of one conversation are looked at to find the one that a history continues."""


class Follower:
    """
    Decides what a model sees of a history that a framework keeps.

    The framework hands over its whole history before every model call. What is new is appended to
    a session; what the session shows is returned. A history that was rewound or edited goes on as
    a branch, a session of its own that shares the beginning; the branch it left is kept, so that
    every handle is still recalled.

        follower = Follower(window=32_000)
        answer = model.invoke(follower.view(history))

    Args:
        path: The archive, a SQLite file; None keeps everything in memory.
        name: Of the conversation.
        store: Where to keep it instead of in a file.
        **options: Of `Session.open`, such as ``window``, ``model``, ``policy``, ``summarizer``.

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
        """The session of the branch that was followed last."""
        return self._session

    def follow(self, messages: Sequence[Any]) -> None:
        """Append what is new in a history, or go on in a branch, and show nothing; see `view`."""
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
        Return what to send instead of a history.

        Args:
            messages: The whole history, in the wire format of the session or as objects.
            system: The system prompt that is sent beside it, where it is known only now.
            tools: The tool schemas that are sent beside it.

        Returns:
            ``messages`` itself if nothing is shown otherwise, else a new list. Messages that are
            shown as they are, are the objects that came in.

        Raises:
            InputError: A message cannot be read.
            BudgetError: Nothing is left for messages beside system prompt and tools.
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
        """Return what to send instead of a history, in async programs; see `view`."""
        async with self._turn:
            await _run_in_thread(self._catch_up, messages, system, tools)
            return self._with_originals(messages, await self._session.aview())

    def overflowed(self, messages: Sequence[Any], error: Any) -> Sequence[Any]:
        """
        Return what to send instead of a view that the provider rejected as too long.

        Args:
            messages: The whole history.
            error: What the provider said: an exception, or a response.

        Raises:
            ContextOverflow: Nothing strictly smaller can be sent.
        """
        with self._turn:
            self._catch_up(messages)
            return self._with_originals(messages, self._session.overflowed(error))

    async def aoverflowed(self, messages: Sequence[Any], error: Any) -> Sequence[Any]:
        """Return what to send instead of a rejected view, in async programs; see `overflowed`."""
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

    # --- keeping step ----------------------------------------------------------------------

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
        """Count the messages at the beginning that are those of a log."""
        shared = shared_length((known.raw for known in log), messages)
        if shared == min(len(log), len(messages)):
            return shared
        # What was stored as JSON comes back as other objects that say the same.
        rest = to_json(messages[shared:])
        wire = dialect(self._session.format) if self._session.format else detect_dialect(rest)
        return shared + shared_length(log[shared:], rest, partial(_is_alike, wire))

    # --- branches --------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """List the branches, the one that was changed last first."""
        names = self._store.names()
        return [n for n in names if n == self._name or n.startswith(f"{self._name}#")]

    def _newest(self) -> str:
        return next(iter(self._names()), self._name)

    def _branch(self, messages: Sequence[Any], shared: int) -> None:
        """Go on in the branch that has most of a history and nothing else, or start one."""
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

    # --- what is shown ---------------------------------------------------------------------

    def _with_originals(self, messages: Sequence[Any], view: Sequence[Any]) -> Sequence[Any]:
        """Put the objects that came in where they are shown as they are."""
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
    """Do blocking work beside the event loop, to its end even if the task is cancelled."""
    await run_to_end(asyncio.to_thread(work, *arguments))


def _store(path: str | os.PathLike[str] | None) -> Store:
    if path is None:
        from foldline.stores.memory import MemoryStore

        return MemoryStore()
    from foldline.stores.opening import open_store

    return open_store(os.fspath(path))


MOST: Final = 64
"""Conversations that are kept open."""


@dataclass(slots=True)
class _PooledFollower:
    follower: Follower
    options: dict[str, Any]
    users: int = 0


class FollowerPool:
    """
    Keeps one follower for every conversation.

    Beyond ``most`` the one that was not in use for the longest time is closed. Where there is an
    archive, it is taken up again from there; otherwise from the history that the framework keeps.

    Args:
        path: The archive, a SQLite file; None keeps everything in memory.
        most: How many conversations are kept open.
        **options: Of `Follower`, for all of them.

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
            name: Of the conversation.
            **options: Of `Follower`; with other ones than before it is reopened, without any
                it stays as it is.
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
            # It is opened all the same, and must be released.
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
            StoreError: It is not.
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
        """Close all of them."""
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
