"""The public API of a session: a handful of methods, and their async twins."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

from foldline.ask_runner import ModelLike
from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.economy import CostEstimate
from foldline.core.strategy import Policy
from foldline.engine.receipt import Receipt
from foldline.errors import StoreError
from foldline.models.info import Prices
from foldline.models.overflow import Detector
from foldline.recall import Recalled
from foldline.session import compaction
from foldline.session.append import BATCH, add_batch, append, batches
from foldline.session.cost_estimate import estimate
from foldline.session.export import Target, export
from foldline.session.hooks import Hooks
from foldline.session.open_session import open_state, set_overhead
from foldline.session.overflow import overflowed
from foldline.session.runner import SessionRunner
from foldline.session.user_changes import pin, remember, undo
from foldline.stores.protocol import Store
from foldline.type_checks import typed_methods
from foldline.values.messages import Usage
from foldline.values.tokens import TextCounter, TokenCounter


@typed_methods
class Session(SessionRunner):
    """
    A conversation that is stored on disk, compacted when due, and never lost.

    Append messages, and send what ``view`` returns. Every method may be called from any thread;
    one runs at a time. Methods with the prefix ``a`` are for async programs. After an
    exception or a cancellation, a call has either taken full effect or none.

        with Session.open("agent.db", "session-1", model="claude-sonnet-4-5") as session:
            session.append({"role": "user", "content": "Fix the build."})
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
        policy: str | Policy | None = None,
        store: Store | None = None,
        counter: TokenCounter | TextCounter | None = None,
        summarizer: ModelLike | str | None = None,
        config: Config | None = None,
        hooks: Hooks | None = None,
        output: int | None = None,
        tools: Iterable[Any] | None = None,
        system: str | None = None,
        key: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """
        Open a session, or create one if there is none of this name.

        Args:
            path: The archive, a SQLite file or a PostgreSQL URL; None with ``store``.
            name: The name of the session.
            model: The model that will read the view; determines the token counter and the window.
            window: Its window in tokens, if the catalogue of models does not know it.
            format: The wire format; "auto" detects it from the messages.
            policy: A policy or its name, instead of the one that ``config`` describes.
            store: The store of the session, instead of a file.
            counter: The token counter, instead of the one for the model.
            summarizer: A model, or a function, async for the async methods, that receives an `Ask`
                and returns a `Reply` or a text; a snapshot starts with its account. Or a
                name: "same", "light", "openai:gpt-5-mini"; see `foldline.models.model`.
            config: All other settings.
            hooks: Functions to call before and after a compaction, and when the window fills.
            output: Tokens reserved for the answer.
            tools: Tool schemas as they are sent; counted, never changed.
            system: A system prompt that is sent beside the messages; counted, never changed.
            key: Key of an encrypted archive; default is ``FOLDLINE_ARCHIVE_KEY``.
            clock: Returns seconds since 1970.

        Raises:
            StoreError: The archive cannot be opened, or the session is in another format.
            BudgetError: The window has no room for messages.
        """
        place = _archive(path, key) if store is None else store
        try:
            state = open_state(
                place,
                name,
                model=model,
                window=window,
                format=format,
                policy=policy,
                summarizer=summarizer,
                config=config or Config(),
                hooks=hooks or Hooks(),
                counter=counter,
                output=output,
                tools=tools,
                system=system,
                clock=clock,
            )
        except BaseException:
            if store is None:
                place.close()
            raise
        return cls(state, owns_store=store is None)

    # --- blocking --------------------------------------------------------------------------

    def append(self, message: Any, *, usage: Usage | None = None) -> str:
        """
        Append a wire message; it is durable when this returns.

        The session keeps the object: to change the message, change a copy.

        Args:
            message: The message, in the wire format of the session.
            usage: Usage reported with this answer, if the message does not contain it.

        Returns:
            Its id.

        Raises:
            InputError: It cannot be read, or not by the format of the session; names its position
                in the session, and the field.
            StoreError: It was not recorded; another process may have changed the session.
        """
        return self._call(lambda: append(self._state, [message], usage)[0])

    def extend(self, messages: Iterable[Any], *, usage: Usage | None = None) -> list[str]:
        """
        Append several wire messages, all or none, and return their ids; see `append`.

        ``usage`` is that of the last answer among them.
        """
        wires = list(messages)
        return self._call(lambda: append(self._state, wires, usage))

    def import_messages(self, messages: Iterable[Any], *, batch: int = BATCH) -> int:
        """
        Append a long history, a batch at a time, and return the number of messages.

        Every batch is durable before the next is read. After an error the batches before it stay;
        continue with the messages after them.

        Args:
            messages: Wire messages; an iterator is read as far as needed.
            batch: Number of messages that are recorded together.

        Raises:
            InputError: A message cannot be read; ``index`` is its position among all of them.
            StoreError: A batch was not recorded; another process may have changed the session.
        """
        done = 0
        for wires in batches(messages, batch):
            done = self._call(partial(add_batch, self._state, wires, done))
        return done

    def view(self) -> list[Any]:
        """
        Return the messages to send to the model, compacting first if that is due.

        The messages are the session's own objects, the list is a copy. The next view is equal if
        nothing was appended, and otherwise begins with the same messages, unless it is compacted.
        """
        return self._run(lambda: compaction.view(self._state))

    def overflowed(self, error: Any, *, detectors: Iterable[Detector] = ()) -> list[Any]:
        """
        Return the messages to send instead of a view that the provider rejected as too long.

        The view is made strictly smaller without a model, and the limit that the provider named
        applies until the session is closed. Send the result once: a second overflow,
        before anything was appended, is an error.

            try:
                answer = send(session.view())
            except BadRequestError as error:
                answer = send(session.overflowed(error))

        Args:
            error: The error of the provider: an exception of any SDK, a response, or its JSON.
            detectors: Functions that detect additional errors: each receives a
                `foldline.models.overflow.Failure` and, for an overflow, returns True or an
                ``Overflow`` with the limit.

        Raises:
            ContextOverflow: Nothing strictly smaller can be sent, or it was too long as well; it
                says what takes the room.
            InputError: A response is not an overflow. Any other exception is raised again.
        """
        return self._call(lambda: overflowed(self._state, error, detectors))

    def compact(
        self,
        budget: Budget | int | str | None = None,
        *,
        force: bool = False,
        focus: str = "",
        start: str = "",
        up_to: str = "",
    ) -> Receipt:
        """
        Compact if that is due, or fold a span of the history in any case.

        Args:
            budget: The budget of the messages for this call, in locally counted tokens, or a
                share of their size, such as "50%".
            force: Compact even if no trigger was passed, and right after another attempt, which
                may have failed.
            focus: The most important content to remember, in your own words.
            start: Id or handle of the first message to fold; earlier ones are unchanged.
            up_to: Id or handle of the last message to fold; later ones are unchanged.

        Returns:
            The receipt; unless its status is "compacted" nothing has changed.

        Raises:
            RecallError: A message that ``start`` or ``up_to`` names is unknown, or folded already.
            InputError: Nothing between the two may be folded.
        """
        ends = (start, up_to)
        return self._run(
            lambda: compaction.compact_or_fold(self._state, budget, ends, force, focus)
        )

    def estimate(self, prices: Prices | None = None) -> CostEstimate:
        """
        Estimate what a compaction would cost now, and when it would pay back; nothing changes.

        Args:
            prices: Prices of the model that reads the view; default is those of the catalogue.
        """
        return self._call(lambda: estimate(self._state, prices))

    def undo(self) -> Receipt | None:
        """
        Undo the last compaction, durably, and return its receipt; None if there is none.

        The view is restored. No compaction is tried until a twentieth of the window was appended.
        """
        return self._call(lambda: undo(self._state))

    def pin(self, message: str) -> str:
        """Keep a message, given by id or handle, in view from now on, and return its id."""
        return self._call(lambda: pin(self._state, message))

    def remember(self, text: str) -> None:
        """
        Set your own text for the session memory, durably, and discard the prepared compaction.

        The next snapshot starts with it, in place of the account of a model, which is then not
        called; facts that the text lacks are quoted after it. Until then it is kept, also after
        pins and undo; undoing that compaction does not restore it. Imitations of Foldline's
        headings, marks and handles are written as ordinary words.

        Args:
            text: What the model must know; a new text replaces the last, "" removes it.

        Raises:
            InputError: It has no words, or is larger than ``summary.share`` of the target.
        """
        self._call(lambda: remember(self._state, text))

    def surround(self, *, system: str | None = None, tools: Iterable[Any] | None = None) -> None:
        """
        Count another system prompt and other tools, if they are known only when sent.

        Args:
            system: The system prompt of the next request.
            tools: The tool schemas of the next request.

        Raises:
            BudgetError: They leave no room for messages; the budget is unchanged.
        """
        self._call(lambda: set_overhead(self._state, system, tools))

    def recall(
        self,
        handle: str,
        *,
        query: str | None = None,
        lines: str | int | None = None,
        grep: str | None = None,
        context: int = 2,
        path: str | None = None,
        start: int = 0,
        max_tokens: int | None = None,
        max_chars: int | None = None,
    ) -> Recalled:
        """
        Return the original content behind a handle, whole or in part.

        See `foldline.recall.recall` for the arguments.

        Raises:
            RecallError: The handle, the range, the pattern or the path matches nothing.
        """
        access = {
            "query": query,
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
        Write the whole original transcript as JSON Lines and return the number of messages.

        Args:
            target: A path, which is written whole or not at all, or a text file open for writing.
        """
        return self._call(lambda: export(self._state.current_view.log, target))

    def close(self) -> None:
        """Close the session; closing twice is allowed."""
        with self._lock:
            self._closed = True
            self._background.end()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _archive(path: str | os.PathLike[str] | None, key: str | None) -> Store:
    if path is None:
        raise StoreError("A session needs an archive.", hint="Give a path, or a store.")
    from foldline.stores.opening import open_store

    return open_store(os.fspath(path), key=key)
