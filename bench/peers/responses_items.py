"""Conversion to and from items of the Responses API, used by the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any

from task import chat_call, text_of


def load(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for message in messages for item in _items(message)]


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        number, output = message.get("tool_call_id", ""), text_of(message.get("content"))
        return [{"type": "function_call_output", "call_id": number, "output": output}]
    calls = message.get("tool_calls") or ()
    said = text_of(message.get("content"))
    items: list[dict[str, Any]] = []
    if said or not calls:
        items.append({"role": message["role"], "content": said})
    for call in calls:
        function = call["function"]
        items.append(
            {
                "type": "function_call",
                "call_id": call.get("id", ""),
                "name": function["name"],
                "arguments": function["arguments"],
            }
        )
    return items


def dump(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for item in items:
        match item.get("type"):
            case "function_call_output":
                number, output = item["call_id"], item["output"]
                out.append({"role": "tool", "tool_call_id": number, "content": output})
            case "function_call":
                call = chat_call(item["call_id"], item["name"], item["arguments"])
                last = out[-1] if out else {}
                # Calls of one message are separate items that follow each other.
                if last.get("role") == "assistant":
                    last.setdefault("tool_calls", []).append(call)
                else:
                    out.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case _:
                out.append({"role": item["role"], "content": item["content"]})
    return out
