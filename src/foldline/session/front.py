"""The session as its users see it: a handful of methods, and their async twins."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.errors import StoreError
from foldline.core.messages import Usage
from foldline.core.ports import Store
from foldline.core.receipt import Receipt
from foldline.core.strategy import Policy
from foldline.core.tokens import TextCounter, TokenCounter
from foldline.recall import Recalled
from foldline.session import compacting
from foldline.session.answering import Summarizer
from foldline.session.appending import append
from foldline.session.awaiting import Awaiting
from foldline.session.export import Target, export
from foldline.session.opening import open_state


class Session(Awaiting):
    """
    A conversation that is kept on disk, compacted when due, and never lost.

    Append what was said, send what ``view`` returns. Every method may be called from any thread,
    one at a time takes effect; those with an ``a`` before their name are for async programs. An
    exception or a cancellation leaves the session as it was before the call, or as after it.

        with Session.open("agent.db", "session-1", model="claude-sonnet-4-5") as session:
            session.append({"role": "user", "content": "Mend the build."})
            answer = client.messages.create(messages=session.view(), ...)
    """

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None,
        name: str,
        *,
        model: str | None = None,
        window: int | None = None,
        format: str = "auto",  # noqa: A002  # what it is called everywhere in this library
        policy: str | Policy = "default",
        store: Store | None = None,
        counter: TokenCounter | TextCounter | None = None,
        summarizer: Summarizer | None = None,
        config: Config | None = None,
        output: int | None = None,
        tools: Iterable[Any] | None = None,
        system: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """
        Open a session, or start one when there is none of this name.

        Args:
            path: The archive, a SQLite file; None with ``store``.
            name: Of the session.
            model: The model that will read the view; tells how to count.
            window: Its window in tokens.
            format: The wire format; "auto" goes by the messages.
            policy: A policy or its name.
            store: Where to keep the session instead of in a file.
            counter: Counts tokens instead of the one for the model.
            summarizer: A model, or a function, async for the async methods, that gets an `Ask` and
                returns a `Reply` or a text; its account stands at the head of a snapshot.
            config: Everything else that can be set.
            output: Tokens reserved for the answer.
            tools: Tool schemas as they are sent; counted, never changed.
            system: A system prompt that is sent beside the messages; counted, never changed.
            clock: Returns seconds since 1970.

        Raises:
            StoreError: The archive cannot be opened, or the session is in another format.
            BudgetError: Nothing is left for messages in the window.
        """
        if store is None and path is None:
            raise StoreError("A session needs a place.", hint="Give a path, or a store.")
        owned = store is None
        if store is None:
            from foldline.stores.sqlite import SqliteStore

            store = SqliteStore(os.fspath(path or ""))
        try:
            state = open_state(
                store,
                name,
                model=model,
                window=window,
                format=format,
                policy=policy,
                summarizer=summarizer,
                config=config or Config(),
                counter=counter,
                output=output,
                tools=tools,
                system=system,
                clock=clock,
            )
        except BaseException:
            if owned:
                store.close()
            raise
        return cls(state, summarizer=summarizer, owns_store=owned)

    # --- blocking --------------------------------------------------------------------------

    def append(self, message: Any, *, usage: Usage | None = None) -> str:
        """
        Append a wire message; it is durable when this returns.

        The message belongs to the session from then on: change a copy, not the object.

        Args:
            message: In the wire format of the session.
            usage: What the provider reported with this answer, where the message does not hold it.

        Returns:
            Its id.

        Raises:
            InputError: It cannot be read; names the field.
            StoreError: It was not recorded; another process may have changed the session.
        """
        return self._call(lambda: append(self._state, [message], usage)[0])

    def extend(self, messages: Iterable[Any]) -> list[str]:
        """Append several wire messages, all or none, and return their ids; see `append`."""
        wires = list(messages)
        return self._call(lambda: append(self._state, wires))

    def view(self) -> list[Any]:
        """
        Return what to send to the model, compacting first if that is due.

        The messages are the session's own objects, the list is yours. With nothing new, the next
        view is equal; after an append, it begins with the same messages.
        """
        return self._run(lambda: compacting.view(self._state))

    def compact(
        self, budget: Budget | int | None = None, *, force: bool = False, focus: str = ""
    ) -> Receipt:
        """
        Compact if that is due.

        Args:
            budget: What the messages may take this once, in tokens as counted here.
            force: Compact although no trigger was passed and although the last attempt, which may
                have failed, was just now.
            focus: What is to be remembered above all, in your own words.

        Returns:
            The receipt; unless its status is "compacted" nothing has changed.
        """
        return self._run(lambda: compacting.compact(self._state, budget, force=force, focus=focus))

    def undo(self) -> Receipt | None:
        """
        Take the last compaction back, durably, and return its receipt; None if there is none.

        The view is again what it was before. No compaction is tried until a twentieth of the
        window was appended.
        """
        return self._call(lambda: compacting.undo(self._state))

    def pin(self, message: str) -> str:
        """Keep a message, named by id or handle, in sight from now on, and return its id."""
        return self._call(lambda: compacting.pin(self._state, message))

    def recall(
        self,
        handle: str,
        *,
        lines: str | None = None,
        grep: str | None = None,
        context: int = 2,
        path: str | None = None,
        start: int = 0,
        max_tokens: int | None = None,
        max_chars: int | None = None,
    ) -> Recalled:
        """
        Return what was really said under a handle, whole or in part.

        See `foldline.recall.recall` for the arguments.

        Raises:
            RecallError: The handle, the range, the pattern or the path names nothing.
        """
        access = {
            "lines": lines,
            "grep": grep,
            "context": context,
            "path": path,
            "start": start,
            "max_tokens": max_tokens,
            "max_chars": max_chars,
        }
        return self._call(lambda: self._recall(handle, access))

    def export(self, target: Target) -> int:
        """
        Write the whole original transcript as JSON Lines and return how many messages it has.

        Args:
            target: A path, written whole or not at all, or a text file that is open for writing.
        """
        return self._call(lambda: export(self._state.shown.log, target))

    def close(self) -> None:
        """Let go of the session; closing twice is allowed."""
        with self._turn:
            self._closed = True
            if self._owns_store:
                self._state.setting.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
