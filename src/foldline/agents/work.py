"""The work of one run: what was spent, which files were touched, how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from foldline.agents.account import AgentLimits, AgentResult, Status, Tally
from foldline.agents.checkpoint import Checkpoint, saved
from foldline.agents.repetition import Circles
from foldline.agents.surroundings import MOST_FILES, Surroundings, paths_of, seen
from foldline.core.retention_settings import FileSettings
from foldline.engine.receipt import Receipt
from foldline.errors import ModelError
from foldline.models.completion import Completion
from foldline.models.failures import TIMEOUT
from foldline.session import Session
from foldline.tools.files.root import Root
from foldline.tools.output import ToolOutput
from foldline.values.messages import ToolCall


@dataclass(slots=True)
class Work:
    """
    The changing state of a run; only the run itself has it.

    ``receipts`` counts those of the session that were looked at, ``circling`` the steps in a row
    whose calls went in circles; ``around`` are the tools that the session counts, ``begun`` says
    that the checkpoint is that of this run.
    """

    limits: AgentLimits
    circles: Circles
    tally: Tally = field(default_factory=Tally)
    surroundings: Surroundings = field(default_factory=Surroundings)
    receipts: int = 0
    circling: int = 0
    result: AgentResult | None = None
    text: str = ""
    around: list[dict[str, Any]] | None = None
    begun: bool = False
    _since: float = field(default_factory=monotonic)

    # --- what is spent ---------------------------------------------------------------------

    def now(self) -> Tally:
        """Return what is spent by now, the time included."""
        gone = monotonic() - self._since
        self._since += gone
        self.tally = self.tally.at(self.tally.seconds + gone)
        return self.tally

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.limits.seconds - self.now().seconds)

    def answered(self, done: Completion) -> None:
        """Note an answer of the model."""
        self.tally = self.tally.answered(done)
        self.text = done.refusal or done.text or self.text

    def compacted(self, session: Session) -> list[Receipt]:
        """Return the compactions that were made since the last time, and note what they cost."""
        fresh = session.receipts[self.receipts :]
        self.receipts += len(fresh)
        self.tally = self.tally.paid(sum(receipt.spent.usd for receipt in fresh))
        return [receipt for receipt in fresh if receipt.status == "compacted"]

    # --- how it ends -----------------------------------------------------------------------

    def end(self, status: Status, note: str = "") -> None:
        """Note how the run ends."""
        self.result = AgentResult(status, self.text, self.now(), note)

    def ended_by(self, done: Completion) -> None:
        """Note that an answer without calls ends the run."""
        if done.stop == "refusal":
            self.end("refused", "the model refused")
        elif done.stop == "length":
            self.end("length", "the answer reached its cap")
        else:
            self.end("done")

    def ended_with(self, error: ModelError) -> bool:
        """Tell whether an error is one of the ways in which a run ends, and note it then."""
        if error.code in ("silent", "loop"):
            self.end("silent" if error.code == "silent" else "loop", error.message)
        elif error.code == TIMEOUT and not self.left:
            self.end("time", f"the limit of {self.limits.seconds:g} seconds is reached")
        return self.result is not None

    def circled(self, reasons: Sequence[str]) -> None:
        """Note why calls of a step went in circles; the second step in a row is the last."""
        self.circling = self.circling + 1 if reasons else 0
        if self.circling > 1:
            self.end("loop", f"{reasons[0]}, and went on after it was told so")

    # --- what is written down --------------------------------------------------------------

    def returned(self, output: ToolOutput) -> None:
        """Note that a tool returned."""
        self.tally = self.tally.called(output)

    async def touched(self, root: Root | None, calls: Sequence[ToolCall]) -> None:
        """Look at the files that calls touched, to tell later whether others changed them."""
        paths = paths_of(root, calls, FileSettings())
        fresh = await asyncio.to_thread(seen, root, paths)
        older = {p: h for p, h in self.surroundings.files.items() if p not in fresh.files}
        both = {**older, **fresh.files}
        newest = dict(list(both.items())[-MOST_FILES:])
        self.surroundings = Surroundings(newest, fresh.head)

    async def saved(self, path: Path | None, session: str) -> None:
        """Write the checkpoint, once the run has begun."""
        if path is not None and self.begun:
            status = "running" if self.result is None else self.result.status
            checkpoint = Checkpoint(session, status, self.now(), self.surroundings)
            await asyncio.to_thread(saved, path, checkpoint)
