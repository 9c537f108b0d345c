"""OpenAI chat completions, as its server writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from foldline.testing.scripted import openai_words
from foldline.testing.scripted.wire import Refusal, Said, number_of, pieces
from foldline.values.messages import Usage

_STOPS = {"tools": "tool_calls", "length": "length", "overflow": "length"}


class Chat:
    """``POST /v1/chat/completions``."""

    dialect: ClassVar[str] = "openai-chat"
    required: ClassVar[tuple[str, ...]] = ("model", "messages")
    end: ClassVar[bytes] = b"data: [DONE]\n\n"

    def cap(self, body: dict[str, Any]) -> int | None:
        """Return the most that a request lets the model write, in tokens."""
        return number_of(body.get("max_completion_tokens")) or number_of(body.get("max_tokens"))

    def body(self, said: Said) -> dict[str, Any]:
        """Write an answer whole."""
        message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
        if said.blank == "missing":
            del message["content"]
        elif said.blank:
            message["content"] = said.silent
        message["refusal"] = None
        if said.stop == "refusal":
            message |= {"content": None, "refusal": said.text}
        if said.thinking:
            message["reasoning_content"] = said.thinking
        if said.calls:
            message["tool_calls"] = _calls(said)
        choice = {"index": 0, "message": message, "finish_reason": _STOPS.get(said.stop, "stop")}
        choices = [] if said.blank == "none" else [choice | {"logprobs": None}]
        return _head(said, "chat.completion") | {"choices": choices, "usage": _usage(said.usage)}

    def events(self, said: Said) -> Iterator[dict[str, Any]]:
        """Write an answer as chunks; the usage only if it was asked for."""
        head = _head(said, "chat.completion.chunk")
        if said.counted:
            head["usage"] = None
        for delta in _deltas(said):
            yield head | {"choices": [_choice(delta)]}
        if said.blank != "none":
            yield head | {"choices": [_choice({}, _STOPS.get(said.stop, "stop"))]}
        if said.counted:
            yield head | {"choices": [], "usage": _usage(said.usage)}

    def error(self, refusal: Refusal) -> dict[str, Any]:
        """Write an error."""
        return openai_words.error(refusal)

    def overflow(self, limit: int, given: int, cap: int | None) -> Refusal:
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
        return Refusal(400, text, "context_length_exceeded", "messages")


def _head(said: Said, kind: str) -> dict[str, Any]:
    return {
        "id": said.id("chatcmpl-"),
        "object": kind,
        "created": openai_words.CREATED,
        "model": said.model,
        "system_fingerprint": None,
    }


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _calls(said: Said) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id or said.id("call_", position),
            "type": "function",
            "function": {"name": call.name, "arguments": call.json},
        }
        for position, call in enumerate(said.calls)
    ]


def _deltas(said: Said) -> Iterator[dict[str, Any]]:
    if said.blank == "none":
        return
    if said.blank:
        silent = {} if said.blank == "missing" else {"content": said.silent}
        yield {"role": "assistant", **silent}
        return
    yield {"role": "assistant", "content": ""}
    for piece in pieces(said.thinking):
        yield {"reasoning_content": piece}
    for piece in pieces(said.text):
        yield {"refusal" if said.stop == "refusal" else "content": piece}
    for index, call in enumerate(_calls(said)):
        function = call["function"]
        start = call | {"function": function | {"arguments": ""}}
        yield {"tool_calls": [{"index": index, **start}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": given,
        "completion_tokens": usage.output,
        "total_tokens": given + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
