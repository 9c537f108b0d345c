"""OpenAI Responses, without a state on the server: every request holds the whole conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.core.asks import Stop
from foldline.models.completion import Completion
from foldline.models.failures import failure
from foldline.models.openai_responses_stream import ResponsesAssembler
from foldline.models.protocol import (
    Question,
    call,
    mapping,
    objects,
    openai_usage,
    text,
    unreadable,
    with_calls,
)
from foldline.values.messages import ToolCall

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that ask for a tool of the caller, and where their arguments are."""

INCOMPLETE: Final[dict[str, Stop]] = {
    "max_output_tokens": "length",
    "content_filter": "refusal",
    "model_context_window_exceeded": "overflow",
    "context_length_exceeded": "overflow",
}


class OpenAIResponses:
    """The Responses API."""

    dialect = "openai-responses"
    path = "/responses"

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, question: Question) -> dict[str, Any]:
        """
        Write a request.

        Nothing is stored on the server. So reasoning has to come back sealed, or the next request
        could not hold it.
        """
        body: dict[str, Any] = {
            "model": question.model,
            "input": list(question.messages),
            "store": False,
        }
        if question.info.provider == "openai" and question.info.thinks:
            body["include"] = ["reasoning.encrypted_content"]
        if question.system:
            body["instructions"] = question.system
        if question.max_tokens is not None:
            body["max_output_tokens"] = question.max_tokens
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
            ModelError: It failed, or it is no answer.
        """
        if body.get("error") or body.get("status") in ("failed", "cancelled"):
            raise failure({"error": body.get("error") or f"status {body.get('status')}"})
        if not isinstance(body.get("output"), list):
            raise unreadable("holds no output")
        items = objects(body["output"])
        parts = [part for item in items for part in _parts(item)]
        refusal = "".join(text(p.get("refusal")) for p in parts if p.get("type") == "refusal")
        done = Completion(
            messages=tuple(items),
            text="".join(text(p.get("text")) for p in parts if p.get("type") == "output_text"),
            calls=_calls(items),
            stop="refusal" if refusal else _stop(body),
            usage=openai_usage(body.get("usage"), "input_tokens", "output_tokens"),
            model=text(body.get("model")),
            thinking="\n".join(
                text(piece.get("text"))
                for item in items
                if item.get("type") == "reasoning"
                for piece in objects(item.get("summary"))
            ),
            refusal=refusal,
        )
        return with_calls(done)

    def assembler(self) -> ResponsesAssembler:
        """Return what puts a stream together."""
        return ResponsesAssembler()


def _parts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    return objects(item.get("content")) if item.get("type", "message") == "message" else []


def _calls(items: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        call(item.get("call_id"), item.get("name"), item.get(CALLS[item["type"]]))
        for item in items
        if item.get("type") in CALLS
    )


def _stop(body: Mapping[str, Any]) -> Stop:
    if body.get("status") != "incomplete":
        return "end" if body.get("status") == "completed" else "unknown"
    reason = text(mapping(body.get("incomplete_details")).get("reason"))
    return INCOMPLETE.get(reason, "unknown")
