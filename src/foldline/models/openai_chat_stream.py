"""Putting a stream of chat completion chunks together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from foldline.models.completion import Delta
from foldline.models.failures import failure
from foldline.models.protocol import mapping, objects, text, unfinished
from foldline.models.sse import DONE, Event

THINKING = ("reasoning_content", "reasoning")
"""Where servers put the readable reasoning."""


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
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._thinking: dict[str, list[str]] = {}
        self._calls: dict[int, _Call] = {}
        self._reason = ""
        self._usage: Any = None
        self._model = ""
        self._done = False

    def take(self, event: Event) -> list[Delta]:
        """Take a chunk in; see `foldline.models.protocol.Assembler`."""
        if event.data.strip() == DONE:
            self._done = True
            return []
        chunk = event.value()
        if chunk.get("error"):
            raise failure(chunk)
        self._model = text(chunk.get("model")) or self._model
        self._usage = chunk.get("usage") or self._usage
        out: list[Delta] = []
        for choice in objects(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                out += self._choice(choice)
        return out

    def _choice(self, choice: dict[str, Any]) -> list[Delta]:
        if choice.get("error"):
            raise failure(choice)
        self._reason = text(choice.get("finish_reason")) or self._reason
        delta = mapping(choice.get("delta"))
        out: list[Delta] = []
        for key in THINKING:
            if thought := text(delta.get(key)):
                self._thinking.setdefault(key, []).append(thought)
                out.append(Delta("thinking", thought))
                break
        if said := text(delta.get("content")):
            self._text.append(said)
            out.append(Delta("text", said))
        self._refusal.append(text(delta.get("refusal")))
        for position, item in enumerate(objects(delta.get("tool_calls"))):
            out.append(self._call(item, position))
        return out

    def _call(self, item: dict[str, Any], position: int) -> Delta:
        index = item.get("index")
        # Servers that leave the index out send whole calls, one after the other.
        key = index if isinstance(index, int) else len(self._calls) + position
        call = self._calls.setdefault(key, _Call())
        asked = mapping(item.get("function"))
        call.id = call.id or text(item.get("id"))
        name = "" if call.name else text(asked.get("name"))
        call.name = call.name or name
        piece = text(asked.get("arguments"))
        call.arguments.append(piece)
        return Delta("call", piece, key, name)

    def whole(self) -> dict[str, Any]:
        """Return the answer; see `foldline.models.protocol.Assembler`."""
        if not self._reason and not self._done:
            raise unfinished()
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        for key, pieces in self._thinking.items():
            message[key] = "".join(pieces)
        if refusal := "".join(self._refusal):
            message["refusal"] = refusal
        if self._calls:
            message["tool_calls"] = [self._calls[key].wire() for key in sorted(self._calls)]
        return {
            "model": self._model,
            "choices": [{"message": message, "finish_reason": self._reason}],
            "usage": self._usage,
        }
