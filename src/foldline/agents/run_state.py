"""The components of an agent, the events of a run, and the state of a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol, TypeAlias

from foldline.agents.checkpoint import (
    MOST_FILES,
    Checkpoint,
    WorkspaceChanges,
    WorkspaceState,
    read_workspace,
    save_checkpoint,
    touched_paths,
)
from foldline.agents.limits import AgentLimits, AgentResult, AgentSpending, Status
from foldline.agents.loop_detection import LoopDetector, LoopSettings
from foldline.core.asks import Stop
from foldline.core.retention_settings import FileSettings
from foldline.engine.receipt import Receipt
from foldline.errors import ModelError
from foldline.formats.registry import dialect
from foldline.frozen import frozen, replace
from foldline.models.completion import Completion, Delta
from foldline.models.errors import TIMEOUT
from foldline.rooted_files import Root
from foldline.session import Session
from foldline.tools.output import ToolOutput
from foldline.tools.toolset import Toolset
from foldline.values.messages import Message, ToolCall


@frozen
class RunResumed:
    """An interrupted run continues: the calls closed or run again, and the changed files."""

    closed: int
    rerun: int
    changes: WorkspaceChanges


@frozen
class ContextCompacted:
    """What the model sees was compacted."""

    receipt: Receipt


@frozen
class ModelRetried:
    """The answer is requested again; its pieces and ``completion`` are discarded."""

    reason: str
    completion: Completion | None = None


@frozen
class ModelAnswered:
    """The model answered, and its answer is recorded."""

    completion: Completion


@frozen
class ToolCalled:
    """A tool is about to be run."""

    call: ToolCall


@frozen
class ToolReturned:
    """A tool returned, and its output is recorded."""

    call: ToolCall
    output: ToolOutput


@frozen
class RunFinished:
    """The run is over; this is the last event."""

    result: AgentResult


Event: TypeAlias = (
    Delta
    | RunResumed
    | ContextCompacted
    | ModelRetried
    | ModelAnswered
    | ToolCalled
    | ToolReturned
    | RunFinished
)


class ChatModel(Protocol):
    """The interface of a model that an agent needs; see `foldline.models.model`."""

    @property
    def dialect(self) -> str:
        """The wire format of its messages."""
        ...

    def astream(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Delta | Completion, None]:
        """Yield the pieces of the next message, and finally the complete message."""
        ...


ENDS: Final[Mapping[Stop, tuple[Status, str]]] = {
    "refusal": ("refused", "the model refused"),
    "length": ("length", "the answer reached its maximum length"),
}
"""The status and note of a run by the stop reason of its last answer."""


@frozen
class AgentSetup:
    """The components of an agent; see `foldline.agents.Agent` for each."""

    session: Session
    model: ChatModel
    tools: Toolset
    system: str | None
    limits: AgentLimits
    loops: LoopSettings
    root: Root | None
    checkpoint: Path | None
    max_tokens: int | None


class RunState:
    """
    The changing state of one run.

    ``text`` is the last text of the model, ``counted_tools`` the tools that the session counts;
    ``started`` is True once the checkpoint belongs to this run.
    """

    def __init__(self, setup: AgentSetup) -> None:
        self.setup = setup
        self.session = setup.session
        self.detector = LoopDetector(setup.loops)
        self.spending = AgentSpending()
        self.workspace = WorkspaceState()
        self.result: AgentResult | None = None
        self.text = ""
        self.answer = Completion()
        self.counted_tools: list[dict[str, Any]] | None = None
        self.started = False
        self._receipts = setup.session.receipt_count
        self._looping_steps = 0
        self._since = monotonic()

    def to_wire(self, message: Message) -> list[Any]:
        """Return a message in the wire format of the model."""
        return dialect(self.setup.model.dialect).messages([message])

    # --- spending --------------------------------------------------------------------------

    def spent(self) -> AgentSpending:
        """Return the spending so far, including time."""
        elapsed = monotonic() - self._since
        self._since += elapsed
        self.spending = replace(self.spending, seconds=self.spending.seconds + elapsed)
        return self.spending

    @property
    def seconds_left(self) -> float:
        """Return the remaining seconds."""
        return max(0.0, self.setup.limits.seconds - self.spent().seconds)

    def add_answer(self, answer: Completion) -> None:
        """Count an answer of the model."""
        self.spending = self.spending.with_answer(answer)
        self.text = answer.refusal or answer.text or self.text

    def new_compactions(self) -> list[Receipt]:
        """Return the compactions since the last call, and count their cost."""
        count = self.session.receipt_count
        fresh = [self.session.receipt(number) for number in range(self._receipts, count)]
        self._receipts = count
        usd = self.spending.usd + sum(receipt.spent.usd for receipt in fresh)
        self.spending = replace(self.spending, usd=usd)
        return [receipt for receipt in fresh if receipt.status == "compacted"]

    # --- ending ----------------------------------------------------------------------------

    def end(self, status: Status, note: str = "") -> None:
        """End the run."""
        self.result = AgentResult(status, self.text, self.spent(), note)

    def ends_with_error(self, error: ModelError) -> bool:
        """End the run and return True if an error is a regular end of a run."""
        if error.code in ("silent", "loop"):
            self.end("silent" if error.code == "silent" else "loop", error.message)
        elif error.code == TIMEOUT and not self.seconds_left:
            self.end("time", f"the limit of {self.setup.limits.seconds:g} seconds is reached")
        return self.result is not None

    def note_loops(self, loops: Sequence[str]) -> None:
        """Record the loops in the calls of a step; end the run if two steps in a row have any."""
        self._looping_steps = self._looping_steps + 1 if loops else 0
        if self._looping_steps > 1:
            self.end("loop", f"{loops[0]}, and continued after a warning")

    # --- recording -------------------------------------------------------------------------

    async def remember_files(self, calls: Sequence[ToolCall]) -> None:
        """Record the hashes of the files that calls touched, to detect later changes."""
        paths = touched_paths(self.setup.root, calls, FileSettings())
        fresh = await asyncio.to_thread(read_workspace, self.setup.root, paths)
        older = {p: h for p, h in self.workspace.files.items() if p not in fresh.files}
        newest = dict(list({**older, **fresh.files}.items())[-MOST_FILES:])
        self.workspace = WorkspaceState(newest, fresh.git_head)

    async def save(self) -> None:
        """Write the checkpoint, once the run has started."""
        if self.setup.checkpoint is not None and self.started:
            status = "running" if self.result is None else self.result.status
            checkpoint = Checkpoint(self.session.name, status, self.spent(), self.workspace)
            await asyncio.to_thread(save_checkpoint, self.setup.checkpoint, checkpoint)
