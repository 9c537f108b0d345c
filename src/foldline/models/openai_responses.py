"""OpenAI Responses: requests, answers and streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.core.asks import Stop
from foldline.models.completion import (
    DONE,
    Completion,
    CompletionRequest,
    Delta,
    Piece,
    ProviderProtocol,
    ServerSentEvent,
    call,
    malformed_answer,
    mapping,
    objects,
    read_stop,
    shared_fields,
    text,
    truncated_stream,
    with_calls,
)
from foldline.models.errors import provider_error
from foldline.values.messages import ToolCall
from foldline.values.usage import read_usage

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that ask for a tool of the caller, and where their arguments are."""


class OpenAIResponsesProtocol(ProviderProtocol):
    """The Responses API."""

    dialect = "openai-responses"
    path = "/responses"

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """
        Write a request.

        Nothing is stored on the server. So reasoning has to come back sealed, or the next request
        could not hold it.
        """
        body = {**shared_fields(request), "input": list(request.messages), "store": False}
        if request.info.provider == "openai" and request.info.thinks:
            body["include"] = ["reasoning.encrypted_content"]
        if request.system:
            body["instructions"] = request.system
        if request.max_tokens is not None:
            body["max_output_tokens"] = request.max_tokens
        return body

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It failed, or it is no answer.
        """
        if body.get("error") or body.get("status") in ("failed", "cancelled"):
            raise provider_error({"error": body.get("error") or f"status {body.get('status')}"})
        if not isinstance(body.get("output"), list):
            raise malformed_answer("holds no output")
        items = objects(body["output"])
        messages = (item for item in items if item.get("type", "message") == "message")
        parts = [part for item in messages for part in objects(item.get("content"))]
        refusal = "".join(text(p.get("refusal")) for p in parts if p.get("type") == "refusal")
        reasoning = (item for item in items if item.get("type") == "reasoning")
        summaries = (piece for item in reasoning for piece in objects(item.get("summary")))
        done = Completion(
            messages=tuple(items),
            text="".join(text(p.get("text")) for p in parts if p.get("type") == "output_text"),
            calls=_calls(items),
            stop="refusal" if refusal else _stop(body),
            usage=read_usage(body.get("usage")),
            model=text(body.get("model")),
            thinking="\n".join(text(piece.get("text")) for piece in summaries),
            refusal=refusal,
        )
        return with_calls(done)

    def assembler(self) -> ResponsesAssembler:
        """Return an assembler of items."""
        return ResponsesAssembler()


def _calls(items: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    pairs = ((item, CALLS[item["type"]]) for item in items if item.get("type") in CALLS)
    return tuple(call(item.get("call_id"), item.get("name"), item.get(key)) for item, key in pairs)


def _stop(body: Mapping[str, Any]) -> Stop:
    if body.get("status") != "incomplete":
        return "end" if body.get("status") == "completed" else "unknown"
    return read_stop(mapping(body.get("incomplete_details")).get("reason"))


# --- streams -----------------------------------------------------------------------------------

ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})

PIECES: Final[dict[str, Piece]] = {
    "response.output_text.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "call",
    "response.custom_tool_call_input.delta": "call",
}


class ResponsesAssembler:
    """Waits for the last event, which holds the whole answer."""

    def __init__(self) -> None:
        self._items: dict[int, dict[str, Any]] = {}
        self._whole: dict[str, Any] | None = None

    def take(self, event: ServerSentEvent) -> list[Delta]:
        """Take an event in; see `foldline.models.completion.Assembler`."""
        if event.data.strip() == DONE:
            return []
        value = event.value()
        kind = text(value.get("type")) or event.name
        index = value.get("output_index")
        place = index if isinstance(index, int) else 0
        if kind == "error" or (not kind and value.get("error")):
            raise provider_error(value)
        if kind in ENDS:
            self._whole = mapping(value.get("response"))
        elif kind == "response.output_item.done":
            self._items[place] = mapping(value.get("item"))
        elif kind == "response.output_item.added":
            item = mapping(value.get("item"))
            if text(item.get("name")):
                return [Delta("call", "", place, text(item.get("name")))]
        elif kind in PIECES and text(value.get("delta")):
            piece = PIECES[kind]
            return [Delta(piece, text(value.get("delta")), place if piece == "call" else 0)]
        return []

    def whole(self) -> dict[str, Any]:
        """Return the answer; see `foldline.models.completion.Assembler`."""
        if self._whole is None:
            raise truncated_stream()
        # Some gateways leave the output out of the last event.
        arrived = [self._items[place] for place in sorted(self._items)]
        return {**self._whole, "output": objects(self._whole.get("output")) or arrived}
