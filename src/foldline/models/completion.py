"""What comes back from a model: a whole answer, or the pieces of one as they arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from foldline.core.asks import Stop
from foldline.errors import InputError
from foldline.values.messages import ToolCall, Usage

Piece: TypeAlias = Literal["text", "thinking", "call"]


@dataclass(frozen=True, slots=True)
class Completion:
    """
    A whole answer.

    ``messages`` are the assistant's wire messages, ready to append to the conversation: one in
    chat completions and Anthropic, several items in OpenAI Responses. ``text`` is what was said,
    ``thinking`` the readable part of its reasoning, ``refusal`` the words in which it declined.
    ``calls`` are tool calls, their arguments as JSON text. ``usd`` is the price in US dollars,
    None when it is not known; ``seconds`` and ``attempts`` are what the answer took.
    """

    messages: tuple[dict[str, Any], ...] = ()
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"
    usage: Usage | None = None
    usd: float | None = None
    model: str = ""
    thinking: str = field(default="", repr=False)
    refusal: str = ""
    seconds: float = 0.0
    attempts: int = 1

    @property
    def message(self) -> dict[str, Any]:
        """
        The assistant's wire message, where it is one.

        Raises:
            InputError: It is none or several, as OpenAI Responses may answer; see ``messages``.
        """
        if len(self.messages) != 1:
            raise InputError(
                f"the answer is {len(self.messages)} wire messages, not one",
                hint="Append all of `messages`.",
            )
        return self.messages[0]


@dataclass(frozen=True, slots=True)
class Delta:
    """
    A piece of an answer that is still arriving.

    ``kind`` is what it is a piece of; for a call, ``name`` comes with its first piece, the text of
    its arguments in pieces, and ``index`` tells calls apart.
    """

    kind: Piece
    text: str = ""
    index: int = 0
    name: str = ""
