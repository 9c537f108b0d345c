"""What an agent is made of, the events of a run, and its state: what was spent, how it ended."""

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
    look_at,
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
    """An interrupted run goes on; calls were closed or run again, and files had changed."""

    closed: int
    rerun: int
    changes: WorkspaceChanges


@frozen
class ContextCompacted:
    """What the model sees was compacted."""

    receipt: Receipt


@frozen
class ModelRetried:
    """The answer is asked for again; its pieces, and ``completion``, do not count."""

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
    """The run is over; nothing comes after this."""

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
    """A model, as far as an agent needs it; `foldline.models.model` makes one."""

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
        """Yield the pieces of the next message, and at last the whole."""
        ...


ENDS: Final[Mapping[Stop, tuple[Status, str]]] = {
    "refusal": ("refused", "the model refused"),
    "length": ("length", "the answer reached its cap"),
}
"""How a run ends with an answer that stopped so."""


@frozen
class AgentSetup:
    """What an agent is made of; see `foldline.agents.Agent` for each."""

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

    ``text`` is what the model said last, ``counted_tools`` the tools that the session counts;
    ``has_begun`` says that the checkpoint is that of this run.
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
        self.has_begun = False
        self._receipts = setup.session.receipt_count
        self._looping_steps = 0
        self._since = monotonic()

    def wires(self, message: Message) -> list[Any]:
        """Return a message in the wire format of the model."""
        return dialect(self.setup.model.dialect).messages([message])

    # --- what is spent ---------------------------------------------------------------------

    def spent(self) -> AgentSpending:
        """Return what is spent by now, the time included."""
        elapsed = monotonic() - self._since
        self._since += elapsed
        self.spending = replace(self.spending, seconds=self.spending.seconds + elapsed)
        return self.spending

    @property
    def seconds_left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.setup.limits.seconds - self.spent().seconds)

    def add_answer(self, answer: Completion) -> None:
        """Count an answer of the model."""
        self.spending = self.spending.with_answer(answer)
        self.text = answer.refusal or answer.text or self.text

    def new_compactions(self) -> list[Receipt]:
        """Return the compactions that were made since the last time, and count their cost."""
        count = self.session.receipt_count
        fresh = [self.session.receipt(number) for number in range(self._receipts, count)]
        self._receipts = count
        usd = self.spending.usd + sum(receipt.spent.usd for receipt in fresh)
        self.spending = replace(self.spending, usd=usd)
        return [receipt for receipt in fresh if receipt.status == "compacted"]

    # --- how it ends -----------------------------------------------------------------------

    def end(self, status: Status, note: str = "") -> None:
        """End the run."""
        self.result = AgentResult(status, self.text, self.spent(), note)

    def ends_with_error(self, error: ModelError) -> bool:
        """Return True if an error is one of the ways to end a run; it has ended then."""
        if error.code in ("silent", "loop"):
            self.end("silent" if error.code == "silent" else "loop", error.message)
        elif error.code == TIMEOUT and not self.seconds_left:
            self.end("time", f"the limit of {self.setup.limits.seconds:g} seconds is reached")
        return self.result is not None

    def note_loops(self, loops: Sequence[str]) -> None:
        """Note the loops in the calls of a step; the second such step in a row is the last."""
        self._looping_steps = self._looping_steps + 1 if loops else 0
        if self._looping_steps > 1:
            self.end("loop", f"{loops[0]}, and went on after it was told so")

    # --- what is written down --------------------------------------------------------------

    async def remember_files(self, calls: Sequence[ToolCall]) -> None:
        """Look at the files that calls touched, to know later whether others changed them."""
        paths = touched_paths(self.setup.root, calls, FileSettings())
        fresh = await asyncio.to_thread(look_at, self.setup.root, paths)
        older = {p: h for p, h in self.workspace.files.items() if p not in fresh.files}
        newest = dict(list({**older, **fresh.files}.items())[-MOST_FILES:])
        self.workspace = WorkspaceState(newest, fresh.git_head)

    async def save(self) -> None:
        """Write the checkpoint, once the run has begun."""
        if self.setup.checkpoint is not None and self.has_begun:
            status = "running" if self.result is None else self.result.status
            checkpoint = Checkpoint(self.session.name, status, self.spent(), self.workspace)
            await asyncio.to_thread(save_checkpoint, self.setup.checkpoint, checkpoint)
