"""
OpenAI's two protocols: requests, answers and streams.

Most other servers implement chat completions too; the Responses API only OpenAI and a few
gateways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


class OpenAIChatProtocol(ProviderProtocol):
    """Chat completions."""

    dialect = "openai-chat"
    path = "/chat/completions"

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """
        Write a request.

        OpenAI's own models take ``max_completion_tokens``, which includes reasoning; compatible
        servers take ``max_tokens``.
        """
        before = [{"role": "system", "content": request.system}] if request.system else []
        body = {**shared_fields(request), "messages": [*before, *request.messages]}
        if request.max_tokens is not None:
            own = request.info.provider == "openai"
            body["max_completion_tokens" if own else "max_tokens"] = request.max_tokens
        if request.stream:
            body["stream_options"] = {"include_usage": True}
        return body

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It holds no choice, or an error.
        """
        choices = objects(body.get("choices"))
        if not choices and body.get("error"):
            raise provider_error(dict(body))
        if not choices:
            raise malformed_answer("holds no choice")
        choice = choices[0]
        if choice.get("error"):
            # OpenRouter reports upstream errors inside the choice.
            raise provider_error(choice)
        message = mapping(choice.get("message"))
        refusal = text(message.get("refusal"))
        content = message.get("content")
        done = Completion(
            messages=({"role": "assistant", **message},) if message else (),
            text=text(content) or "".join(text(part.get("text")) for part in objects(content)),
            calls=tuple(_message_calls(message)),
            stop="refusal" if refusal else read_stop(choice.get("finish_reason")),
            usage=read_usage(body.get("usage")),
            model=text(body.get("model")),
            thinking=text(message.get("reasoning_content")) or text(message.get("reasoning")),
            refusal=refusal,
        )
        return with_calls(done)

    def assembler(self) -> ChatAssembler:
        """Return an assembler of deltas."""
        return ChatAssembler()


def _message_calls(message: Mapping[str, Any]) -> list[Any]:
    found = []
    for item in objects(message.get("tool_calls")):
        function = mapping(item.get("function")) or mapping(item.get("custom"))
        arguments = function.get("arguments", function.get("input"))
        found.append(call(item.get("id"), function.get("name"), arguments))
    old = mapping(message.get("function_call"))
    if old and not found:
        found.append(call(None, old.get("name"), old.get("arguments")))
    return found


# --- streams of chat completions ---------------------------------------------------------------

FIELDS: Final[dict[str, Piece | None]] = {
    "reasoning_content": "thinking",
    "reasoning": "thinking",
    "content": "text",
    "refusal": None,
}
"""The text fields of a delta, and the kind of text in each."""


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def wire(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": "".join(self.arguments)}
        return {"id": self.id, "type": "function", "function": function}


class ChatAssembler:
    """Collects the deltas of the first choice."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._calls: dict[int, _Call] = {}
        self._reason = ""
        self._usage: Any = None
        self._model = ""
        self._done = False

    def take(self, event: ServerSentEvent) -> list[Delta]:
        """Process a chunk; see `foldline.models.completion.Assembler`."""
        if event.data.strip() == DONE:
            self._done = True
            return []
        chunk = event.value()
        if chunk.get("error"):
            raise provider_error(chunk)
        self._model = text(chunk.get("model")) or self._model
        self._usage = chunk.get("usage") or self._usage
        out: list[Delta] = []
        for choice in objects(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                out += self._choice(choice)
        return out

    def _choice(self, choice: dict[str, Any]) -> list[Delta]:
        if choice.get("error"):
            raise provider_error(choice)
        self._reason = text(choice.get("finish_reason")) or self._reason
        delta = mapping(choice.get("delta"))
        out: list[Delta] = []
        for key, kind in FIELDS.items():
            piece = text(delta.get(key))
            # A server may send the same reasoning under both names.
            again = key == "reasoning" and text(delta.get("reasoning_content"))
            if piece and not again:
                self._pieces.setdefault(key, []).append(piece)
                out += [Delta(kind, piece)] if kind else []
        tool_calls = enumerate(objects(delta.get("tool_calls")))
        return out + [self._call(item, position) for position, item in tool_calls]

    def _call(self, item: dict[str, Any], position: int) -> Delta:
        index = item.get("index")
        # Servers that omit the index send whole calls, one after the other.
        key = index if isinstance(index, int) else len(self._calls) + position
        call = self._calls.setdefault(key, _Call())
        function = mapping(item.get("function"))
        call.id = call.id or text(item.get("id"))
        name = "" if call.name else text(function.get("name"))
        call.name = call.name or name
        piece = text(function.get("arguments"))
        call.arguments.append(piece)
        return Delta("call", piece, key, name)

    def whole(self) -> dict[str, Any]:
        """Return the answer; see `foldline.models.completion.Assembler`."""
        if not self._reason and not self._done:
            raise truncated_stream()
        texts = {key: "".join(pieces) for key, pieces in self._pieces.items()}
        message: dict[str, Any] = {"role": "assistant", "content": None, **texts}
        if self._calls:
            message["tool_calls"] = [self._calls[key].wire() for key in sorted(self._calls)]
        choice = {"message": message, "finish_reason": self._reason}
        return {"model": self._model, "choices": [choice], "usage": self._usage}


# --- Responses ---------------------------------------------------------------------------------

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that call a client tool, and the key of their arguments."""


class OpenAIResponsesProtocol(ProviderProtocol):
    """The Responses API."""

    dialect = "openai-responses"
    path = "/responses"

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """
        Write a request.

        Nothing is stored on the server, so reasoning must be returned encrypted, to be sent with
        the next request.
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
            ModelError: It failed, or it is malformed.
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
            calls=_item_calls(items),
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


def _item_calls(items: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    pairs = ((item, CALLS[item["type"]]) for item in items if item.get("type") in CALLS)
    return tuple(call(item.get("call_id"), item.get("name"), item.get(key)) for item, key in pairs)


def _stop(body: Mapping[str, Any]) -> Stop:
    if body.get("status") != "incomplete":
        return "end" if body.get("status") == "completed" else "unknown"
    return read_stop(mapping(body.get("incomplete_details")).get("reason"))


# --- streams of Responses ----------------------------------------------------------------------

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
        """Process an event; see `foldline.models.completion.Assembler`."""
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
        # Some gateways omit the output from the last event.
        arrived = [self._items[place] for place in sorted(self._items)]
        return {**self._whole, "output": objects(self._whole.get("output")) or arrived}
