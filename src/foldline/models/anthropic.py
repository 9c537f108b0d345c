"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.core.asks import Stop
from foldline.models.anthropic_stream import AnthropicAssembler
from foldline.models.completion import Completion
from foldline.models.failures import failure
from foldline.models.protocol import Question, call, count, mapping, objects, text, unreadable
from foldline.values.messages import Usage

VERSION: Final = "2023-06-01"

UNCAPPED: Final = 16_384
"""The cap where none is given, in tokens: what a session reserves for the answer."""

STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "tool_use": "tools",
    "pause_turn": "unknown",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}


class Anthropic:
    """The Messages API."""

    dialect = "anthropic"
    path = "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """Return the version, and the key."""
        version = {"anthropic-version": VERSION}
        return {**version, "x-api-key": key} if key else version

    def body(self, question: Question) -> dict[str, Any]:
        """Write a request; a cap is demanded here, so that `UNCAPPED` stands for none."""
        body: dict[str, Any] = {
            "model": question.model,
            "max_tokens": question.max_tokens or min(UNCAPPED, question.info.output),
            "messages": list(question.messages),
        }
        if question.system:
            body["system"] = question.system
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if question.tools:
            body["tools"] = list(question.tools)
        if question.stream:
            body["stream"] = True
        return body

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It is none, or an error.
        """
        if body.get("type") == "error" or body.get("error"):
            raise failure(dict(body))
        if not isinstance(body.get("content"), list):
            raise unreadable("holds no content")
        blocks = objects(body["content"])
        said = "".join(text(b.get("text")) for b in blocks if b.get("type") == "text")
        stop = STOPS.get(text(body.get("stop_reason")), "unknown")
        return Completion(
            messages=({"role": "assistant", "content": blocks},) if blocks else (),
            text=said,
            calls=tuple(
                call(b.get("id"), b.get("name"), b.get("input"))
                for b in blocks
                if b.get("type") == "tool_use"
            ),
            stop=stop,
            usage=_usage(body.get("usage")),
            model=text(body.get("model")),
            thinking="".join(
                text(b.get("thinking")) for b in blocks if b.get("type") == "thinking"
            ),
            refusal=said if stop == "refusal" else "",
        )

    def assembler(self) -> AnthropicAssembler:
        """Return what puts a stream together."""
        return AnthropicAssembler()


def _usage(value: Any) -> Usage | None:
    usage = mapping(value)
    found = Usage(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
    )
    return found if found.total else None
