"""The steps of a script, and an answer before it is written in the words of a provider."""

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
"""How an answer can say nothing: "", null, white space, no field for it, no place for a field."""


class Step:
    """One step of a script."""

    __slots__ = ()


@frozen
class CallTool(Step):
    """
    A tool call, alone as a step or in the ``calls`` of an `Answer`.

    ``arguments`` is an object, or a text that is sent as it is, for arguments that are no JSON
    (Anthropic has no such thing: there it becomes ``{"input": text}``). Without an ``id`` the
    server makes one that is unique. ``custom`` calls a tool of OpenAI Responses whose input is
    free text, in the ``namespace`` that it was declared in.
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
    An ordinary answer; a plain string in a script is one.

    ``stop`` is why the model stopped, None for "tools" with calls and "end" without. ``usage`` is
    what is reported, None for what the server counts. ``thinking`` is reasoning that comes before
    the text, signed where the provider signs it.
    """

    text: str = ""
    calls: tuple[CallTool, ...] = ()
    usage: Usage | None = None
    stop: Stop | None = None
    thinking: str = ""


@frozen
class Echo(Step):
    """An answer that repeats the last message of the request behind ``prefix``."""

    prefix: str = ""


@frozen
class Novel(Step):
    """An answer of about so many tokens, however few were asked for."""

    tokens: int
    stop: Stop | None = None


@frozen
class Capped(Step):
    """An answer that reached the cap of the output in the middle of a word."""

    text: str = "This answer was cut off in the mid"


@frozen
class Refuse(Step):
    """The model declines, each provider in its own field."""

    text: str = "I can't help with that."


@frozen
class Nothing(Step):
    """Status 200 and an answer that says nothing."""

    kind: Blank = "empty"


@frozen
class Malformed(Step):
    """Status 200 and JSON that breaks off in the middle, in a stream in the middle of an event."""


@frozen
class CutOff(Step):
    """The connection is closed after so many bytes of an answer; 0: before the status line."""

    after: int = 0
    answer: Answer = field(default_factory=lambda: Answer("A long story. " * 500))


@frozen
class Stall(Step):
    """
    Nothing more comes after so many bytes of an answer; 0: not even the status line.

    The connection stays open for ``seconds``, or until the client goes away or the server closes.
    """

    seconds: float | None = None
    after: int = 0
    answer: Answer = field(default_factory=lambda: Answer("A long story. " * 500))


@frozen
class Status(Step):
    """
    An error status in the provider's own words; ``retry_after`` is in seconds.

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
    """Status 429 in words that look like those of an overflow: "Request too large … tokens"."""

    limit: int = 30_000
    requested: int = 35_210
    retry_after: float | None = 1.0
    again: bool | None = None


@frozen
class Overflow(Step):
    """
    The request is too long, in the provider's own words and status.

    ``limit`` and ``requested`` are in tokens; None stands for the server's window and its count.
    """

    limit: int | None = None
    requested: int | None = None


@frozen
class Raw(Step):
    """Any response, byte for byte: what a gateway or a proxy in between may send."""

    body: bytes
    status: int = 200
    type: str = "application/json"


PIECES: Final = 48
"""Into how many deltas a text is cut at most."""


@frozen
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
    calls: tuple[CallTool, ...] = ()
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


@frozen
class ProviderError:
    """An error before it is written; ``param`` is the field of the request that is meant."""

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
    How one provider writes answers and errors.

    ``dialect`` is the name of its wire format, ``required`` the fields that a request must have,
    ``caps`` those that may say how much the model writes at most, ``end`` what ends a stream.
    """

    dialect: ClassVar[str]
    required: ClassVar[tuple[str, ...]]
    caps: ClassVar[tuple[str, ...]]
    end: ClassVar[bytes] = b""

    def cap(self, body: dict[str, Any]) -> int | None:
        """Return the most that a request lets the model write, in tokens."""
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
        """Say that a request of ``given`` tokens, with its ``cap``, is longer than ``limit``."""


def pieces(text: str) -> Iterator[str]:
    """Cut a text into deltas; an empty text has none."""
    size = max(12, -(-len(text) // PIECES))
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _number(value: Any) -> int | None:
    """Return a whole number above 0, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
