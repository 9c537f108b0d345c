"""A request to a model, its answer, whole or in pieces, and what a protocol makes of both."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Protocol, TypeAlias

from foldline.core.asks import Stop
from foldline.errors import InputError, ModelError
from foldline.frozen import field, frozen, replace
from foldline.models.info import ModelInfo
from foldline.values.messages import ToolCall, Usage

Piece: TypeAlias = Literal["text", "thinking", "call"]

STOPS: Final[Mapping[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "stop": "end",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "length": "length",
    "incomplete": "length",
    "tool_use": "tools",
    "tool_calls": "tools",
    "tool_call": "tools",
    "function_call": "tools",
    "refusal": "refusal",
    "content_filter": "refusal",
    "safety": "refusal",
    "model_context_window_exceeded": "overflow",
    "context_length_exceeded": "overflow",
    "model_length": "overflow",
}
"""Why a model stopped, by the words of all providers and frameworks."""


@frozen
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
            why = f"The answer is {len(self.messages)} wire messages, not one"
            raise InputError(why, hint="Append all of `messages`.")
        return self.messages[0]


@frozen
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


@frozen
class CompletionRequest:
    """
    A request before it is written: wire messages, and what stands around them.

    ``max_tokens`` caps the answer; None leaves it to the provider.
    """

    model: str
    info: ModelInfo
    messages: Sequence[Any]
    system: str | None = None
    tools: Sequence[Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = False


DONE: Final = "[DONE]"
"""What ends a stream of chat completions."""


@frozen
class ServerSentEvent:
    """One event: its name, "" where it has none, and its data as text."""

    name: str
    data: str

    def value(self) -> dict[str, Any]:
        """
        Return the data as a JSON object.

        Raises:
            ModelError: It is none; asking again may help.
        """
        try:
            value = json.loads(self.data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            why = "The stream holds an event that is not JSON."
            raise ModelError(why, code="malformed", retry=True)
        return value


class Assembler(Protocol):
    """Puts the events of one stream together."""

    def take(self, event: ServerSentEvent) -> list[Delta]:
        """
        Take an event in and return the pieces of the answer that it brings.

        Raises:
            ModelError: It is malformed, or reports an error.
        """
        ...

    def whole(self) -> dict[str, Any]:
        """
        Return the answer as it would have come without a stream.

        Raises:
            ModelError: The stream ended before the answer did.
        """
        ...


class ProviderProtocol(ABC):
    """
    How one protocol writes requests and reads answers.

    ``dialect`` is the wire format of its messages, as `foldline.formats` calls it; ``path`` is
    where requests go, below the base URL.
    """

    dialect: ClassVar[str]
    path: ClassVar[str]

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers of authentication: a bearer token, none without a key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    @abstractmethod
    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """Write a request."""

    @abstractmethod
    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It is none.
        """

    @abstractmethod
    def assembler(self) -> Assembler:
        """Return an assembler for the answer of one stream."""


def shared_fields(request: CompletionRequest) -> dict[str, Any]:
    """Write what all protocols call the same, as far as it is given."""
    fields = {
        "model": request.model,
        "temperature": request.temperature,
        "tools": list(request.tools) if request.tools else None,
        "stream": True if request.stream else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def malformed_answer(what: str) -> ModelError:
    """Return the error for an answer of another shape; asking again may help."""
    return ModelError(f"The answer {what}.", code="malformed", retry=True)


def truncated_stream() -> ModelError:
    """Return the error for a stream that ended before the answer did."""
    return ModelError("The stream ended in the middle of the answer.", code="cut", retry=True)


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, nothing from anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """Return an object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return a text as it is, an empty one for anything else."""
    return value if isinstance(value, str) else ""


def call(number: Any, name: Any, arguments: Any) -> ToolCall:
    """Return a tool call; arguments that came as an object are written as JSON."""
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(text(number) or None, text(name), arguments)


def read_stop(reason: Any, default: Stop = "unknown") -> Stop:
    """Return why a model stopped, by the word of its provider in any case of letters."""
    return STOPS.get(text(reason).lower(), default)


def with_calls(completion: Completion) -> Completion:
    """Return a completion whose stop is "tools" if it holds calls and nothing else says why."""
    if completion.calls and completion.stop in ("end", "unknown"):
        return replace(completion, stop="tools")
    return completion
