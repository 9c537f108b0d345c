"""The tool items of OpenAI Responses: a kind of call, its output, and how each is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foldline.formats.tool_json import arguments_json, arguments_object, arguments_text
from foldline.values.messages import Content, Text, ToolCall, ToolResult

BLANK_SCREEN = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
"""One pixel: the smallest screenshot, where an output must be one and the real one is gone."""


@dataclass(frozen=True, slots=True)
class CallKind:
    """
    One kind of call item.

    ``field`` holds the arguments, ``output`` is the type of the item that answers, ``name`` what
    the tool is called where the item does not say. ``text_field`` is where free text goes when
    the arguments are an object of a fixed shape and an edit left only text.
    """

    type: str
    field: str
    output: str
    name: str = ""
    text_field: str = ""
    listed: bool = False


KINDS: Mapping[str, CallKind] = {
    kind.type: kind
    for kind in (
        CallKind("function_call", "arguments", "function_call_output"),
        CallKind("custom_tool_call", "input", "custom_tool_call_output"),
        CallKind(
            "local_shell_call",
            "action",
            "local_shell_call_output",
            "local_shell",
            "command",
            listed=True,
        ),
        CallKind("shell_call", "action", "shell_call_output", "shell", "commands", listed=True),
        CallKind(
            "apply_patch_call", "operation", "apply_patch_call_output", "apply_patch", "diff"
        ),
        CallKind("computer_call", "action", "computer_call_output", "computer"),
        CallKind("tool_search_call", "arguments", "tool_search_output", "tool_search"),
    )
}
OUTPUTS: Mapping[str, CallKind] = {kind.output: kind for kind in KINDS.values()}
LOCAL_SHELL = "local_shell_call_output"


def call_number(item: Mapping[str, Any]) -> Any:
    """Return the id that pairs a call with its output; local shell outputs name it ``id``."""
    number = item.get("call_id")
    return item.get("id") if number is None and item.get("type") == LOCAL_SHELL else number


def call_arguments(item: Mapping[str, Any], index: int) -> str:
    """Return the arguments of a call item as text."""
    kind = KINDS[item["type"]]
    # Newer computer calls batch their steps under another key.
    key = "actions" if kind.field not in item and "actions" in item else kind.field
    return arguments_text(item.get(key), index, key)


def changed_call(raw: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    """Write a call of this dialect that may have other arguments or another id."""
    if raw.get("call_id") != call.id:
        raw = {**raw, "call_id": call.id}
    if call_arguments(raw, 0) == call.arguments:
        return raw
    kind = KINDS[raw["type"]]
    if kind.type == "function_call":
        return {**raw, "arguments": arguments_json(call.arguments)}
    if kind.type == "custom_tool_call":
        return {**raw, "input": call.arguments}
    shape = raw.get(kind.field)
    if not kind.text_field or not isinstance(shape, dict):
        return raw
    changed = arguments_object(call.arguments)
    if changed.keys() == {"input"}:
        text = changed["input"]
        return {**raw, kind.field: {**shape, kind.text_field: [text] if kind.listed else text}}
    return {**raw, kind.field: changed}


def new_call(call: ToolCall) -> dict[str, Any]:
    """Write a call that another wire made, as a function call."""
    return {
        "type": "function_call",
        "call_id": call.id or "",
        "name": call.name,
        "arguments": arguments_json(call.arguments),
    }


def output_item(kind: CallKind, result: ToolResult, blocks: Sequence[Any]) -> dict[str, Any]:
    """
    Write the output of a call.

    Args:
        kind: What was called.
        result: The answer; its ``raw`` item, if it is of this kind, keeps its other fields.
        blocks: The content of the answer as blocks of this dialect.
    """
    own = isinstance(result.raw, dict) and result.raw.get("type") == kind.output
    raw: dict[str, Any] = dict(result.raw) if own else {"type": kind.output}
    if kind.output != LOCAL_SHELL or "call_id" in raw:
        raw["call_id"] = result.call_id or ""
    else:
        raw["id"] = result.call_id or ""
    if kind.type == "tool_search_call":
        return {"execution": "client", "status": "completed", **raw, "tools": []}
    if kind.type == "apply_patch_call":
        raw.setdefault("status", "failed" if result.is_error else "completed")
    listed = isinstance(raw.get("output"), list)
    return {**raw, "output": _output(kind, result, blocks, raw.get("output"), listed=listed)}


def _output(
    kind: CallKind, result: ToolResult, blocks: Sequence[Any], before: Any, *, listed: bool
) -> Any:
    match kind.type:
        case "function_call" | "custom_tool_call":
            plain = all(isinstance(part, Text) for part in result.content)
            return result.text if plain and not listed else list(blocks)
        case "shell_call":
            ended = _outcome(before) or {"type": "exit", "exit_code": int(result.is_error)}
            return [{"stdout": result.text, "stderr": "", "outcome": ended}]
        case "computer_call":
            return _screenshot(result.content)
        case _:
            return result.text


def _outcome(before: Any) -> Any:
    chunk = before[-1] if isinstance(before, list) and before else None
    return chunk.get("outcome") if isinstance(chunk, dict) else None


def _screenshot(content: Sequence[Content]) -> dict[str, Any]:
    shots: list[dict[str, Any]] = [
        part.raw
        for part in content
        if isinstance(part.raw, dict) and part.raw.get("type") == "computer_screenshot"
    ]
    return shots[0] if shots else {"type": "computer_screenshot", "image_url": BLANK_SCREEN}
