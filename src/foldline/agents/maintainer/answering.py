"""What a maintainer answers: a text that knows how it came about."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from foldline.agents.limits import AgentResult, AgentSpending
from foldline.agents.maintainer.modes import Mode

WITHOUT: str = "without a model"
"""The status of an answer that no model gave."""


class Answer(str):
    """
    An answer. It is its own text.

    Args:
        text: The text.
        mode: In which mode it was given.
        result: How the run of the agent ended; None where no model was asked.
        notes: The ids of the notes that the answer names.
    """

    __slots__ = ("mode", "notes", "result")
    mode: Mode
    result: AgentResult | None
    notes: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        mode: Mode,
        result: AgentResult | None = None,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """Make an answer; see the class."""
        made = super().__new__(cls, text)
        object.__setattr__(made, "mode", mode)
        object.__setattr__(made, "result", result)
        object.__setattr__(made, "notes", notes)
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"an answer does not change; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.mode, self.result, self.notes))

    @property
    def status(self) -> str:
        """How the run ended, as `AgentResult.status`; or that no model was asked."""
        return WITHOUT if self.result is None else self.result.status

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        spending = AgentSpending() if self.result is None else self.result.spending
        return {
            "mode": self.mode,
            "status": self.status,
            "text": str(self),
            "why": "" if self.result is None else self.result.note,
            "notes": list(self.notes),
            "spent": spending.to_dict(),
        }
