"""The parts of an OpenHands V1 event, as a model reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foldline.errors import InputError
from foldline.formats.fields import expect
from foldline.formats.media import media_from_url
from foldline.formats.tool_json import arguments_text
from foldline.values.messages import (
    Content,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "openhands"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def role_of(event: dict[str, Any], row: int) -> Role:
    """
    Return the role under which a model reads an event.

    Raises:
        InputError: A message event without a known role.
    """
    kind = event["kind"]
    if kind != "MessageEvent":
        return KINDS[kind][0]
    message = expect(event.get("llm_message"), dict, row, "llm_message")
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        raise InputError(
            f"unknown role {message.get('role')!r}", index=row, field="llm_message.role"
        )
    return role


def read_event(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    """
    Read the parts of an event.

    Args:
        event: An event whose kind is in ``KINDS``.
        row: Position of its line, named in errors.
    """
    return KINDS[event["kind"]][1](event, row)


def _blocks(value: Any, row: int, name: str) -> tuple[Content, ...]:
    if isinstance(value, str):
        return (Text(value, raw=value),) if value else ()
    items = expect(value if value is not None else [], list, row, name)
    return tuple(
        _block(expect(item, dict, row, f"{name}[{position}]"))
        for position, item in enumerate(items)
    )


def _block(block: dict[str, Any]) -> Content:
    if isinstance(block.get("text"), str):
        return Text(block["text"], raw=block)
    urls = block.get("image_urls")
    if isinstance(urls, list) and urls and isinstance(urls[0], str):
        return media_from_url(urls[0], block)
    return Opaque(str(block.get("type")), raw=block)


def _system(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    return tuple(
        part
        for key in ("system_prompt", "dynamic_context")
        for part in _blocks(_as_list(event.get(key)), row, key)
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _message(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    message = expect(event.get("llm_message"), dict, row, "llm_message")
    said = _blocks(message.get("content"), row, "llm_message.content")
    more = _blocks(event.get("extended_content"), row, "extended_content")
    if message.get("role") == "tool":
        return (ToolResult(message.get("tool_call_id"), (*said, *more)),)
    calls = message.get("tool_calls")
    return (
        *_reasoning(message, said),
        *said,
        *more,
        *(_call(call, row, "llm_message.tool_calls") for call in calls or ()),
    )


def _reasoning(event: dict[str, Any], said: Sequence[Content]) -> tuple[Thinking, ...]:
    """Read the reasoning, unless the visible text repeats it."""
    blocks = event.get("thinking_blocks")
    if isinstance(blocks, list) and blocks:
        return tuple(
            Thinking(str(block.get("thinking") or ""), signed=True, raw=block)
            for block in blocks
            if isinstance(block, dict)
        )
    item = event.get("responses_reasoning_item")
    if isinstance(item, dict):
        summary = "\n".join(str(line) for line in item.get("summary") or ())
        return (Thinking(summary, bool(item.get("encrypted_content")), raw=item),)
    text = event.get("reasoning_content")
    if not isinstance(text, str) or not text.strip():
        return ()
    repeated = any(isinstance(part, Text) and text.strip() in part.text for part in said)
    return () if repeated else (Thinking(text),)


def _action(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    said = _blocks(event.get("thought"), row, "thought")
    call = event.get("tool_call")
    if call is None:
        given = event.get("action")
        given = given if isinstance(given, dict) else {}
        call = {
            "id": event.get("tool_call_id"),
            "name": event.get("tool_name"),
            "arguments": {key: value for key, value in given.items() if key != "kind"},
        }
    return (*_reasoning(event, said), *said, _call(call, row, "tool_call"))


def _call(value: Any, row: int, name: str) -> ToolCall:
    call = expect(value, dict, row, name)
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    number = expect(call.get("id"), str, row, f"{name}.id")
    tool = expect(inner.get("name"), str, row, f"{name}.name")
    return ToolCall(number, tool, arguments_text(inner.get("arguments")), raw=call)


def _result(event: dict[str, Any], row: int, content: Sequence[Content], failed: bool) -> Part:
    number = expect(event.get("tool_call_id"), (str, type(None)), row, "tool_call_id")
    return ToolResult(number, tuple(content), str(event.get("tool_name") or ""), failed)


def _observation(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    seen = expect(event.get("observation"), dict, row, "observation")
    said = seen.get("content", seen.get("output"))
    if said is None:
        said = arguments_text({key: value for key, value in seen.items() if key != "kind"})
    content = (
        *_blocks(said, row, "observation.content"),
        *_blocks(event.get("extended_content"), row, "extended_content"),
    )
    return (_result(event, row, content, seen.get("is_error") is True),)


def _error(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    return (_result(event, row, _blocks(event.get("error"), row, "error"), failed=True),)


def _rejection(event: dict[str, Any], row: int) -> tuple[Part, ...]:
    reason = event.get("rejection_reason")
    return (_result(event, row, _blocks(reason, row, "rejection_reason"), failed=True),)


_Reader = Callable[[dict[str, Any], int], tuple[Part, ...]]

KINDS: dict[str, tuple[Role, _Reader]] = {
    "SystemPromptEvent": ("system", _system),
    "MessageEvent": ("user", _message),
    "ActionEvent": ("assistant", _action),
    "ObservationEvent": ("tool", _observation),
    "AgentErrorEvent": ("tool", _error),
    "UserRejectObservation": ("tool", _rejection),
}
"""The events that a model reads: their role, and how their parts are read."""
