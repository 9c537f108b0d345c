"""The agent as its users see it: give it a task, or resume a run that ended early."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Self

from foldline.agents.limits import AgentLimits, AgentResult
from foldline.agents.loop import run_events
from foldline.agents.loop_detection import LoopSettings
from foldline.agents.run_state import AgentSetup, ChatModel, Event, RunFinished
from foldline.concurrency import iterate_blocking, run_blocking
from foldline.errors import FoldlineError, InputError, StoreError
from foldline.rooted_files import Root
from foldline.session import Session
from foldline.tools.recall import session_tools
from foldline.tools.registry import ToolRegistry
from foldline.tools.spec import Tool
from foldline.tools.toolset import CombinedToolset, Toolset


class Agent:
    """
    A model with tools and a session, which works on one task at a time.

    Args:
        session: Where everything is recorded; in the format of the model.
        model: Who answers; `foldline.models.model` makes one.
        tools: What it may call. It can recall and compact as well.
        system: The system prompt.
        limits: The most that a task may spend.
        loops: When calls count as a loop.
        root: The folder that it works in. Files that it touched there, and the git head, are
            looked at again when a run is resumed.
        checkpoint: A file that keeps what is spent and what was touched; without one a resumed
            run counts from 0, and does not know what changed.
        max_tokens: The cap of one answer.

    Raises:
        InputError: The session is in another format than the model.
        StoreError: The root is no folder.
    """

    def __init__(
        self,
        session: Session,
        model: ChatModel,
        tools: Toolset | Iterable[Tool] = (),
        *,
        system: str | None = None,
        limits: AgentLimits | None = None,
        loops: LoopSettings | None = None,
        root: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        max_tokens: int | None = None,
    ) -> None:
        if session.format not in ("", model.dialect):
            formats = f"the format {session.format}, the model speaks {model.dialect}"
            hint = "Open another session for this model."
            raise InputError(f"The session is in {formats}", hint=hint)
        given = tools if isinstance(tools, Toolset) else ToolRegistry(tools)
        self._setup = AgentSetup(
            session,
            model,
            CombinedToolset(given, ToolRegistry(session_tools(session))),
            system,
            limits or AgentLimits(),
            loops or LoopSettings(),
            None if root is None else Root(root),
            None if checkpoint is None else Path(checkpoint),
            max_tokens,
        )
        self._busy = False
        self._owned = False

    @property
    def session(self) -> Session:
        """Where everything is recorded."""
        return self._setup.session

    @property
    def tools(self) -> Toolset:
        """What the model may call, recall and compact included."""
        return self._setup.tools

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        name: str,
        model: ChatModel,
        tools: Toolset | Iterable[Tool] = (),
        *,
        window: int | None = None,
        system: str | None = None,
        limits: AgentLimits | None = None,
        loops: LoopSettings | None = None,
        root: str | os.PathLike[str] | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> Self:
        """
        Open an agent with a session of its own, and a checkpoint beside the archive.

        Args:
            path: The archive, a SQLite file. Checkpoints are in the folder ``PATH.checkpoints``.
            name: Of the session.
            model: See `Agent`, as for the other arguments.
            tools: See there.
            window: Of the model, in tokens, where the catalogue of models does not know it.
            system: See there.
            limits: See there.
            loops: See there.
            root: See there.
            max_tokens: See there.
            **options: Of `Session.open`.

        Raises:
            StoreError: The archive cannot be opened, or the session is in another format.
        """
        reader = getattr(model, "name", None)
        session = Session.open(
            path, name, format=model.dialect, model=reader, window=window, **options
        )
        try:
            agent = cls(
                session,
                model,
                tools,
                system=system,
                limits=limits,
                loops=loops,
                root=root,
                checkpoint=checkpoint_file(Path(path), name),
                max_tokens=max_tokens,
            )
        except BaseException:
            session.close()
            raise
        agent._owned = True
        return agent

    # --- running ---------------------------------------------------------------------------

    def run(self, task: str) -> AgentResult:
        """
        Work on a task until the model is done or a limit is reached.

        Args:
            task: What the user says.

        Raises:
            ModelError: The model gives no answer. The session holds all messages up to then,
                and `resume` goes on from there.
            ContextOverflow: What must be sent does not fit the window.
            FoldlineError: The agent is running already.
        """
        return run_blocking(self.arun(task))

    async def arun(self, task: str) -> AgentResult:
        """Work on a task; see `run`. A cancellation closes the calls that were being made."""
        return await _result_of(self.astream(task))

    def resume(self) -> AgentResult:
        """
        Resume a run that ended early, however it ended.

        A call whose result was not recorded is run again if its tool only reads; otherwise the
        model is told that nobody knows. It is told as well which files changed meanwhile.

        Raises:
            InputError: There is nothing to go on with.
        """
        return run_blocking(self.aresume())

    async def aresume(self) -> AgentResult:
        """Resume a run that ended early; see `resume`."""
        return await _result_of(self.astream())

    def stream(self, task: str | None = None) -> Iterator[Event]:
        """
        Yield what happens while the agent works; the last event is `RunFinished`.

        Leaving off cancels the run.

        Args:
            task: What the user says; None resumes a run that ended early.
        """
        return iterate_blocking(self.astream(task))

    async def astream(self, task: str | None = None) -> AsyncGenerator[Event, None]:
        """Yield what happens while the agent works; see `stream`."""
        if self._busy:
            hint = "Wait for it, or make another one."
            raise FoldlineError("The agent is running already.", hint=hint)
        self._busy = True
        try:
            async with aclosing(run_events(self._setup, task)) as events:
                async for event in events:
                    yield event
        finally:
            self._busy = False

    # --- closing ---------------------------------------------------------------------------

    def close(self) -> None:
        """Close the session, if the agent opened it itself; the model is the caller's."""
        if self._owned:
            self._setup.session.close()

    async def aclose(self) -> None:
        """Close the session; see `close`."""
        if self._owned:
            await self._setup.session.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _result_of(events: AsyncGenerator[Event, None]) -> AgentResult:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, RunFinished):
                return event.result
    raise AssertionError("the last event is RunFinished")


def checkpoint_file(path: Path, name: str) -> Path:
    """Return where the checkpoint of a session is kept; no name of a session is a path."""
    folder = path.with_name(f"{path.name}.checkpoints")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        why = f"The checkpoints cannot be kept in {folder}: {error.strerror}."
        raise StoreError(why) from error
    return folder / f"{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
