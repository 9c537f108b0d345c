"""OpenAI chat completions, and all servers that speak it: requests, answers and streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
from foldline.values.usage import read_usage


class OpenAIChatProtocol(ProviderProtocol):
    """Chat completions."""

    dialect = "openai-chat"
    path = "/chat/completions"

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """
        Write a request.

        OpenAI's own models take ``max_completion_tokens``, which counts reasoning; the imitators
        know ``max_tokens``.
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
            # OpenRouter reports what failed upstream inside the choice.
            raise provider_error(choice)
        message = mapping(choice.get("message"))
        refusal = text(message.get("refusal"))
        content = message.get("content")
        done = Completion(
            messages=({"role": "assistant", **message},) if message else (),
            text=text(content) or "".join(text(part.get("text")) for part in objects(content)),
            calls=tuple(_calls(message)),
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


def _calls(message: Mapping[str, Any]) -> list[Any]:
    found = []
    for item in objects(message.get("tool_calls")):
        function = mapping(item.get("function")) or mapping(item.get("custom"))
        arguments = function.get("arguments", function.get("input"))
        found.append(call(item.get("id"), function.get("name"), arguments))
    old = mapping(message.get("function_call"))
    if old and not found:
        found.append(call(None, old.get("name"), old.get("arguments")))
    return found


# --- streams -----------------------------------------------------------------------------------

FIELDS: Final[dict[str, Piece | None]] = {
    "reasoning_content": "thinking",
    "reasoning": "thinking",
    "content": "text",
    "refusal": None,
}
"""The texts of a message, and what each is a piece of."""


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
        """Take a chunk in; see `foldline.models.completion.Assembler`."""
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
            # A server may send the same thought under both names.
            again = key == "reasoning" and text(delta.get("reasoning_content"))
            if piece and not again:
                self._pieces.setdefault(key, []).append(piece)
                out += [Delta(kind, piece)] if kind else []
        tool_calls = enumerate(objects(delta.get("tool_calls")))
        return out + [self._call(item, position) for position, item in tool_calls]

    def _call(self, item: dict[str, Any], position: int) -> Delta:
        index = item.get("index")
        # Servers that leave the index out send whole calls, one after the other.
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
