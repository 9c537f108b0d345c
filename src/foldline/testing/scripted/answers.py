"""An answer or an error before it is written, and what every provider's writer offers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from foldline.core.asks import Stop
from foldline.testing.scripted.steps import Blank, Tool
from foldline.values.messages import Usage

PIECES: Final = 48
"""Into how many deltas a text is cut at most."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """
    An answer, the same for every wire.

    ``number`` makes its ids unique; ``blank`` says in which way it says nothing, None when it says
    something. ``counted`` tells whether a stream of chat completions ends with its usage.
    """

    number: int
    model: str
    text: str
    usage: Usage
    calls: tuple[Tool, ...] = ()
    stop: Stop = "end"
    thinking: str = ""
    blank: Blank | None = None
    counted: bool = False

    def id(self, prefix: str, position: int = 0) -> str:
        """Return an id that no other thing of this server has."""
        return f"{prefix}{self.number:06d}{position:04d}"

    @property
    def silent(self) -> str | None:
        """What stands for the text of an answer that says nothing."""
        return {"null": None, "blank": " \n"}.get(self.blank or "", "")


@dataclass(frozen=True, slots=True)
class ProviderError:
    """An error before it is written; ``param`` is the field of the request that is meant."""

    status: int
    message: str
    code: str = ""
    param: str | None = None


class AnswerWriter(Protocol):
    """How one provider writes answers and errors."""

    @property
    def dialect(self) -> str:
        """The name of its wire format."""
        ...

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that a request must have."""
        ...

    @property
    def end(self) -> bytes:
        """What ends a stream."""
        ...

    def cap(self, body: dict[str, Any]) -> int | None:
        """Return the most that a request lets the model write, in tokens."""
        ...

    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""
        ...

    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as the events of a stream."""
        ...

    def error(self, refusal: ProviderError) -> dict[str, Any]:
        """Write an error."""
        ...

    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:
        """Say that a request of ``given`` tokens, with its ``cap``, is longer than ``limit``."""
        ...


def pieces(text: str) -> Iterator[str]:
    """Cut a text into deltas; an empty text has none."""
    size = max(12, -(-len(text) // PIECES))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def number_of(value: Any) -> int | None:
    """Return a whole number above 0, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
