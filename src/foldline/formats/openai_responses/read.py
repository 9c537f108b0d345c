"""Reading OpenAI Responses items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.formats.blocks import (
    media_from_url,
    media_part,
    opaque,
    opaque_text,
    unknown_message,
    unknown_role,
)
from foldline.formats.fields import expect, read_content, role_name
from foldline.formats.tool_json import arguments_text
from foldline.frozen import frozen
from foldline.values.messages import (
    Content,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "openai-responses"

ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})


SERVER_ITEMS = frozenset(
    {
        *("web_search_call", "file_search_call", "image_generation_call", "item_reference"),
        *("code_interpreter_call", "mcp_call", "mcp_list_tools"),
        *("mcp_approval_request", "mcp_approval_response"),
    }
)


def read_message(item: Any, index: int) -> Message:
    """
    Read one item.

    Raises:
        InputError: Naming the item index and the field.
    """
    wire = expect(item, dict, index, "")
    kind = wire.get("type")
    if kind is None and "role" not in wire and isinstance(wire.get("id"), str):
        kind = "item_reference"
    if kind is None or kind == "message":
        return _read_message_item(wire, index)
    kind = expect(kind, str, index, "type")
    paired = kind in KINDS or kind in OUTPUTS
    if paired and not (kind.startswith("tool_search") and wire.get("call_id") is None):
        return _call(wire, index) if kind in KINDS else _output(wire, index)
    if kind == "reasoning":
        part: Part = _thinking(wire, index)
    elif kind in SERVER_ITEMS or paired:
        part = opaque(wire)
    else:
        return unknown_message(wire, kind, NAME)
    return Message("user" if kind == "mcp_approval_response" else "assistant", (part,), wire, NAME)


def _read_message_item(wire: dict[str, Any], index: int) -> Message:
    named = role_name(wire, index)
    role = ROLES.get(named)
    if role is None:
        return unknown_role(wire, named, NAME, index)
    return Message(role, read_content(wire.get("content"), index, "content", _block), wire, NAME)


def _thinking(wire: dict[str, Any], index: int) -> Thinking:
    texts = []
    for key in ("summary", "content"):
        for block in expect(wire.get(key), (list, type(None)), index, key) or ():
            text = block.get("text") if isinstance(block, dict) else None
            texts += [text] if isinstance(text, str) and text else []
    signed = bool(wire.get("encrypted_content") or wire.get("id"))
    return Thinking("\n".join(texts), signed=signed, raw=wire)


def _call(wire: dict[str, Any], index: int) -> Message:
    number = expect(call_number(wire), str, index, "call_id")
    name = KINDS[wire["type"]].name or expect(wire.get("name"), str, index, "name")
    call = ToolCall(number, name, call_arguments(wire, index), raw=wire)
    return Message("assistant", (call,), wire, NAME)


def _output(wire: dict[str, Any], index: int) -> Message:
    number = expect(call_number(wire), str, index, "call_id")
    if wire["type"] == "tool_search_output":
        content: tuple[Content, ...] = (Opaque("tools", opaque_text(wire), raw=wire),)
    else:
        value = expect(wire.get("output"), (str, list, dict, type(None)), index, "output")
        value = [value] if isinstance(value, dict) else value
        content = read_content(value, index, "output", _block)
    failed = wire.get("status") == "failed"
    return Message("tool", (ToolResult(number, content, is_error=failed, raw=wire),), wire, NAME)


def _block(wire: dict[str, Any], index: int, field: str) -> Content:
    kind = wire.get("type")
    if isinstance(kind, str) and kind in _TEXTS:
        return Text(expect(wire.get("text"), str, index, f"{field}.text"), raw=wire)
    if kind == "refusal":
        return Text(expect(wire.get("refusal"), str, index, f"{field}.refusal"), raw=wire)
    if kind == "computer_screenshot":
        url = wire.get("image_url")
        return media_from_url(url if isinstance(url, str) else "", wire)
    if isinstance(wire.get("stdout"), str):
        errors = wire.get("stderr")
        streams = [wire["stdout"], errors if isinstance(errors, str) else ""]
        return Text("\n".join(text for text in streams if text), raw=wire)
    return media_part(wire) or opaque(wire)


# --- the kinds of calls --------------------------------------------------------------------


@frozen
class CallKind:
    """
    One kind of call item.

    ``field`` holds the arguments, ``output`` is the type of the answering item, ``name`` the tool
    name if the item has none. ``text_field`` receives free text if the arguments are an object
    of a fixed shape and an edit left only text.
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
    """Return the id that pairs a call with its output; in local shell outputs it is ``id``."""
    number = item.get("call_id")
    return item.get("id") if number is None and item.get("type") == LOCAL_SHELL else number


def call_arguments(item: Mapping[str, Any], index: int) -> str:
    """Return the arguments of a call item as text."""
    kind = KINDS[item["type"]]
    # Newer computer calls hold a batch of steps under another key.
    key = "actions" if kind.field not in item and "actions" in item else kind.field
    return arguments_text(item.get(key), index, key)
