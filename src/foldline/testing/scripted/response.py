"""Turn a step into the bytes of its response, and the fate of the connection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from foldline.core.asks import Stop
from foldline.frozen import field, frozen, replace
from foldline.testing.scripted import steps
from foldline.testing.scripted.request import ReceivedRequest, TokenMeter

JSON: Final = "application/json"
STREAM: Final = "text/event-stream; charset=utf-8"

LONGEST: Final = 1_000_000
"""Maximum tokens of a `Novel`."""

_SENTENCE: Final = "And then the lighthouse keeper wrote down the weather of another day. "


@frozen
class Response:
    """
    A response.

    ``chunks`` are sent one by one in a stream, otherwise as one body. If ``after`` is a number,
    only that many bytes of the body are sent before the connection ends as in ``ending``; 0 means
    not even a status line. A stalled connection is held for ``seconds``.
    """

    status: int
    chunks: tuple[bytes, ...]
    type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int | None = None
    ending: Literal["done", "cut", "stalled"] = "done"
    seconds: float | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the chunks are events."""
        return self.type == STREAM


@frozen
class StepPlayer:
    """Plays a step, with the writer, the request, and the state of the server."""

    writer: steps.AnswerWriter
    request: ReceivedRequest
    meter: TokenMeter
    window: int

    def play(self, step: steps.Step | str) -> Response:
        """
        Return the response of a step.

        Raises:
            TypeError: It is not a step.
        """
        answer = self._answer(step)
        if answer is not None:
            return self.respond(self.complete(answer))
        match step:
            case steps.Nothing(kind):
                silent = self.complete(steps.Answer(usage=replace(self.request.usage, output=0)))
                return self.respond(replace(silent, blank=kind))
            case steps.Malformed():
                return _break(self.play("This is never read."))
            case steps.CutOff(after, answer):
                return replace(self.play(answer), after=max(0, after), ending="cut")
            case steps.Stall(seconds, after, answer):
                whole = self.play(answer)
                return replace(whole, after=max(0, after), ending="stalled", seconds=seconds)
            case steps.Raw(body, status, kind):
                return Response(status, (body,), kind)
            case steps.Status() | steps.RateLimit() | steps.Overflow():
                return self._failure(step)
        raise TypeError(f"{type(step).__name__} is not a step of a script")

    def _answer(self, step: steps.Step | str) -> steps.Answer | None:
        """Return the ordinary answer of a step; None if it has none."""
        match step:
            case str():
                return steps.Answer(step)
            case steps.Answer():
                return step
            case steps.CallTool():
                return steps.Answer(calls=(step,))
            case steps.Echo(prefix):
                return steps.Answer(prefix + self.request.last)
            case steps.Novel(tokens, stop):
                return steps.Answer(self._novel(tokens), stop=stop)
            case steps.Capped(text):
                return steps.Answer(text, stop="length")
            case steps.Refuse(text):
                return steps.Answer(text, stop="refusal")
        return None

    def _failure(self, step: steps.Status | steps.RateLimit | steps.Overflow) -> Response:
        if isinstance(step, steps.Overflow):
            limit = step.limit or self.window
            requested = step.requested or max(self.request.tokens, limit + 1)
            return self.reject(self.writer.overflow(limit, requested, None))
        if isinstance(step, steps.Status):
            error = steps.ProviderError(step.status, step.message, step.code)
        else:
            error = steps.ProviderError(429, self._rate_limit(step))
        return self.reject(error, again=step.again, wait=step.retry_after)

    def _rate_limit(self, step: steps.RateLimit) -> str:
        model = self.request.model
        if self.writer.dialect == "anthropic":
            most = f"{step.limit:,} input tokens per minute (model: {model})"
            return f"This request would exceed your organization's rate limit of {most}."
        where = f"{model} in organization org-scripted on tokens per min (TPM)"
        figures = f"Limit {step.limit}, Requested {step.requested}"
        todo = "The input or output tokens must be reduced in order to run successfully."
        return f"Request too large for {where}: {figures}. {todo}"

    def reject(
        self, refusal: steps.ProviderError, *, again: bool | None = None, wait: float | None = None
    ) -> Response:
        """Return an error with the provider's wording."""
        headers = {} if again is None else {"x-should-retry": str(again).lower()}
        if wait is not None:
            headers |= {"retry-after": f"{wait:g}", "retry-after-ms": f"{wait * 1000:g}"}
        return Response(refusal.status, (_json(self.writer.error(refusal)),), headers=headers)

    def respond(self, answer: steps.ScriptedAnswer) -> Response:
        """Return an answer, whole or streamed, as requested."""
        if not self.request.is_streaming:
            return Response(200, (_json(self.writer.body(answer)),))
        events = tuple(map(_event, self.writer.events(answer)))
        return Response(200, (*events, self.writer.end) if self.writer.end else events, STREAM)

    def complete(self, answer: steps.Answer) -> steps.ScriptedAnswer:
        """Complete an answer with the server's data."""
        output = self.meter.count_answer(answer.text, answer.calls)
        usage = answer.usage or replace(self.request.usage, output=output)
        stop: Stop = answer.stop or ("tools" if answer.calls else "end")
        content = (answer.text, usage, answer.calls, stop, answer.thinking)
        number, model, counted = self.request.number, self.request.model, self.request.wants_usage
        return steps.ScriptedAnswer(number, model, *content, counted=counted)

    def _novel(self, tokens: int) -> str:
        """Write a text of about ``tokens`` tokens."""
        # The count of a single sentence is rounded, and a novel has hundreds.
        hundred = max(1, self.meter.counter.text(_SENTENCE * 100))
        return _SENTENCE * (1 - (-100 * min(tokens, LONGEST) // hundred))


def _break(whole: Response) -> Response:
    """Return a response that ends in the middle of its JSON, or of its second event."""
    chunks = whole.chunks[:2] if whole.is_stream else whole.chunks
    half = chunks[-1][: len(chunks[-1]) // 2] + (b"\n\n" if whole.is_stream else b"")
    return replace(whole, chunks=(*chunks[:-1], half))


# --- bytes ---------------------------------------------------------------------------------


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _event(event: dict[str, Any]) -> bytes:
    """Write an event; the chunks of chat completions have no name."""
    name = event.get("type")
    head = f"event: {name}\n".encode() if isinstance(name, str) else b""
    return head + b"data: " + _json(event) + b"\n\n"


def frame(response: Response) -> Iterator[bytes]:
    """Yield the body as sent over the connection: chunk by chunk in a stream, else at once."""
    if not response.is_stream:
        yield b"".join(response.chunks)
        return
    for chunk in response.chunks:
        yield f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"
    yield b"0\r\n\r\n"
