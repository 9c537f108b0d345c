"""Following a framework: its history is the truth, and a session keeps step with it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self

from foldline.errors import InputError
from foldline.formats.detect import detect_dialect
from foldline.formats.registry import dialect
from foldline.session import Session
from foldline.session.answering import finished
from foldline.session.fair_lock import FairLock
from foldline.session.fork import fork
from foldline.stores.protocol import Store
from foldline.values.identity import content_hash
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
            self._catch_up(messages, None, None)

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
            return self._shown(messages, self._session.view())

    async def aview(
        self,
        messages: Sequence[Any],
        *,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
    ) -> Sequence[Any]:
        """Return what to send instead of a history, in async programs; see `view`."""
        async with self._turn:
            await _beside(self._catch_up, messages, system, tools)
            return self._shown(messages, await self._session.aview())

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
            self._catch_up(messages, None, None)
            return self._shown(messages, self._session.overflowed(error))

    async def aoverflowed(self, messages: Sequence[Any], error: Any) -> Sequence[Any]:
        """Return what to send instead of a rejected view, in async programs; see `overflowed`."""
        async with self._turn:
            await _beside(self._catch_up, messages, None, None)
            return self._shown(messages, await self._session.aoverflowed(error))

    def close(self) -> None:
        """Let go of the session and of the archive; closing twice is allowed."""
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
        self, messages: Sequence[Any], system: str | None, tools: Iterable[Any] | None
    ) -> None:
        log = self._session.messages
        shared = self._shared(log, messages)
        if shared < len(log):
            self._branch(messages, shared)
            shared = len(self._session.messages)
        if system is not None or tools is not None:
            self._session.surround(system=system, tools=tools)
        if shared < len(messages):
            self._session.extend(messages[shared:])

    def _shared(self, log: Sequence[Message], messages: Sequence[Any]) -> int:
        """Count the messages at the beginning that are those of a log."""
        count = 0
        for known, wire in zip(log, messages, strict=False):
            if known.raw is not wire and known.raw != wire:
                break
            count += 1
        if count == min(len(log), len(messages)):
            return count
        # What was stored as JSON comes back as other objects that say the same.
        return count + self._alike(log[count:], messages[count:])

    def _alike(self, log: Sequence[Message], messages: Sequence[Any]) -> int:
        wire = dialect(self._session.format) if self._session.format else detect_dialect(messages)
        count = 0
        for known, message in zip(log, messages, strict=False):
            try:
                read = wire.decode([message]).messages[0]
            except InputError:
                break
            if content_hash(read) != content_hash(known):
                break
            count += 1
        return count

    # --- branches --------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """List the branches, the one that was changed last first."""
        names = [info.head.name for info in self._store.sessions()]
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
            if shared < len(other.messages) == self._shared(other.messages, messages):
                self._session = other
                left.close()
                return
            other.close()
        taken = set(names)
        number = next(n for n in range(2, len(taken) + 3) if f"{self._name}#{n}" not in taken)
        title = f"{self._name}#{number}"
        fork(self._store, left.name, title, shared, time.time())
        self._session = self._open(title)
        left.close()

    def _open(self, name: str) -> Session:
        return Session.open(None, name, store=self._store, **self._options)

    # --- what is shown ---------------------------------------------------------------------

    def _shown(self, messages: Sequence[Any], view: Sequence[Any]) -> Sequence[Any]:
        """Put the objects that came in where they are shown as they are."""
        came = {
            id(known.raw): wire
            for known, wire in zip(self._session.messages, messages, strict=False)
        }
        shown = [came.get(id(wire), wire) for wire in view]
        if len(shown) == len(messages) and all(map(_is, shown, messages)):
            return messages
        return shown


async def _beside(work: Callable[..., None], *arguments: Any) -> None:
    """Do blocking work beside the event loop, to its end even if the task is cancelled."""
    import asyncio

    await finished(asyncio.to_thread(work, *arguments))


def _is(left: Any, right: Any) -> bool:
    return left is right


def _store(path: str | os.PathLike[str] | None) -> Store:
    if path is None:
        from foldline.stores.memory import MemoryStore

        return MemoryStore()
    from foldline.stores.opening import open_store

    return open_store(os.fspath(path))
