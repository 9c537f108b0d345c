"""The public agent: run a task, or resume a run that ended early."""

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
    A model with tools and a session that works on one task at a time.

    Args:
        session: Records everything; must use the wire format of the model.
        model: The model that answers; see `foldline.models.model`.
        tools: The tools it may call, besides the built-in recall and compact.
        system: The system prompt.
        limits: Limits on the spending of one task.
        loops: Settings of the loop detection.
        root: The working folder. The files touched there and the git head are compared again
            when a run is resumed.
        checkpoint: A file that records spending and touched files; without one a resumed run
            counts from 0 and cannot detect changed files.
        max_tokens: The maximum length of one answer.

    Raises:
        InputError: The session and the model use different formats.
        StoreError: The root is not a folder.
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
            formats = f"the format {session.format}, the model uses {model.dialect}"
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
        """The session that records everything."""
        return self._setup.session

    @property
    def tools(self) -> Toolset:
        """The tools the model may call, including recall and compact."""
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
        Open an agent with its own session and a checkpoint beside the archive.

        Args:
            path: The archive, a SQLite file. Checkpoints are in the folder ``PATH.checkpoints``.
            name: The name of the session.
            model: See `Agent`.
            tools: See `Agent`.
            window: The context window in tokens, for a model that is not in the catalogue.
            system: See `Agent`.
            limits: See `Agent`.
            loops: See `Agent`.
            root: See `Agent`.
            max_tokens: See `Agent`.
            **options: Passed to `Session.open`.

        Raises:
            StoreError: The archive cannot be opened, or the session uses another format.
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
        Run a task until the model is done or a limit is reached.

        Args:
            task: The message of the user.

        Raises:
            ModelError: The model gives no answer. The session holds all messages so far, and
                `resume` continues from there.
            ContextOverflow: The smallest possible request does not fit the window.
            FoldlineError: The agent is already running.
        """
        return run_blocking(self.arun(task))

    async def arun(self, task: str) -> AgentResult:
        """Run a task; see `run`. Cancellation closes the calls in progress."""
        return await _result_of(self.astream(task))

    def resume(self) -> AgentResult:
        """
        Resume a run that ended early, however it ended.

        A call without a recorded result is run again if its tool only reads; otherwise the model
        is informed that the outcome is unknown. It is also informed of files changed meanwhile.

        Raises:
            InputError: There is nothing to resume.
        """
        return run_blocking(self.aresume())

    async def aresume(self) -> AgentResult:
        """Resume a run that ended early; see `resume`."""
        return await _result_of(self.astream())

    def stream(self, task: str | None = None) -> Iterator[Event]:
        """
        Yield the events of a run; the last one is `RunFinished`.

        Closing the iterator cancels the run.

        Args:
            task: The message of the user; None resumes a run that ended early.
        """
        return iterate_blocking(self.astream(task))

    async def astream(self, task: str | None = None) -> AsyncGenerator[Event, None]:
        """Yield the events of a run; see `stream`."""
        if self._busy:
            hint = "Wait for it, or create another agent."
            raise FoldlineError("The agent is already running.", hint=hint)
        self._busy = True
        try:
            async with aclosing(run_events(self._setup, task)) as events:
                async for event in events:
                    yield event
        finally:
            self._busy = False

    # --- closing ---------------------------------------------------------------------------

    def close(self) -> None:
        """Close the session if the agent opened it; the caller closes the model."""
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
    """Return the checkpoint path of a session, named by a hash so no session name is a path."""
    folder = path.with_name(f"{path.name}.checkpoints")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        why = f"Checkpoints cannot be stored in {folder}: {error.strerror}."
        raise StoreError(why) from error
    return folder / f"{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
