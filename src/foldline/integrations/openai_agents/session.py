"""A session for OpenAI Agents: every item is kept, and a run starts with a view that fits."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from foldline.ask_runner import ModelLike, run_to_end
from foldline.core.asks import Ask, Reply
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.frozen import frozen, replace
from foldline.integrations.following import Follower, archive_name
from foldline.integrations.model_calls import is_same_model, no_model
from foldline.integrations.openai_agents.items import (
    RunStart,
    align,
    is_same_item,
    newest_items,
    to_json,
    without_calls,
    without_notes,
)
from foldline.session import Session
from foldline.session.fair_lock import FairLock

UNKNOWN: Final = "no model of a run is known yet: give one to run_config"

REMEMBERED: Final = 16
"""Maximum number of run starts kept, to find the one with which an input begins."""


@frozen
class LastView:
    """The last view: its follower, its history, and the calls removed from it."""

    follower: Follower
    history: Sequence[Any]
    dead: frozenset[str] = frozenset()


class RunModel:
    """
    Answers Asks with the model object that the runs of a session use.

    ``model`` is that object and ``send`` calls it; both are None before the first run.
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.send: Callable[[Any, Ask], Awaitable[Reply]] | None = None

    async def __call__(self, ask: Ask) -> Reply:
        """Answer an Ask; the caller converts exceptions of the model to a Reply with an error."""
        if self.model is None or self.send is None:
            return Reply(error=UNKNOWN, retry=False, attempts=0)
        return await self.send(self.model, ask)


class FoldlineSession:
    """
    A conversation of the OpenAI Agents SDK that is kept on disk, compacted when due, never lost.

    The SDK reads a session once, when a run starts, and appends the items of the run. With
    `run_config` every model call of a run gets a view that fits, not only the first.

        session = FoldlineSession("user-17", "agents.db", window=128_000)
        result = await Runner.run(agent, "Hi.", session=session, run_config=run_config(session))

    Args:
        session_id: The name of the conversation.
        path: The archive, a SQLite file; None keeps everything in memory.
        window: The window of the model in tokens.
        model: The model; decides how tokens are counted.
        policy: A policy or its name.
        summarizer: "same" for the model object of the runs, which `run_config` registers, or any
            summarizer of `Session.open`.
        config: All other settings.
        output: Tokens reserved for the answer.
        session_settings: Settings of the SDK; ``limit`` is the number of items a run starts with.
        **options: Further options of `Session.open`.

    Raises:
        StoreError: The archive cannot be opened.
        BudgetError: An option contradicts another.
    """

    def __init__(
        self,
        session_id: str,
        path: str | os.PathLike[str] | None = None,
        *,
        window: int | None = None,
        model: str | None = None,
        policy: str | Policy = "default",
        summarizer: ModelLike | str | None = None,
        config: Config | None = None,
        output: int | None = None,
        session_settings: Any = None,
        **options: Any,
    ) -> None:
        self.session_id = session_id
        self.model = model
        self.session_settings = session_settings
        self.run_model = RunModel() if is_same_model(summarizer, config) else None
        self._open = partial(
            Follower,
            name=archive_name(session_id),
            window=window,
            model=model,
            policy=policy,
            summarizer=self.run_model or summarizer,
            config=config,
            output=output,
            format="openai-responses",
            **options,
        )
        self._follower = self._open(path=path)
        self._aside: Follower | None = None
        self._kept = len(self._follower.session.messages)
        self._starts: deque[RunStart] = deque(maxlen=REMEMBERED)
        self._last_view: LastView | None = None
        self._turn = FairLock()

    @property
    def session(self) -> Session:
        """The session: the log, the receipts, and ``recall`` for removed content."""
        return self._follower.session

    @property
    def tools(self) -> list[Any]:
        """The tool ``recall``, for ``Agent(tools=[…, *session.tools])``."""
        # Imported here: that module imports this one, and loads the whole SDK.
        from foldline.integrations.openai_agents.running import session_tools

        return session_tools(self)

    # --- called by the SDK -----------------------------------------------------------------

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """
        Return the items with which a run starts, compacted first if due.

        Args:
            limit: Maximum number of newest items; default that of ``session_settings``. It removes
                nothing.

        Raises:
            InputError: The summarizer is "same", and `run_config` has not named a model yet.
        """
        if self.run_model is not None and self.run_model.send is None:
            raise no_model(
                "A session", "Run it with run_config(session, model=model), or name a summarizer."
            )
        async with self._turn:
            view = await self._follower.aview(self._log()[: self._kept])
            limit = _limit(self.session_settings) if limit is None else limit
            items = list(view) if limit is None else newest_items(view, limit)
            self._starts.append(RunStart(tuple(items), self._kept, len(items) == len(view)))
            return items

    async def add_items(self, items: list[Any]) -> None:
        """Append items; they are durable on return."""
        async with self._turn:
            await self._add([to_json(item) for item in items])

    async def pop_item(self) -> Any | None:
        """Remove the newest item and return it; None if there is none."""
        async with self._turn:
            if not self._kept:
                return None
            log = self._log()[: self._kept]
            await self._follow(log[:-1])
            self._kept -= 1
            return log[-1]

    async def clear_session(self) -> None:
        """
        Start again with an empty conversation.

        The previous items stay in the archive, where their handles can be recalled; no run gets
        them again.
        """
        async with self._turn:
            await self._follow([])
            self._kept = 0
            self._starts.clear()

    # --- between two model calls of a run --------------------------------------------------

    async def filter(self, data: Any) -> Any:
        """
        Return a view that fits; for ``RunConfig.call_model_input_filter``.

        A run whose input differs from its session, such as after an input filter of a handoff, is
        compacted separately, in memory; its session is not changed.
        """
        given = data.model_data
        model = getattr(data.agent, "model", None)
        if self.run_model is not None and self.run_model.model is None:
            self.run_model.model = model if hasattr(model, "get_response") else None
        async with self._turn:
            sent = self._last_view = self._source([to_json(item) for item in given.input])
            view = await sent.follower.aview(
                sent.history, system=given.instructions or "", tools=_schemas(data.agent)
            )
            return replace(given, input=_view_items(view, sent.dead))

    async def smaller(self, error: Exception) -> list[Any]:
        """
        Return a smaller view after the provider rejected the last one of ``filter``.

        Args:
            error: The provider's error.

        Raises:
            ContextOverflow: Nothing strictly smaller can be sent.
        """
        async with self._turn:
            if self._last_view is None:
                raise error
            sent = self._last_view
            return _view_items(await sent.follower.aoverflowed(sent.history, error), sent.dead)

    def close(self) -> None:
        """Close the conversation; closing twice is allowed."""
        self._follower.close()
        if self._aside is not None:
            self._aside.close()

    # --- the log ---------------------------------------------------------------------------

    def _log(self) -> list[Any]:
        """
        Return every item as it was appended.

        The first ``_kept`` were appended by the SDK; those after them were sent to a model before
        the SDK appended them.
        """
        return [message.raw for message in self._follower.session.messages]

    async def _follow(self, history: list[Any]) -> None:
        await run_to_end(asyncio.to_thread(self._follower.follow, history))

    async def _add(self, items: list[Any]) -> None:
        log = self._log()
        ahead = log[self._kept :]
        if len(items) > len(ahead) or not all(map(is_same_item, items, ahead)):
            known = [
                old if is_same_item(old, new) else new
                for old, new in zip(ahead, items, strict=False)
            ]
            await self._follow([*log[: self._kept], *known, *items[len(known) :]])
        self._kept += len(items)

    def _source(self, items: list[Any]) -> LastView:
        """Return the history that an input represents."""
        log = self._log()
        for start in reversed((RunStart((), 0), *self._starts)):
            known = start.whole and start.at <= len(log)
            aligned = align(items, start, log[start.at :]) if known else None
            if aligned is not None:
                return LastView(self._follower, [*log, *aligned.new], aligned.dead)
        if self._aside is None:
            self._aside = self._open(path=None)
        return LastView(self._aside, items)


def _view_items(view: Sequence[Any], dead: frozenset[str]) -> list[Any]:
    return [without_notes(item) for item in without_calls(view, dead)]


def _limit(settings: Any) -> int | None:
    limit = (
        settings.get("limit") if isinstance(settings, dict) else getattr(settings, "limit", None)
    )
    return limit if isinstance(limit, int) else None


def _schemas(agent: Any) -> list[dict[str, Any]]:
    """Return the schemas of an agent's tools, approximately as sent to the provider."""
    return [
        {
            "name": str(getattr(tool, "name", "")),
            "description": getattr(tool, "description", None) or "",
            "parameters": getattr(tool, "params_json_schema", None) or {},
        }
        for tool in getattr(agent, "tools", None) or ()
    ]
