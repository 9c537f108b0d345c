"""The responses of Anthropic Messages."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar, Final

from foldline.testing.scripted.steps import (
    AnswerWriter,
    ProviderError,
    ScriptedAnswer,
    pieces,
    usual_error,
)
from foldline.values.messages import Usage

_STOPS: Final = {
    "tools": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "overflow": "model_context_window_exceeded",
}


class AnthropicWriter(AnswerWriter):
    """``POST /v1/messages``."""

    dialect: ClassVar[str] = "anthropic"
    required: ClassVar[tuple[str, ...]] = ("model", "messages", "max_tokens")
    caps: ClassVar[tuple[str, ...]] = ("max_tokens",)

    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""
        return _head(answer) | {
            "content": _blocks(answer),
            "stop_reason": _STOPS.get(answer.stop, "end_turn"),
            "stop_sequence": None,
            "usage": _usage(answer.usage),
        }

    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as the events of a stream."""
        begin: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
        usage = _usage(answer.usage)
        message = _head(answer) | begin | {"usage": usage | {"output_tokens": 1}}
        yield {"type": "message_start", "message": message}
        for index, block in enumerate(_blocks(answer)):
            empty, deltas = _stream_block(block)
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            if index == 0:
                yield {"type": "ping"}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stop = {"stop_reason": _STOPS.get(answer.stop, "end_turn"), "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": usage}
        yield {"type": "message_stop"}

    def error(self, refusal: ProviderError) -> dict[str, Any]:
        """Write an error."""
        usual = usual_error("anthropic", refusal.status)
        kind, words = refusal.code or usual["type"], refusal.message or usual["message"]
        error = {"type": kind, "message": words}
        return {"type": "error", "error": error, "request_id": "req_scripted"}

    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:
        """Return the error for a request that is too long, with the sizes."""
        if cap is not None and given <= limit:
            over = f"input length and `max_tokens` exceed context limit: {given} + {cap} > {limit}"
            todo = "decrease input length or `max_tokens` and try again"
            return ProviderError(400, f"{over}, {todo}")
        return ProviderError(400, f"prompt is too long: {given} tokens > {limit} maximum")


class TokenCountWriter(AnthropicWriter):
    """``POST /v1/messages/count_tokens``."""

    required: ClassVar[tuple[str, ...]] = ("model", "messages")


def _head(answer: ScriptedAnswer) -> dict[str, Any]:
    return {"id": answer.id("msg_"), "type": "message", "role": "assistant", "model": answer.model}


def _blocks(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    if answer.blank:
        silent = {} if answer.blank == "missing" else {"text": answer.silent}
        return [] if answer.blank == "none" else [{"type": "text", **silent}]
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        signature = b64encode(answer.id("signature of ").encode()).decode()
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for position, call in enumerate(answer.calls):
        number = call.id or answer.id("toolu_", position)
        named = {"type": "tool_use", "id": number, "name": call.name}
        blocks.append({**named, "input": call.object})
    return blocks


def _stream_block(block: dict[str, Any]) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return a block at its start, and the deltas that fill it."""
    if block["type"] == "tool_use":
        texts = pieces(json.dumps(block["input"]))
        deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in texts)
        return block | {"input": {}}, deltas
    if block["type"] == "thinking":
        thoughts = ({"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"]))
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return block | {"thinking": "", "signature": ""}, chain(thoughts, (signature,))
    if not block.get("text"):
        return block, iter(())
    deltas = ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
    return block | {"text": ""}, deltas


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }
