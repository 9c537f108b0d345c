"""The events of a run, in the order in which they happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from foldline.agents.checkpoint import WorkspaceChanges
from foldline.agents.limits import AgentResult
from foldline.engine.receipt import Receipt
from foldline.models.completion import Completion, Delta
from foldline.tools.output import ToolOutput
from foldline.values.messages import ToolCall


@dataclass(frozen=True, slots=True)
class RunResumed:
    """An interrupted run goes on; calls were closed or run again, and files had changed."""

    closed: int
    rerun: int
    changes: WorkspaceChanges


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """What the model sees was compacted."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class ModelRetried:
    """The answer is asked for again; its pieces, and ``completion``, do not count."""

    reason: str
    completion: Completion | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """The model answered, and its answer is recorded."""

    completion: Completion


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool is about to be run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool returned, and its output is recorded."""

    call: ToolCall
    output: ToolOutput


@dataclass(frozen=True, slots=True)
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
