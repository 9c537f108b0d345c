"""The calls of an AI message: said once to a reader, written in up to three places on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foldline.formats.arguments import arguments_object, arguments_text
from foldline.formats.dialect import expect
from foldline.values.messages import ToolCall

BLOCKS: Mapping[str, str] = {
    "tool_use": "input",
    "tool_call": "args",
    "function_call": "arguments",
}
"""Content blocks that repeat a call, and where each has the arguments."""

LISTS = ("tool_calls", "invalid_tool_calls")
"""Fields with parsed calls; what stands there is what LangChain sends."""


def read_calls(fields: Mapping[str, Any], index: int) -> list[ToolCall]:
    """
    Read the calls of a message, each once.

    The ``raw`` of a call is a dict of everything that stands for it: "tool_calls" or
    "invalid_tool_calls" (the parsed entry), "sent" (the entry in additional_kwargs), and, added
    by ``in_block``, "block" (the content block).

    Raises:
        InputError: An entry has a wrong type.
    """
    calls = []
    for key in LISTS:
        entries = expect(fields.get(key), (list, type(None)), index, key) or []
        for position, entry in enumerate(entries):
            calls.append(_parsed(key, entry, index, f"{key}[{position}]"))
    sent = _sent(fields)
    if not calls:
        return [_from_sent(item, index) for item in sent]
    for item in sent:
        number = item.get("id")
        same = next((c for c in calls if c.id == number and "sent" not in c.raw), None)
        if same is not None:
            same.raw["sent"] = item
    return calls


def in_block(block: dict[str, Any], calls: Sequence[ToolCall], index: int, field: str) -> ToolCall:
    """
    Return the call that a content block repeats, or a new one where nothing else stands for it.

    Raises:
        InputError: The block has no name.
    """
    number = _number(block)
    for call in calls:
        if call.id == number and "block" not in call.raw:
            call.raw["block"] = block
            return call
    name = expect(block.get("name"), str, index, f"{field}.name")
    arguments = arguments_text(block.get(BLOCKS[block["type"]]), index, f"{field}.input")
    return ToolCall(number, name, arguments, raw={"block": block})


def block_wire(call: ToolCall) -> dict[str, Any] | None:
    """Return the content block of a call, None where it has none."""
    if "block" not in call.raw:
        return None
    block = _renumbered(call.raw["block"], call)
    if _is_unchanged(call):
        return block
    key = BLOCKS[block["type"]]
    return {**block, key: _like(block.get(key), call.arguments)}


def call_fields(fields: Mapping[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return the fields beside the content that repeat calls, holding only these calls."""
    out: dict[str, Any] = {}
    for key in LISTS:
        if isinstance(fields.get(key), list):
            out[key] = [_entry(call, key) for call in calls if key in call.raw]
    chunks = fields.get("tool_call_chunks")
    if isinstance(chunks, list):
        out["tool_call_chunks"] = [_chunk(chunk, call) for chunk, call in _zipped(chunks, calls)]
    return out


def sent_fields(extra: Mapping[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return additional_kwargs with only these calls; the keys vanish with the last call."""
    out = dict(extra)
    sent = [_sent_wire(call) for call in calls if "sent" in call.raw]
    if isinstance(extra.get("tool_calls"), list):
        out["tool_calls"] = sent
        if not sent:
            del out["tool_calls"]
    elif isinstance(extra.get("function_call"), dict):
        out.pop("function_call")
        if sent:
            out["function_call"] = sent[0]
    return out


def new_call(call: ToolCall) -> dict[str, Any]:
    """Return the ``tool_calls`` entry of a call of another dialect."""
    args = arguments_object(call.arguments)
    return {"name": call.name, "args": args, "id": call.id, "type": "tool_call"}


# --- reading -------------------------------------------------------------------------------


def _parsed(key: str, entry: Any, index: int, field: str) -> ToolCall:
    wire = expect(entry, dict, index, field)
    number = expect(wire.get("id"), (str, type(None)), index, f"{field}.id")
    # The parser leaves the name of an invalid call open.
    name = expect(wire.get("name") or "", str, index, f"{field}.name")
    arguments = arguments_text(wire.get("args"), index, f"{field}.args")
    return ToolCall(number, name, arguments, raw={key: wire})


def _sent(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    extra = fields.get("additional_kwargs")
    if not isinstance(extra, dict):
        return []
    listed = extra.get("tool_calls")
    if not isinstance(listed, list):
        listed = [extra.get("function_call")]
    return [item for item in listed if isinstance(item, dict)]


def _from_sent(item: dict[str, Any], index: int) -> ToolCall:
    field = "additional_kwargs.tool_calls"
    function = item.get("function", item)
    inner = expect(function, dict, index, field)
    number = expect(item.get("id"), (str, type(None)), index, f"{field}.id")
    name = expect(inner.get("name"), str, index, f"{field}.name")
    arguments = arguments_text(inner.get("arguments"), index, f"{field}.arguments")
    return ToolCall(number, name, arguments, raw={"sent": item})


def _number(block: Mapping[str, Any]) -> str | None:
    # OpenAI's function_call items have an id of the item and another one of the call.
    number = block.get("call_id") or block.get("id")
    return number if isinstance(number, str) else None


# --- writing -------------------------------------------------------------------------------


def _is_unchanged(call: ToolCall) -> bool:
    return _stated(call.raw) == call.arguments


def _stated(raw: Mapping[str, Any]) -> str:
    """Return the arguments as they were read."""
    for key in LISTS:
        if key in raw:
            return arguments_text(raw[key].get("args"), None, key)
    if "sent" in raw:
        item = raw["sent"]
        return arguments_text(item.get("function", item).get("arguments"), None, "sent")
    block = raw["block"]
    return arguments_text(block.get(BLOCKS[block["type"]]), None, "content")


def _like(before: Any, text: str) -> Any:
    return text if isinstance(before, str) else arguments_object(text)


def _renumbered(entry: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    """Return an entry with the id of the call, which a repair may have changed."""
    key = "call_id" if entry.get("call_id") else "id"
    return entry if not call.id or entry.get(key) == call.id else {**entry, key: call.id}


def _entry(call: ToolCall, key: str) -> dict[str, Any]:
    entry = _renumbered(call.raw[key], call)
    if _is_unchanged(call):
        return entry
    return {**entry, "args": _like(entry.get("args"), call.arguments)}


def _sent_wire(call: ToolCall) -> dict[str, Any]:
    item = _renumbered(call.raw["sent"], call)
    if _is_unchanged(call):
        return item
    if isinstance(item.get("function"), dict):
        return {**item, "function": {**item["function"], "arguments": call.arguments}}
    return {**item, "arguments": call.arguments}


def _zipped(
    chunks: Sequence[Any], calls: Sequence[ToolCall]
) -> list[tuple[dict[str, Any], ToolCall]]:
    known = {call.id: call for call in calls if call.id}
    named = [c for c in chunks if isinstance(c, dict) and isinstance(c.get("id"), str)]
    return [(chunk, known[chunk["id"]]) for chunk in named if chunk["id"] in known]


def _chunk(chunk: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    return chunk if _is_unchanged(call) else {**chunk, "args": call.arguments}
