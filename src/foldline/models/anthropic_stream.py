"""Putting a stream of Anthropic Messages events together."""

from __future__ import annotations

import json
from typing import Any, Final

from foldline.models.completion import Delta
from foldline.models.failures import failure
from foldline.models.protocol import mapping, text, unfinished, unreadable
from foldline.models.sse import Event

PIECES: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", ""),
    "input_json_delta": ("partial_json", "call"),
}
"""By kind of delta: the field that grows, and what it is a piece of."""


class AnthropicAssembler:
    """Builds the content block by block."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._done = False

    def take(self, event: Event) -> list[Delta]:
        """Take an event in; see `foldline.models.protocol.Assembler`."""
        value = event.value()
        match text(value.get("type")) or event.name:
            case "error":
                raise failure(value)
            case "message_start":
                self._message = mapping(value.get("message"))
            case "content_block_start":
                return self._start(_index(value), mapping(value.get("content_block")))
            case "content_block_delta":
                return self._delta(_index(value), mapping(value.get("delta")))
            case "message_delta":
                usage = {**mapping(self._message.get("usage")), **_known(value.get("usage"))}
                self._message = {**self._message, **mapping(value.get("delta")), "usage": usage}
            case "message_stop":
                self._done = True
        return []

    def _start(self, index: int, block: dict[str, Any]) -> list[Delta]:
        self._blocks[index] = dict(block)
        if block.get("type") == "tool_use":
            return [Delta("call", "", index, text(block.get("name")))]
        said = text(block.get("text"))
        return [Delta("text", said)] if said else []

    def _delta(self, index: int, delta: dict[str, Any]) -> list[Delta]:
        if index not in self._blocks:
            raise unreadable("continues a block that was never begun")
        if delta.get("type") == "citations_delta":
            cited = self._blocks[index].get("citations") or []
            self._blocks[index]["citations"] = [*cited, delta.get("citation")]
            return []
        key, kind = PIECES.get(text(delta.get("type")), ("", ""))
        piece = text(delta.get(key))
        if not piece:
            return []
        self._pieces.setdefault((index, key), []).append(piece)
        if kind == "call":
            return [Delta("call", piece, index)]
        if kind == "thinking":
            return [Delta("thinking", piece)]
        return [Delta("text", piece)] if kind == "text" else []

    def whole(self) -> dict[str, Any]:
        """Return the answer; see `foldline.models.protocol.Assembler`."""
        if not self._done:
            raise unfinished()
        for (index, key), pieces in self._pieces.items():
            block = self._blocks[index]
            if key == "partial_json":
                block["input"] = _arguments("".join(pieces))
            else:
                block[key] = text(block.get(key)) + "".join(pieces)
        return {**self._message, "content": [self._blocks[i] for i in sorted(self._blocks)]}


def _index(value: dict[str, Any]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else 0


def _known(usage: Any) -> dict[str, Any]:
    return {key: value for key, value in mapping(usage).items() if value is not None}


def _arguments(pieces: str) -> Any:
    """Read the arguments of a call; those that the cap cut off are kept as the text they are."""
    try:
        return json.loads(pieces)
    except (ValueError, RecursionError):
        return {"input": pieces}
