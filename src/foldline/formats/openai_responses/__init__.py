"""OpenAI Responses: a flat list of items, one for each message, reasoning, call and output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from foldline.formats.blocks import media_source
from foldline.formats.conversion import adapt, is_own, placeholder
from foldline.formats.dialect import Dialect, Violation, in_body
from foldline.formats.fields import expect
from foldline.formats.openai_responses.read import (
    KINDS,
    LOCAL_SHELL,
    NAME,
    OUTPUTS,
    ROLES,
    SERVER_ITEMS,
    CallKind,
    call_arguments,
    read_message,
)
from foldline.formats.openai_responses.rules import violations
from foldline.formats.tool_json import (
    arguments_json,
    arguments_object,
    tool_schemas,
)
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
from foldline.values.transcript import Transcript

_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


class OpenAIResponsesDialect(Dialect):
    """
    The Responses dialect: one message per item.

    Provider items (searches, generated images, references) are kept unchanged; so are items of
    an unknown type or role, and tools that a client sends as an item.
    """

    name = NAME
    title = "OpenAI Responses items"
    provider = "openai"
    key = "input"

    def recognises(self, wire: Any) -> float:
        """Return the confidence that a value is in this dialect, from 0 to 1."""
        if isinstance(wire, dict) and "input" in wire and "messages" not in wire:
            wire = wire["input"]
            if isinstance(wire, str):
                return 0.8
            sure = 0.8
        else:
            sure = 0.3
        if not isinstance(wire, list) or not wire or not all(isinstance(i, dict) for i in wire):
            return 0.0
        if any(_is_own_item(item) for item in wire):
            return 1.0
        return sure if all(map(_is_easy, wire)) else 0.0

    read = staticmethod(read_message)
    rules = staticmethod(violations)

    def system_and_tools(self, around: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the instructions and the tools."""
        system = expect(around.get("instructions"), (str, type(None)), None, "instructions")
        return system or "", super().system_and_tools(around)[1]

    def unwrap(self, wire: Any) -> tuple[list[Any], Any]:
        """Return the items of a list or of a request body, whose input may be a user's text."""
        if not isinstance(wire, dict):
            return super().unwrap(wire)
        given = expect(wire.get("input"), (list, str), None, "input")
        return [{"role": "user", "content": given}] if isinstance(given, str) else given, wire

    def encode(self, transcript: Transcript) -> Any:
        """Write a conversation in its original shape; see `Dialect.encode`."""
        written = super().encode(transcript)
        own = transcript.dialect == self.name and isinstance(transcript.envelope, dict)
        before = transcript.envelope.get("input") if own else None
        if isinstance(before, str) and written["input"] == [{"role": "user", "content": before}]:
            return {**written, "input": before}
        return written

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """Write a list, or a request body if there are tools or a system prompt."""
        tools = list(transcript.tools)
        if not own:
            more = {"strict": False}
            schemas = tool_schemas(tools)
            tools = [{"type": "function", **s.as_object("parameters"), **more} for s in schemas]
        around = {"instructions": transcript.system, "tools": tools}
        return in_body(self.messages(transcript.messages), self.key, around)

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """
        Write messages as items; one of another dialect may become several.

        The id of an assistant item binds it to the reasoning before it: if that reasoning was
        removed, or the item was changed and no reasoning precedes it, it is written without its
        id.
        """
        if all(message.intact and is_own(message, NAME) for message in messages):
            return [message.raw for message in messages]
        ready = adapt(messages, NAME)
        writer = _Writer(_kinds_by_id(ready))
        for message in ready:
            writer.write(message)
        return writer.out

    def validate(self, wire: Any) -> list[Violation]:
        """Check the strict rules of the API; an input that is a string must not be blank."""
        given = wire.get("input") if isinstance(wire, dict) else None
        if not isinstance(given, str):
            return super().validate(wire)
        return [] if given.strip() else [Violation(0, "input", "empty", "the input is blank")]


def _is_own_item(item: dict[str, Any]) -> bool:
    kind, content = item.get("type"), item.get("content")
    if isinstance(kind, str) and (kind in KINDS or kind in OUTPUTS or kind in SERVER_ITEMS):
        return True
    if kind == "additional_tools" or (kind == "reasoning" and "summary" in item):
        return True
    blocks = content if isinstance(content, list) and kind in ("message", None) else ()
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    return any(isinstance(block, str) and block in _BLOCKS for block in kinds)


def _is_easy(item: dict[str, Any]) -> bool:
    role, foreign = item.get("role"), item.keys() & {"tool_calls", "tool_call_id", "parts"}
    typed = item.get("type", "message") == "message"
    return typed and not foreign and isinstance(role, str) and role in ROLES


# --- writing -------------------------------------------------------------------------------


def _kinds_by_id(messages: Sequence[Message]) -> dict[str, CallKind]:
    """Map the ids of calls to their kinds, so that an answer gets the right type."""
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
    Writes items in order.

    ``thought`` is the state of the reasoning to which the next assistant items belong.
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
            self.out += [self._drop_unbound_id(item, message) for item in self._own(message)]

    def _drop_unbound_id(self, item: Any, message: Message) -> Any:
        """Remove the id of an item whose reasoning was removed."""
        unbound = self.thought == "left out" or (self.thought == "none" and not message.intact)
        if message.role != "assistant" or not unbound or "id" not in item:
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
            # A string stays a string if possible.
            plain = isinstance(message.raw.get("content"), str) and len(texts) == len(blocks)
            content = "\n".join(texts) if plain else blocks
            return [{**message.raw, "content": content}] if blocks else []
        return [item for part in message.parts for item in self._own_item(part, message)]

    def _own_item(self, part: Part, message: Message) -> list[Any]:
        match part:
            case ToolCall(raw=dict()):
                return [update_call(part.raw, part)]
            case ToolResult():
                return [self._answer(part, own=True)]
            case Opaque(raw=dict()):
                return [part.raw]
            case Text() if part.text.strip():
                return _message_items(message, [_block(part, message.role, own=False)])
            case _:
                return []

    def _answer(self, result: ToolResult, *, own: bool) -> dict[str, Any]:
        raw = result.raw if own and isinstance(result.raw, dict) else {}
        kind = OUTPUTS.get(raw.get("type", "")) or self.called.get(result.call_id or "")
        blocks = [_block(part, "tool", own=own) for part in result.content]
        return build_output(kind or KINDS["function_call"], result, blocks)

    def _build(self, message: Message) -> None:
        """Write a message without an original here: results, then the other parts, in order."""
        blocks_so_far: list[Any] = []
        later: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                self.out.append(self._answer(part, own=False))
            elif isinstance(part, ToolCall):
                later += [*_message_items(message, blocks_so_far), build_call(part)]
                blocks_so_far = []
            elif _is_content(part):
                blocks_so_far.append(_block(part, message.role, own=False))
        self.out += [*later, *_message_items(message, blocks_so_far)]
        if message.role == "assistant":
            self.thought = "none"


def _item_type(message: Message) -> Any:
    return message.raw.get("type", "message")


def _is_content(part: Part) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    return not isinstance(part, (Omitted, Thinking, ToolCall, ToolResult))


def _message_items(message: Message, blocks: list[Any]) -> list[Any]:
    role = "user" if message.role == "tool" else message.role
    return [{"type": "message", "role": role, "content": blocks}] if blocks else []


def _block(part: Any, role: str, *, own: bool) -> dict[str, Any]:
    """Write content; ``role`` decides the type of text and whether media are allowed."""
    if own and isinstance(part.raw, dict):
        block: dict[str, Any] = part.raw
        return block
    if isinstance(part, Media) and role != "assistant":
        media = _media_block(part)
        if media is not None:
            return media
    text = part.text if isinstance(part, Text) else placeholder(part)
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def _media_block(part: Content) -> dict[str, Any] | None:
    """Write an image or a document from the bytes or the URL in another wire's block."""
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
"""One pixel: replaces a removed screenshot where the output must be one."""


def update_call(raw: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    """Write a call of this dialect, whose arguments or id may have changed."""
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


def build_call(call: ToolCall) -> dict[str, Any]:
    """Write a call of another wire as a function call."""
    return {
        "type": "function_call",
        "call_id": call.id or "",
        "name": call.name,
        "arguments": arguments_json(call.arguments),
    }


def build_output(kind: CallKind, result: ToolResult, blocks: Sequence[Any]) -> dict[str, Any]:
    """
    Write the output of a call.

    Args:
        kind: The kind of the call.
        result: The result; its ``raw`` item, if it is of this kind, keeps its other fields.
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
