"""From a step to the bytes of its response, and what happens to the connection then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from foldline.core.asks import Stop
from foldline.testing.scripted.meter import Meter
from foldline.testing.scripted.request import Request
from foldline.testing.scripted.steps import (
    Answer,
    Capped,
    Cut,
    Echo,
    Malformed,
    Nothing,
    Novel,
    Overflow,
    RateLimit,
    Raw,
    Refuse,
    Stall,
    Status,
    Step,
    Tool,
)
from foldline.testing.scripted.wire import Refusal, Said, Wire

JSON: Final = "application/json"
STREAM: Final = "text/event-stream; charset=utf-8"

LONGEST: Final = 1_000_000
"""The most tokens that a `Novel` has."""

_SENTENCE: Final = "And then the lighthouse keeper wrote down the weather of another day. "

Ending: TypeAlias = Literal["done", "cut", "stalled"]


@dataclass(frozen=True, slots=True)
class Response:
    """
    What is sent.

    ``chunks`` are sent one by one in a stream, else as one body. When ``after`` is a number, only
    so many bytes of the body are sent before the connection ends as ``ending`` says; 0 means not
    even a status line. A stalled one is held for ``seconds``.
    """

    status: int
    chunks: tuple[bytes, ...]
    type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int | None = None
    ending: Ending = "done"
    seconds: float | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the chunks are events."""
        return self.type == STREAM


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a step is played: the wire, the request, and what the server knows."""

    wire: Wire
    request: Request
    meter: Meter
    window: int

    def play(self, step: Step | str) -> Response:
        """
        Return the response of a step.

        Raises:
            TypeError: It is no step.
        """
        for kinds, play in _PLAYS:
            if isinstance(step, kinds):
                return play(self, step)
        raise TypeError(f"{type(step).__name__} is no step of a script")

    def refuse(
        self, refusal: Refusal, *, again: bool | None = None, wait: float | None = None
    ) -> Response:
        """Return an error, in the provider's own words."""
        headers = {} if again is None else {"x-should-retry": str(again).lower()}
        if wait is not None:
            headers |= {"retry-after": f"{wait:g}", "retry-after-ms": f"{wait * 1000:g}"}
        return Response(refusal.status, (_json(self.wire.error(refusal)),), headers=headers)

    def say(self, said: Said) -> Response:
        """Return an answer, whole or as a stream as the request has it."""
        if not self.request.is_streaming:
            return Response(200, (_json(self.wire.body(said)),))
        events = tuple(map(_event, self.wire.events(said)))
        return Response(200, (*events, self.wire.end) if self.wire.end else events, STREAM)

    def said(self, answer: Answer) -> Said:
        """Complete an answer with what only the server knows."""
        usage = answer.usage or replace(
            self.request.usage, output=self.meter.answered(answer.text, answer.calls)
        )
        stop: Stop = answer.stop or ("tools" if answer.calls else "end")
        return Said(
            number=self.request.number,
            model=self.request.model,
            text=answer.text,
            usage=usage,
            calls=answer.calls,
            stop=stop,
            thinking=answer.thinking,
            counted=self.request.wants_usage,
        )

    def novel(self, tokens: int) -> str:
        """Write a text of about so many tokens."""
        # The count of one sentence alone is rounded, and a novel has hundreds.
        hundred = max(1, self.meter.counter.text(_SENTENCE * 100))
        return _SENTENCE * (1 - (-100 * min(tokens, LONGEST) // hundred))


# --- steps ---------------------------------------------------------------------------------


def _answer(stage: Stage, step: Answer | str) -> Response:
    return stage.say(stage.said(Answer(step) if isinstance(step, str) else step))


def _tool(stage: Stage, step: Tool) -> Response:
    return _answer(stage, Answer(calls=(step,)))


def _echo(stage: Stage, step: Echo) -> Response:
    return _answer(stage, Answer(step.prefix + stage.request.last))


def _novel(stage: Stage, step: Novel) -> Response:
    return _answer(stage, Answer(stage.novel(step.tokens), stop=step.stop))


def _capped(stage: Stage, step: Capped) -> Response:
    return _answer(stage, Answer(step.text, stop="length"))


def _refused(stage: Stage, step: Refuse) -> Response:
    return _answer(stage, Answer(step.text, stop="refusal"))


def _nothing(stage: Stage, step: Nothing) -> Response:
    said = stage.said(Answer(usage=replace(stage.request.usage, output=0)))
    return stage.say(replace(said, blank=step.kind))


def _malformed(stage: Stage, _: Malformed) -> Response:
    whole = _answer(stage, Answer("This is never read."))
    chunks = whole.chunks[:2] if whole.is_stream else whole.chunks
    last = chunks[-1]
    broken = last[: len(last) // 2] + (b"\n\n" if whole.is_stream else b"")
    return replace(whole, chunks=(*chunks[:-1], broken))


def _cut(stage: Stage, step: Cut) -> Response:
    return replace(_answer(stage, step.answer), after=max(0, step.after), ending="cut")


def _stall(stage: Stage, step: Stall) -> Response:
    whole = _answer(stage, step.answer)
    return replace(whole, after=max(0, step.after), ending="stalled", seconds=step.seconds)


def _status(stage: Stage, step: Status) -> Response:
    refusal = Refusal(step.status, step.message, step.code)
    return stage.refuse(refusal, again=step.again, wait=step.retry_after)


def _rate_limit(stage: Stage, step: RateLimit) -> Response:
    model = stage.request.model
    text = (
        f"Request too large for {model} in organization org-scripted on tokens per min (TPM): "
        f"Limit {step.limit}, Requested {step.asked}. The input or output tokens must be reduced "
        "in order to run successfully."
    )
    if stage.wire.dialect == "anthropic":
        text = (
            "This request would exceed your organization's rate limit of "
            f"{step.limit:,} input tokens per minute (model: {model})."
        )
    return stage.refuse(Refusal(429, text), again=step.again, wait=step.retry_after)


def _overflow(stage: Stage, step: Overflow) -> Response:
    limit = step.limit or stage.window
    asked = step.asked or max(stage.request.tokens, limit + 1)
    return stage.refuse(stage.wire.overflow(limit, asked, None))


def _raw(_: Stage, step: Raw) -> Response:
    return Response(step.status, (step.body,), step.type)


_PLAYS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Stage, Any], Response]], ...]] = (
    ((Answer, str), _answer),
    (Tool, _tool),
    (Echo, _echo),
    (Novel, _novel),
    (Capped, _capped),
    (Refuse, _refused),
    (Nothing, _nothing),
    (Malformed, _malformed),
    (Cut, _cut),
    (Stall, _stall),
    (Status, _status),
    (RateLimit, _rate_limit),
    (Overflow, _overflow),
    (Raw, _raw),
)


# --- bytes ---------------------------------------------------------------------------------


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _event(event: dict[str, Any]) -> bytes:
    """Write an event; the chunks of chat completions have no name."""
    name = event.get("type")
    head = f"event: {name}\n".encode() if isinstance(name, str) else b""
    return head + b"data: " + _json(event) + b"\n\n"


def framed(response: Response) -> Iterator[bytes]:
    """Yield the body as it goes over the connection: chunk by chunk in a stream, else at once."""
    if not response.is_stream:
        yield b"".join(response.chunks)
        return
    for chunk in response.chunks:
        yield f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"
    yield b"0\r\n\r\n"
