"""The limits and the spending of an agent, and the status of a finished run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from foldline.core.validation import positive, whole
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.models.completion import Completion
from foldline.tools.output import ToolOutput
from foldline.values.messages import Usage

Status: TypeAlias = Literal[
    "done", "steps", "time", "money", "loop", "refused", "length", "silent"
]
"""
How a run ended: the model was done; a limit of steps, time or money was reached; the model
looped, refused, hit the answer limit without text or calls, or gave an empty answer.
"""


@frozen
class AgentLimits:
    """
    Limits on what an agent spends on a task, including resumed runs.

    ``steps`` are requests to the model, ``seconds`` the running time. ``usd`` is in US dollars,
    None for no limit; the step that exceeds it is the last one. A step whose answer broke off or
    is empty is retried up to ``retries`` times.

    Raises:
        BudgetError: A number is out of range.
    """

    steps: int = 100
    seconds: float = 3_600.0
    usd: float | None = None
    retries: int = 2

    def __post_init__(self) -> None:
        whole("limits.steps", self.steps, 1)
        positive("limits.seconds", self.seconds)
        if self.usd is not None:
            positive("limits.usd", self.usd)
        whole("limits.retries", self.retries)


@frozen
class AgentSpending:
    """
    The spending so far.

    ``usd`` is in US dollars as far as known; ``unpriced`` counts the steps of unknown price.
    """

    steps: int = 0
    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def with_answer(self, answer: Completion) -> AgentSpending:
        """Return the sum including an answer of the model."""
        usage = answer.usage or Usage()
        return replace(
            self,
            steps=self.steps + 1,
            usd=self.usd + (answer.usd or 0.0),
            unpriced=self.unpriced + (answer.usd is None),
            input_tokens=self.input_tokens + usage.total - usage.output,
            output_tokens=self.output_tokens + usage.output,
        )

    def with_call(self, output: ToolOutput) -> AgentSpending:
        """Return the sum including a tool call; a tool that uses models reports its cost."""
        paid = output.stats.get("usd", 0.0)
        usd = paid if isinstance(paid, int | float) and paid > 0 else 0.0
        return replace(self, calls=self.calls + 1, usd=self.usd + usd)

    def limit_reached(self, limits: AgentLimits) -> tuple[Status, str] | None:
        """Return the limit that is reached and a message about it; None if none is."""
        if self.steps >= limits.steps:
            return "steps", f"the limit of {limits.steps} steps is reached"
        if self.seconds >= limits.seconds:
            return "time", f"the limit of {limits.seconds:g} seconds is reached"
        if limits.usd is None:
            return None
        if self.unpriced:
            return "money", "the price of the model is unknown, and money is limited"
        if self.usd >= limits.usd:
            return "money", f"{self.usd:.4f} of {limits.usd:.4f} US dollars are spent"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any) -> AgentSpending:
        """
        Read what `to_dict` returned.

        Raises:
            InputError: It is not such a value.
        """
        try:
            found = cls(**value)
            for name, number in asdict(found).items():
                positive(name, number)
        except (TypeError, ValueError) as error:
            raise InputError(f"this is not the spending of an agent: {error}") from error
        return found


@frozen
class AgentResult:
    """
    The result of a run.

    ``text`` is the last text of the model. ``note`` is one sentence on why the run ended, "" if
    the model was done.
    """

    status: Status
    text: str
    spending: AgentSpending = field(default_factory=AgentSpending)
    note: str = ""

    def __str__(self) -> str:
        spent = f"{self.spending.steps} steps, {self.spending.usd:.4f} US dollars"
        return f"{self.status} ({spent}): {self.note or self.text}"
