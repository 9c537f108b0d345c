"""What a running agent tells while it runs, in the order in which it happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from foldline.agents.account import AgentResult
from foldline.agents.surroundings import Changes
from foldline.engine.receipt import Receipt
from foldline.models.completion import Completion, Delta
from foldline.tools.output import ToolOutput
from foldline.values.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Resumed:
    """A run that was broken off goes on; calls were closed or run again, and files had changed."""

    closed: int
    rerun: int
    changes: Changes


@dataclass(frozen=True, slots=True)
class Compacted:
    """What the model sees was compacted."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Retried:
    """The answer is asked for again; its pieces up to now are void, and the whole if there was."""

    reason: str
    completion: Completion | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The model answered, and its answer is recorded."""

    completion: Completion


@dataclass(frozen=True, slots=True)
class Called:
    """A tool is about to be run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Returned:
    """A tool returned, and its output is recorded."""

    call: ToolCall
    output: ToolOutput


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over; nothing comes after this."""

    result: AgentResult


Event: TypeAlias = Delta | Resumed | Compacted | Retried | Answered | Called | Returned | Finished
