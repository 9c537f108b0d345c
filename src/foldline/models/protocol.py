"""What every protocol offers, and reading answers that may hold anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from foldline.errors import ModelError
from foldline.models.completion import Completion, Delta
from foldline.models.info import ModelInfo
from foldline.models.sse import ServerSentEvent
from foldline.values.messages import ToolCall, Usage


@dataclass(frozen=True, slots=True)
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


class ProviderProtocol(Protocol):
    """How one protocol writes requests and reads answers."""

    @property
    def dialect(self) -> str:
        """The name of the wire format of its messages, as `foldline.formats` calls it."""
        ...

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Return what opens the door; ``key`` may be empty."""
        ...

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """Write a request."""
        ...

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It is none.
        """
        ...

    def assembler(self) -> Assembler:
        """Return what puts a stream together."""
        ...


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


def count(value: Any) -> int:
    """Return a number of tokens as it is, 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def call(number: Any, name: Any, arguments: Any) -> ToolCall:
    """Return a tool call; arguments that came as an object are written as JSON."""
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(text(number) or None, text(name), arguments)


def openai_usage(value: Any, read: str, written: str) -> Usage | None:
    """
    Read a ``usage`` object in which the input includes what the cache gave and took.

    Args:
        value: The object.
        read: The name of the tokens read, with ``_details`` of the cached ones.
        written: The name of the tokens written.
    """
    usage = mapping(value)
    whole, output = count(usage.get(read)), count(usage.get(written))
    if not whole and not output:
        return None
    details = mapping(usage.get(f"{read}_details"))
    # DeepSeek and Moonshot report cached tokens in fields of their own.
    cached = (
        count(details.get("cached_tokens"))
        or count(usage.get("prompt_cache_hit_tokens"))
        or count(usage.get("cached_tokens"))
    )
    cached = min(cached, whole)
    kept = min(count(details.get("cache_write_tokens")), whole - cached)
    return Usage(whole - cached - kept, output, cached, kept)


def with_calls(completion: Completion) -> Completion:
    """Return a completion whose stop is "tools" if it holds calls and nothing else says why."""
    if completion.calls and completion.stop in ("end", "unknown"):
        return replace(completion, stop="tools")
    return completion
