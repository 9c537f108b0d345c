"""The steps of a script, and an answer before it is written in a provider's format."""

from __future__ import annotations

import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import get_data
from typing import Any, ClassVar, Final, Literal, TypeAlias

from foldline.core.asks import Stop
from foldline.frozen import field, frozen
from foldline.values.messages import Usage

Blank: TypeAlias = Literal["empty", "null", "blank", "missing", "none"]
"""Forms of an empty answer: "", null, white space, no field, no parent of the field."""


class Step:
    """A step of a script."""

    __slots__ = ()


@frozen
class CallTool(Step):
    """
    A tool call, alone as a step or in the ``calls`` of an `Answer`.

    ``arguments`` is an object, or a text that is sent unchanged, for arguments that are not JSON
    (impossible with Anthropic, where it becomes ``{"input": text}``). Without an ``id`` the
    server makes a unique one. ``custom`` calls a tool of OpenAI Responses whose input is
    free text, in the ``namespace`` of its declaration.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""
    custom: bool = False
    namespace: str = ""

    @property
    def json(self) -> str:
        """The arguments as the text that OpenAI sends."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)

    @property
    def object(self) -> dict[str, Any]:
        """The arguments as the object that Anthropic sends."""
        return {"input": self.arguments} if isinstance(self.arguments, str) else {**self.arguments}


@frozen
class Answer(Step):
    """
    An ordinary answer; a plain string in a script is one, too.

    ``stop`` is why the model stopped, None for "tools" with calls and "end" without. ``usage`` is
    the reported usage, None for the server's count. ``thinking`` is reasoning before the text,
    signed if the provider signs it.
    """

    text: str = ""
    calls: tuple[CallTool, ...] = ()
    usage: Usage | None = None
    stop: Stop | None = None
    thinking: str = ""


@frozen
class Echo(Step):
    """An answer that repeats the last message of the request after ``prefix``."""

    prefix: str = ""


@frozen
class Novel(Step):
    """An answer of about ``tokens`` tokens, regardless of the requested maximum."""

    tokens: int
    stop: Stop | None = None


@frozen
class Capped(Step):
    """An answer that reached the output cap in the middle of a word."""

    text: str = "This answer was cut off in the mid"


@frozen
class Refuse(Step):
    """A refusal of the model, in the field of each provider."""

    text: str = "I can't help with that."


@frozen
class Nothing(Step):
    """Status 200 and an empty answer."""

    kind: Blank = "empty"


@frozen
class Malformed(Step):
    """Status 200 and JSON truncated in the middle; in a stream, in the middle of an event."""


@frozen
class CutOff(Step):
    """A connection closed after ``after`` bytes of an answer; 0: before the status line."""

    after: int = 0
    answer: Answer = field(default_factory=lambda: Answer("A long story. " * 500))


@frozen
class Stall(Step):
    """
    A response that stalls after ``after`` bytes of an answer; 0: before the status line.

    The connection stays open for ``seconds``, or until the client or the server closes it.
    """

    seconds: float | None = None
    after: int = 0
    answer: Answer = field(default_factory=lambda: Answer("A long story. " * 500))


@frozen
class Status(Step):
    """
    An error status with the provider's wording; ``retry_after`` is in seconds.

    ``code`` is the provider's own code or type of error. ``again`` is the header by which the
    SDKs of OpenAI and Anthropic decide whether to retry; None leaves that to them.
    """

    status: int
    retry_after: float | None = None
    message: str = ""
    code: str = ""
    again: bool | None = None


@frozen
class RateLimit(Step):
    """Status 429 with a message that resembles an overflow: "Request too large … tokens"."""

    limit: int = 30_000
    requested: int = 35_210
    retry_after: float | None = 1.0
    again: bool | None = None


@frozen
class Overflow(Step):
    """
    An overflow error with the provider's wording and status.

    ``limit`` and ``requested`` are in tokens; None means the server's window and its count.
    """

    limit: int | None = None
    requested: int | None = None


@frozen
class Raw(Step):
    """Any response, byte for byte, such as that of a gateway or a proxy in between."""

    body: bytes
    status: int = 200
    type: str = "application/json"


PIECES: Final = 48
"""Maximum number of deltas of a text."""


@frozen
class ScriptedAnswer:
    """
    An answer, independent of the wire format.

    ``number`` makes its ids unique; ``blank`` is the form of an empty answer, None if it is not
    empty. ``counted`` is whether a stream of chat completions ends with its usage.
    """

    number: int
    model: str
    text: str
    usage: Usage
    calls: tuple[CallTool, ...] = ()
    stop: Stop = "end"
    thinking: str = ""
    blank: Blank | None = None
    counted: bool = False

    def id(self, prefix: str, position: int = 0) -> str:
        """Return an id that is unique in this server."""
        return f"{prefix}{self.number:06d}{position:04d}"

    @property
    def silent(self) -> str | None:
        """The text of an empty answer."""
        return {"null": None, "blank": " \n"}.get(self.blank or "", "")


@frozen
class ProviderError:
    """An error before it is written; ``param`` is the field of the request that it concerns."""

    status: int
    message: str
    code: str = ""
    param: str | None = None


@cache
def _errors() -> dict[str, dict[str, dict[str, str]]]:
    data = get_data("foldline.testing.scripted", "errors.toml") or b""
    return tomllib.loads(data.decode("utf-8"))


def usual_error(provider: str, status: int) -> dict[str, str]:
    """Return the type and the message of an error, and its code if it has one."""
    known = _errors()[provider]
    return known.get(str(status), known["other"])


class AnswerWriter(ABC):
    """
    Writes the answers and errors of one provider.

    ``dialect`` is the name of its wire format, ``required`` the fields that a request must have,
    ``caps`` those that may limit the output, ``end`` the last line of a stream.
    """

    dialect: ClassVar[str]
    required: ClassVar[tuple[str, ...]]
    caps: ClassVar[tuple[str, ...]]
    end: ClassVar[bytes] = b""

    def cap(self, body: dict[str, Any]) -> int | None:
        """Return the output limit of a request, in tokens."""
        return next(filter(None, (_number(body.get(name)) for name in self.caps)), None)

    @abstractmethod
    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""

    @abstractmethod
    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as the events of a stream."""

    @abstractmethod
    def error(self, refusal: ProviderError) -> dict[str, Any]:
        """Write an error."""

    @abstractmethod
    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:
        """Return the error for ``given`` tokens, with the output cap, over ``limit``."""


def pieces(text: str) -> Iterator[str]:
    """Split a text into deltas; an empty text has none."""
    size = max(12, -(-len(text) // PIECES))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _number(value: Any) -> int | None:
    """Return a positive integer, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
