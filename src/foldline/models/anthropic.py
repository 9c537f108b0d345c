"""Anthropic Messages: requests, answers and streams."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.models.completion import (
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
)
from foldline.models.errors import provider_error
from foldline.values.usage import read_usage

VERSION: Final = "2023-06-01"

UNCAPPED: Final = 16_384
"""The output cap without an explicit one, in tokens: what a session reserves for the answer."""


class AnthropicProtocol(ProviderProtocol):
    """The Messages API."""

    dialect = "anthropic"
    path = "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """Return the version, and the key."""
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """Write a request; this API requires a cap, so `UNCAPPED` is sent if there is none."""
        body = shared_fields(request) | ({"system": request.system} if request.system else {})
        cap = request.max_tokens or min(UNCAPPED, request.info.output)
        return {**body, "max_tokens": cap, "messages": list(request.messages)}

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It is malformed, or an error.
        """
        if body.get("type") == "error" or body.get("error"):
            raise provider_error(dict(body))
        if not isinstance(body.get("content"), list):
            raise malformed_answer("holds no content")
        blocks = objects(body["content"])
        reply, thoughts = (_joined(blocks, kind) for kind in ("text", "thinking"))
        tool_uses = (b for b in blocks if b.get("type") == "tool_use")
        stop = read_stop(body.get("stop_reason"))
        return Completion(
            messages=({"role": "assistant", "content": blocks},) if blocks else (),
            text=reply,
            calls=tuple(call(b.get("id"), b.get("name"), b.get("input")) for b in tool_uses),
            stop=stop,
            usage=read_usage(body.get("usage")),
            model=text(body.get("model")),
            thinking=thoughts,
            refusal=reply if stop == "refusal" else "",
        )

    def assembler(self) -> AnthropicAssembler:
        """Return an assembler of content blocks."""
        return AnthropicAssembler()


# --- streams -----------------------------------------------------------------------------------

PIECES: Final[dict[str, tuple[str, Piece | None]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", None),
    "input_json_delta": ("partial_json", "call"),
}
"""For each kind of delta: the field that it extends, and the kind of text."""


class AnthropicAssembler:
    """Builds the content block by block."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._done = False

    def take(self, event: ServerSentEvent) -> list[Delta]:
        """Process an event; see `foldline.models.completion.Assembler`."""
        value = event.value()
        given = value.get("index")
        index = given if isinstance(given, int) else 0
        match text(value.get("type")) or event.name:
            case "error":
                raise provider_error(value)
            case "message_start":
                self._message = mapping(value.get("message"))
            case "content_block_start":
                return self._start(index, mapping(value.get("content_block")))
            case "content_block_delta":
                return self._delta(index, mapping(value.get("delta")))
            case "message_delta":
                counted = mapping(value.get("usage")).items()
                fresh = {name: count for name, count in counted if count is not None}
                usage = {**mapping(self._message.get("usage")), **fresh}
                self._message = {**self._message, **mapping(value.get("delta")), "usage": usage}
            case "message_stop":
                self._done = True
        return []

    def _start(self, index: int, block: dict[str, Any]) -> list[Delta]:
        self._blocks[index] = dict(block)
        if block.get("type") == "tool_use":
            return [Delta("call", "", index, text(block.get("name")))]
        piece = text(block.get("text"))
        return [Delta("text", piece)] if piece else []

    def _delta(self, index: int, delta: dict[str, Any]) -> list[Delta]:
        if index not in self._blocks:
            raise malformed_answer("continues a block that was never begun")
        if delta.get("type") == "citations_delta":
            cited = self._blocks[index].get("citations") or []
            self._blocks[index]["citations"] = [*cited, delta.get("citation")]
            return []
        key, kind = PIECES.get(text(delta.get("type")), ("", None))
        piece = text(delta.get(key))
        if not piece:
            return []
        self._pieces.setdefault((index, key), []).append(piece)
        return [Delta(kind, piece, index if kind == "call" else 0)] if kind else []

    def whole(self) -> dict[str, Any]:
        """Return the answer; see `foldline.models.completion.Assembler`."""
        if not self._done:
            raise truncated_stream()
        for (index, key), pieces in self._pieces.items():
            block = self._blocks[index]
            whole = "".join(pieces)
            if key != "partial_json":
                block[key] = text(block.get(key)) + whole
                continue
            try:
                block["input"] = json.loads(whole)
            except (ValueError, RecursionError):  # cut off by the cap: it stays text
                block["input"] = {"input": whole}
        return {**self._message, "content": [self._blocks[i] for i in sorted(self._blocks)]}


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str) -> str:
    return "".join(text(block.get(kind)) for block in blocks if block.get("type") == kind)
