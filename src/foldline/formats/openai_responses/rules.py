"""The strict rules of OpenAI Responses, whose violation the API rejects with status 400."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldline.formats.dialect import FieldCheck, Violation, check_fields, is_a, is_filled
from foldline.formats.openai_responses.read import KINDS, LOCAL_SHELL, OUTPUTS, ROLES, call_number

_WRITTEN = frozenset({"output_text", "refusal"})
_GIVEN = frozenset({"input_text", "input_image", "input_file", "input_audio"})


_OUTPUT = (("output", is_a(str, list), "type", "the output is not a string or a list"),)
_CHECKS: Mapping[str, tuple[FieldCheck, ...]] = {
    "function_call_output": _OUTPUT,
    "custom_tool_call_output": _OUTPUT,
    "reasoning": (("summary", is_a(list), "type", "the summary is not a list"),),
    "item_reference": (("id", is_a(str), "type", "the reference names no item"),),
    **{
        kind: (
            ("name", is_filled, "type", "the call names no tool"),
            (field, is_a(str), "arguments", f"the {field} is not a string"),
        )
        for kind, field in (("function_call", "arguments"), ("custom_tool_call", "input"))
    },
}
"""The checks for each item type."""


def violations(items: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Messages have a known role and content of the right types; every output follows its call, one
    for each call; a call may be pending while only calls, reasoning and outputs follow; reasoning
    is followed by the item it belongs to; arguments are strings; item ids are unique. Whether an
    id is bound to removed reasoning cannot be checked: only the server knows.
    """
    found = [v for index, item in enumerate(items) for v in _item(item, index)]
    known = [(i, item) for i, item in enumerate(items) if isinstance(item, dict)]
    return [*found, *_pairing(known), *_reasoning(known), *_unique(known)]


def _kind(item: dict[str, Any]) -> str:
    kind = item.get("type")
    if kind is None:
        return "message" if "role" in item else "item_reference"
    return kind if isinstance(kind, str) else ""


# --- one item ------------------------------------------------------------------------------


def _item(item: Any, index: int) -> Iterator[Violation]:
    if not isinstance(item, dict):
        yield Violation(index, "", "type", "the item is not an object")
        return
    kind = _kind(item)
    if kind == "message":
        yield from _message(item, index)
    elif not kind:
        yield Violation(index, "type", "type", "the type is not a string")
    yield from check_fields(item, _CHECKS.get(kind, ()), index)
    if kind in KINDS:
        number = call_number(item)
        if not is_filled(number) and not (kind == "tool_search_call" and number is None):
            yield Violation(index, "call_id", "type", "the call has no call_id")


def _message(item: dict[str, Any], index: int) -> Iterator[Violation]:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in ROLES:
        name = f" {role[:40]!r}" if isinstance(role, str) else ""
        yield Violation(index, "role", "role", f"unknown role{name}")
    if not isinstance(content, (str, list)):
        yield Violation(index, "content", "type", "the content is neither a string nor a list")
        return
    if not content:
        yield Violation(index, "content", "empty", "the message is empty")
    allowed = _WRITTEN if role == "assistant" else _GIVEN
    for position, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        path = f"content[{position}]"
        if not isinstance(kind, str):
            yield Violation(index, path, "type", "the block has no type")
        elif kind not in allowed:
            text = f"a message of this role holds no {kind[:40]!r}"
            yield Violation(index, f"{path}.type", "type", text)
        elif kind.endswith("_text") and not isinstance(block.get("text"), str):
            yield Violation(index, f"{path}.text", "type", "the text is not a string")


# --- the order of items --------------------------------------------------------------------


def _pairing(items: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Violation]:
    waiting: dict[str, tuple[int, str]] = {}
    last_message = -1
    for index, item in items:
        kind, number = _kind(item), call_number(item)
        if kind == "message":
            last_message = index
        if kind in KINDS and isinstance(number, str):
            if number in waiting:
                text = f"the call {number[:80]!r} still waits for its output"
                yield Violation(index, "call_id", "duplicate", text)
            waiting[number] = (index, kind)
        elif kind in OUTPUTS and not (kind == "tool_search_output" and number is None):
            yield from _answer(kind, number, index, waiting)
    for number, (index, _) in waiting.items():
        if index < last_message:
            text = f"the call {number[:80]!r} has no output"
            yield Violation(index, "call_id", "pairing", text)


def _answer(
    kind: str, number: Any, index: int, waiting: dict[str, tuple[int, str]]
) -> Iterator[Violation]:
    if not isinstance(number, str):
        yield Violation(index, "call_id", "pairing", "the output names no call")
        return
    call = waiting.pop(number, None)
    if call is None:
        text = f"the output of {number[:80]!r} follows no call that waits for it"
        yield Violation(index, "call_id", "pairing", text)
    elif kind != KINDS[call[1]].output and call[1] != "local_shell_call":
        text = f"a {call[1]} is answered by a {KINDS[call[1]].output}"
        yield Violation(index, "type", "pairing", text)


def _reasoning(items: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Violation]:
    following: dict[str, Any] | None = None
    for index, item in reversed(items):
        if _kind(item) == "reasoning" and not _may_follow(following):
            text = "the reasoning is not followed by what it led to"
            yield Violation(index, "type", "reasoning", text)
        following = item


def _may_follow(item: dict[str, Any] | None) -> bool:
    if item is None:
        return False
    kind = _kind(item)
    if kind == "message":
        return item.get("role") == "assistant"
    return kind not in OUTPUTS and kind != "mcp_approval_response"


def _unique(items: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, item in items:
        number = item.get("id")
        # A reference repeats an id by design, and local shell outputs repeat that of their call.
        if not isinstance(number, str) or _kind(item) in ("item_reference", LOCAL_SHELL):
            continue
        if number in seen:
            yield Violation(index, "id", "duplicate", f"the item {number[:80]!r} occurs twice")
        seen.add(number)
