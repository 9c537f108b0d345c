"""Putting a stream of OpenAI Responses events together."""

from __future__ import annotations

from typing import Any, Final

from foldline.models.completion import Delta, Piece
from foldline.models.failures import failure
from foldline.models.protocol import mapping, objects, text, unfinished
from foldline.models.sse import DONE, Event

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

    def take(self, event: Event) -> list[Delta]:
        """Take an event in; see `foldline.models.protocol.Assembler`."""
        if event.data.strip() == DONE:
            return []
        value = event.value()
        kind = text(value.get("type")) or event.name
        index = value.get("output_index")
        place = index if isinstance(index, int) else 0
        if kind == "error" or (not kind and value.get("error")):
            raise failure(value)
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
        """Return the answer; see `foldline.models.protocol.Assembler`."""
        if self._whole is None:
            raise unfinished()
        if not objects(self._whole.get("output")):
            # Some gateways leave the output out of the last event.
            items = [self._items[place] for place in sorted(self._items)]
            return {**self._whole, "output": items}
        return self._whole
