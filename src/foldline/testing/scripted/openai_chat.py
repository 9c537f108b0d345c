"""OpenAI chat completions, as its server writes them; errors are written alike in Responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from foldline.testing.scripted.steps import ProviderError, ScriptedAnswer, number_of, pieces
from foldline.values.messages import Usage

CREATED: Final = 1_760_000_000
"""The time of every answer, in seconds since 1970: the same script, the same bytes."""

OPENAI_ERRORS: Final = {
    400: ("invalid_request_error", "", "The request is invalid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("permission_error", "", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    503: ("server_error", "", "The engine is currently overloaded, please try again later."),
}


def openai_error(refusal: ProviderError) -> dict[str, Any]:
    """Write an error as OpenAI does."""
    unknown = ("server_error", "", "The server had an error while processing your request.")
    kind, code, words = OPENAI_ERRORS.get(refusal.status, unknown)
    return {
        "error": {
            "message": refusal.message or words,
            "type": kind,
            "param": refusal.param,
            "code": refusal.code or code or None,
        }
    }


_STOPS = {"tools": "tool_calls", "length": "length", "overflow": "length"}


class OpenAIChatWriter:
    """``POST /v1/chat/completions``."""

    dialect: ClassVar[str] = "openai-chat"
    required: ClassVar[tuple[str, ...]] = ("model", "messages")
    end: ClassVar[bytes] = b"data: [DONE]\n\n"

    def cap(self, body: dict[str, Any]) -> int | None:
        """Return the most that a request lets the model write, in tokens."""
        return number_of(body.get("max_completion_tokens")) or number_of(body.get("max_tokens"))

    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.blank == "missing":
            del message["content"]
        elif answer.blank:
            message["content"] = answer.silent
        message["refusal"] = None
        if answer.stop == "refusal":
            message |= {"content": None, "refusal": answer.text}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = _calls(answer)
        choice = {"index": 0, "message": message, "finish_reason": _STOPS.get(answer.stop, "stop")}
        choices = [] if answer.blank == "none" else [choice | {"logprobs": None}]
        return _head(answer, "chat.completion") | {
            "choices": choices,
            "usage": _usage(answer.usage),
        }

    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as chunks; the usage only if it was asked for."""
        head = _head(answer, "chat.completion.chunk")
        if answer.counted:
            head["usage"] = None
        for delta in _deltas(answer):
            yield head | {"choices": [_choice(delta)]}
        if answer.blank != "none":
            yield head | {"choices": [_choice({}, _STOPS.get(answer.stop, "stop"))]}
        if answer.counted:
            yield head | {"choices": [], "usage": _usage(answer.usage)}

    def error(self, refusal: ProviderError) -> dict[str, Any]:
        """Write an error."""
        return openai_error(refusal)

    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:
        """Say that a request is too long, and by how much."""
        counted = f"your messages resulted in {given} tokens"
        if cap is not None and given <= limit:
            counted = (
                f"you requested {given + cap} tokens ({given} in the messages, {cap} in the "
                "completion)"
            )
        text = (
            f"This model's maximum context length is {limit} tokens. However, {counted}. "
            "Please reduce the length of the messages."
        )
        return ProviderError(400, text, "context_length_exceeded", "messages")


def _head(answer: ScriptedAnswer, kind: str) -> dict[str, Any]:
    return {
        "id": answer.id("chatcmpl-"),
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "system_fingerprint": None,
    }


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _calls(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id or answer.id("call_", position),
            "type": "function",
            "function": {"name": call.name, "arguments": call.json},
        }
        for position, call in enumerate(answer.calls)
    ]


def _deltas(answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
    if answer.blank == "none":
        return
    if answer.blank:
        silent = {} if answer.blank == "missing" else {"content": answer.silent}
        yield {"role": "assistant", **silent}
        return
    yield {"role": "assistant", "content": ""}
    for piece in pieces(answer.thinking):
        yield {"reasoning_content": piece}
    for piece in pieces(answer.text):
        yield {"refusal" if answer.stop == "refusal" else "content": piece}
    for index, call in enumerate(_calls(answer)):
        function = call["function"]
        start = call | {"function": function | {"arguments": ""}}
        yield {"tool_calls": [{"index": index, **start}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.read
    return {
        "prompt_tokens": given,
        "completion_tokens": usage.output,
        "total_tokens": given + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
