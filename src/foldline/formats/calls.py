"""Tool calls as objects of a wire: where each has its id, its name and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from foldline.formats.fields import expect
from foldline.formats.tool_json import arguments_object, arguments_text
from foldline.values.messages import ToolCall


@dataclass(frozen=True, slots=True)
class CallShape:
    """
    How an object holds a call.

    Args:
        arguments: The key of the arguments.
        name: The key of the name of the tool.
        number: The key of the id, "" where there is none.
        inner: The key of the object that has name and arguments, "" for the object itself.
        needs_id: Whether a call without an id is an error.
        encode: Writes the arguments of a call that another wire made.
        new: Further fields of such a call.
    """

    arguments: str = "arguments"
    name: str = "name"
    number: str = "id"
    inner: str = ""
    needs_id: bool = False
    encode: Callable[[str], Any] = arguments_object
    new: Mapping[str, Any] = field(default_factory=dict)

    def read(self, wire: dict[str, Any], index: int, path: str) -> ToolCall:
        """
        Read a call; the object is its ``raw``.

        Args:
            wire: The object.
            index: Position of its message, for errors.
            path: Its path there, for errors.

        Raises:
            InputError: A field has a wrong type.
        """
        number = None
        if self.number:
            kinds = str if self.needs_id else (str, type(None))
            number = expect(wire.get(self.number), kinds, index, f"{path}.{self.number}")
        if self.inner:
            path = f"{path}.{self.inner}".lstrip(".")
        held = expect(wire.get(self.inner), dict, index, path) if self.inner else wire
        name = expect(held.get(self.name), str, index, f"{path}.{self.name}")
        text = arguments_text(held.get(self.arguments), index, f"{path}.{self.arguments}")
        return ToolCall(number if self.needs_id else number or None, name, text, raw=wire)

    def write(self, call: ToolCall, raw: dict[str, Any] | None) -> dict[str, Any]:
        """
        Write a call: the object that it was with what changed, else a new one.

        Args:
            call: The call; arguments that stood there as text stay text.
            raw: The object, None for a call that another wire made.
        """
        if raw is None:
            fresh = {self.name: call.name, self.arguments: self.encode(call.arguments)}
            fresh = {self.inner: fresh} if self.inner else fresh
            return {self.number: call.id or "", **self.new, **fresh}
        if self.number and call.id and raw.get(self.number) != call.id:
            raw = {**raw, self.number: call.id}
        if self.text(raw) == call.arguments:
            return raw
        held: dict[str, Any] = raw[self.inner] if self.inner else raw
        as_text = isinstance(held.get(self.arguments), str)
        after = call.arguments if as_text else arguments_object(call.arguments)
        held = {**held, self.arguments: after}
        return {**raw, self.inner: held} if self.inner else held

    def text(self, raw: dict[str, Any]) -> str:
        """Return the arguments of a call as they are read."""
        held = raw[self.inner] if self.inner else raw
        return arguments_text(held.get(self.arguments))
