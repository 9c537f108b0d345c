"""Writing OpenAI Responses items: from items that an edit changed, and from neutral parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from foldline.formats.blocks import media_source
from foldline.formats.foreign import adapt, is_own, note
from foldline.formats.tool_json import arguments_json, arguments_object, arguments_text
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Omitted,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "openai-responses"


def items(messages: Sequence[Message]) -> list[Any]:
    """Write messages as items; see ``OpenAIResponses.messages``."""
    if all(message.intact and is_own(message, NAME) for message in messages):
        return [message.raw for message in messages]
    ready = adapt(messages, NAME)
    writer = _Writer(_kinds_by_id(ready))
    for message in ready:
        writer.write(message)
    return writer.out


def _kinds_by_id(messages: Sequence[Message]) -> dict[str, CallKind]:
    """Map the ids of calls to what was called, so that an answer gets the right type."""
    return {
        call.id: KINDS[call.raw["type"]]
        for message in messages
        if is_own(message, NAME)
        for call in message.calls
        if call.id and isinstance(call.raw, dict)
    }


@dataclass(slots=True)
class _Writer:
    """
    Writes items one after the other.

    ``thought`` is what became of the reasoning that the coming assistant items belong to.
    """

    called: dict[str, CallKind]
    out: list[Any] = field(default_factory=list)
    thought: Literal["none", "kept", "left out"] = "none"

    def write(self, message: Message) -> None:
        if message.role != "assistant":
            self.thought = "none"
        if not is_own(message, NAME):
            self._build(message)
        elif _item_type(message) == "reasoning":
            kept = message.intact or any(isinstance(part, Thinking) for part in message.parts)
            self.thought = "kept" if kept else "left out"
            self.out += [message.raw] if kept else []
        else:
            self.out += [self._drop_lonely_id(item, message) for item in self._own(message)]

    def _drop_lonely_id(self, item: Any, message: Message) -> Any:
        """Take the id from an item whose reasoning is gone."""
        lonely = self.thought == "left out" or (self.thought == "none" and not message.intact)
        if message.role != "assistant" or not lonely or "id" not in item:
            return item
        if item.get("type") == "item_reference":
            return item
        return {key: value for key, value in item.items() if key != "id"}

    def _own(self, message: Message) -> list[Any]:
        if message.intact:
            return [message.raw]
        if _item_type(message) == "message":
            blocks = [_block(p, message.role, own=True) for p in message.parts if _is_content(p)]
            texts = [part.text for part in message.parts if isinstance(part, Text)]
            # A string stays a string while it can.
            plain = isinstance(message.raw.get("content"), str) and len(texts) == len(blocks)
            content = "\n".join(texts) if plain else blocks
            return [{**message.raw, "content": content}] if blocks else []
        return [item for part in message.parts for item in self._own_item(part, message)]

    def _own_item(self, part: Part, message: Message) -> list[Any]:
        match part:
            case ToolCall(raw=dict()):
                return [changed_call(part.raw, part)]
            case ToolResult():
                return [self._answer(part, own=True)]
            case Opaque(raw=dict()):
                return [part.raw]
            case Text() if part.text.strip():
                return [_message_item(message.role, [_block(part, message.role, own=False)])]
            case _:
                return []

    def _answer(self, result: ToolResult, *, own: bool) -> dict[str, Any]:
        raw = result.raw if own and isinstance(result.raw, dict) else {}
        kind = OUTPUTS.get(raw.get("type", "")) or self.called.get(result.call_id or "")
        blocks = [_block(part, "tool", own=own) for part in result.content]
        return output_item(kind or KINDS["function_call"], result, blocks)

    def _build(self, message: Message) -> None:
        """Write a message that was made elsewhere: results, then what was said, in order."""
        blocks_so_far: list[Any] = []
        later: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                self.out.append(self._answer(part, own=False))
            elif isinstance(part, ToolCall):
                later += [*_write_content(message, blocks_so_far), new_call(part)]
                blocks_so_far = []
            elif _is_content(part):
                blocks_so_far.append(_block(part, message.role, own=False))
        self.out += [*later, *_write_content(message, blocks_so_far)]
        if message.role == "assistant":
            self.thought = "none"


def _item_type(message: Message) -> Any:
    return message.raw.get("type", "message")


def _is_content(part: Part) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    return not isinstance(part, (Omitted, Thinking, ToolCall, ToolResult))


def _write_content(message: Message, blocks: list[Any]) -> list[Any]:
    return [_message_item(message.role, blocks)] if blocks else []


def _message_item(role: str, blocks: list[Any]) -> dict[str, Any]:
    return {"type": "message", "role": "user" if role == "tool" else role, "content": blocks}


def _block(part: Any, role: str, *, own: bool) -> dict[str, Any]:
    """Write content; ``role`` decides what text is called and whether media may stand there."""
    if own and isinstance(part.raw, dict):
        block: dict[str, Any] = part.raw
        return block
    if isinstance(part, Media) and role != "assistant":
        media = _media_block(part)
        if media is not None:
            return media
    text = part.text if isinstance(part, Text) else note(part)
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def _media_block(part: Content) -> dict[str, Any] | None:
    """Write an image or a document whose bytes or address the other wire has at hand."""
    source = media_source(part.raw)
    if source is None or not source.data_uri.startswith(("data:", "https://")):
        return None
    if source.kind == "image":
        return {
            "type": "input_image",
            "image_url": source.data_uri,
            "detail": source.detail or "auto",
        }
    if source.kind != "document":
        return None
    if source.url:
        return {"type": "input_file", "file_url": source.url}
    return {"type": "input_file", "filename": "document.pdf", "file_data": source.data_uri}


# --- the kinds of calls, and their outputs -------------------------------------------------

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
    return {**raw, "output": _output_wire(kind, result, blocks, raw.get("output"), listed=listed)}


def _output_wire(
    kind: CallKind, result: ToolResult, blocks: Sequence[Any], before: Any, *, listed: bool
) -> Any:
    match kind.type:
        case "function_call" | "custom_tool_call":
            plain = all(isinstance(part, Text) for part in result.content)
            return result.text if plain and not listed else list(blocks)
        case "shell_call":
            chunk = before[-1] if isinstance(before, list) and before else None
            ended = chunk.get("outcome") if isinstance(chunk, dict) else None
            ended = ended or {"type": "exit", "exit_code": int(result.is_error)}
            return [{"stdout": result.text, "stderr": "", "outcome": ended}]
        case "computer_call":
            return _screenshot(result.content)
        case _:
            return result.text


def _screenshot(content: Sequence[Content]) -> dict[str, Any]:
    shots: list[dict[str, Any]] = [
        part.raw
        for part in content
        if isinstance(part.raw, dict) and part.raw.get("type") == "computer_screenshot"
    ]
    return shots[0] if shots else {"type": "computer_screenshot", "image_url": BLANK_SCREEN}
