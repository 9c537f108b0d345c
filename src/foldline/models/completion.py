"""Requests to a model, answers, whole or in pieces, and the interface of protocols."""

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
"""Stop reasons of all providers and frameworks."""


@frozen
class Completion:
    """
    A complete answer.

    ``messages`` are the assistant's wire messages, ready to append to the conversation: one in
    chat completions and Anthropic, several items in OpenAI Responses. ``text`` is the answer,
    ``thinking`` the readable part of its reasoning, ``refusal`` the text of a refusal. ``calls``
    are tool calls, their arguments as JSON text. ``usd`` is the price in US dollars, None if it is
    unknown; ``seconds`` and ``attempts`` are the time and the requests of the answer.
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
        The assistant's only wire message.

        Raises:
            InputError: There is none or several, as in OpenAI Responses; see ``messages``.
        """
        if len(self.messages) != 1:
            why = f"The answer is {len(self.messages)} wire messages, not one"
            raise InputError(why, hint="Append all of `messages`.")
        return self.messages[0]


@frozen
class Delta:
    """
    A piece of a streamed answer.

    ``kind`` is the part it belongs to; for a call, the first piece has the ``name``, the arguments
    come in pieces, and ``index`` identifies the call.
    """

    kind: Piece
    text: str = ""
    index: int = 0
    name: str = ""


@frozen
class CompletionRequest:
    """
    A request, independent of the protocol: wire messages and options.

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
"""The last event of a chat completions stream."""


@frozen
class ServerSentEvent:
    """One event: its name, "" where it has none, and its data as text."""

    name: str
    data: str

    def value(self) -> dict[str, Any]:
        """
        Return the data as a JSON object.

        Raises:
            ModelError: It is not JSON; a retry may help.
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
    """Assembles an answer from the events of one stream."""

    def take(self, event: ServerSentEvent) -> list[Delta]:
        """
        Process an event and return its pieces of the answer.

        Raises:
            ModelError: It is malformed, or reports an error.
        """
        ...

    def whole(self) -> dict[str, Any]:
        """
        Return the answer as in a response without streaming.

        Raises:
            ModelError: The stream ended before the answer did.
        """
        ...


class ProviderProtocol(ABC):
    """
    A protocol, which writes requests and reads answers.

    ``dialect`` is the wire format of its messages, by its name in `foldline.formats`; ``path`` is
    the path of requests below the base URL.
    """

    dialect: ClassVar[str]
    path: ClassVar[str]

    def headers(self, key: str) -> dict[str, str]:
        """Return the authentication headers: a bearer token, or none without a key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    @abstractmethod
    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """Write a request."""

    @abstractmethod
    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It is malformed.
        """

    @abstractmethod
    def assembler(self) -> Assembler:
        """Return an assembler for the answer of one stream."""


def shared_fields(request: CompletionRequest) -> dict[str, Any]:
    """Return the fields with the same name in all protocols, if they are set."""
    fields = {
        "model": request.model,
        "temperature": request.temperature,
        "tools": list(request.tools) if request.tools else None,
        "stream": True if request.stream else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def malformed_answer(what: str) -> ModelError:
    """Return the error for an answer of the wrong shape; a retry may help."""
    return ModelError(f"The answer {what}.", code="malformed", retry=True)


def truncated_stream() -> ModelError:
    """Return the error for a stream that ended before the answer did."""
    return ModelError("The stream ended in the middle of the answer.", code="cut", retry=True)


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, an empty list for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """Return an object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return a string as it is, an empty one for anything else."""
    return value if isinstance(value, str) else ""


def call(number: Any, name: Any, arguments: Any) -> ToolCall:
    """Return a tool call; arguments that are an object are written as JSON."""
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(text(number) or None, text(name), arguments)


def read_stop(reason: Any, default: Stop = "unknown") -> Stop:
    """Map a provider's stop reason, in any letter case, to one of `Stop`."""
    return STOPS.get(text(reason).lower(), default)


def with_calls(completion: Completion) -> Completion:
    """Return a completion with the stop "tools" if it has calls and no other stop reason."""
    if completion.calls and completion.stop in ("end", "unknown"):
        return replace(completion, stop="tools")
    return completion
