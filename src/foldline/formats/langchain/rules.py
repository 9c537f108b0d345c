"""What providers demand of LangChain messages: known types, no empty message, paired calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import PairingTurn, Violation, pairing_violations
from foldline.formats.langchain.read import BLOCKS, LISTS
from foldline.formats.langchain_shapes import TYPES


def violations(messages: Sequence[dict[str, Any] | None]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Types are known; no message is empty; every AI message with calls is followed at once by
    exactly one tool message for each of its calls (the last one may still wait).

    Args:
        messages: The fields of each message, None for what is no message.
    """
    found: list[Violation] = []
    turns: list[PairingTurn] = []
    for index, fields in enumerate(messages):
        said = fields.get("type") if fields else None
        kind = TYPES.get(said) if isinstance(said, str) else None
        if fields is None or kind is None or kind == "remove":
            found.append(Violation(index, "type", "type", f"unknown type {said!r}"))
            continue
        if kind == "tool":
            found += _answer(fields, index, turns)
            continue
        calls, broken = _calls(fields, index) if kind == "ai" else ((), [])
        found += broken
        turns.append(PairingTurn(index, calls))
        if not calls and not broken and not _says_something(fields):
            found.append(Violation(index, "content", "empty", "the message says nothing"))
    return sorted([*found, *pairing_violations(turns)], key=lambda violation: violation.index)


def _says_something(fields: dict[str, Any]) -> bool:
    content = fields.get("content")
    if isinstance(content, list):
        return any(not isinstance(block, dict) or block.get("text") != "" for block in content)
    extra = fields.get("additional_kwargs")
    beside = extra if isinstance(extra, dict) else {}
    if beside.get("function_call") or beside.get("reasoning_content"):
        return True
    return isinstance(content, str) and bool(content)


def _answer(fields: dict[str, Any], index: int, turns: list[PairingTurn]) -> list[Violation]:
    number = fields.get("tool_call_id")
    if not isinstance(number, str) or not number:
        return [Violation(index, "tool_call_id", "pairing", "the result names no call")]
    turns.append(PairingTurn(index, answers=number))
    if not isinstance(fields.get("content"), (str, list)):
        return [Violation(index, "content", "type", "the content must be a string or a list")]
    return []


def _calls(
    fields: dict[str, Any], index: int
) -> tuple[tuple[tuple[str, str], ...], list[Violation]]:
    """Return the ids of the calls, each once, and what is wrong with the entries."""
    found, calls = [], []
    for key in LISTS:
        entries = fields.get(key)
        if not isinstance(entries, (list, type(None))):
            found.append(Violation(index, key, "type", f"{key} is not a list"))
            continue
        for position, entry in enumerate(entries or ()):
            field = f"{key}[{position}]"
            number = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(number, str) and number:
                calls.append((number, f"{field}.id"))
                found += _entry(entry, key, index, field)
            else:
                found.append(Violation(index, f"{field}.id", "type", "the call has no id"))
    return (*calls, *_elsewhere(fields, {number for number, _ in calls})), found


def _entry(entry: dict[str, Any], key: str, index: int, field: str) -> list[Violation]:
    if key != "tool_calls":
        return []
    if not isinstance(entry.get("name"), str):
        return [Violation(index, f"{field}.name", "type", "the call names no tool")]
    if not isinstance(entry.get("args"), dict):
        return [Violation(index, f"{field}.args", "arguments", "the arguments are not an object")]
    return []


def _elsewhere(fields: dict[str, Any], known: set[str]) -> list[tuple[str, str]]:
    """Return calls that stand only in content blocks or, where none is parsed, as sent."""
    extra = fields.get("additional_kwargs")
    sent = extra.get("tool_calls") if isinstance(extra, dict) and not known else None
    found = {}
    for position, item in enumerate(sent if isinstance(sent, list) else ()):
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            found[item["id"]] = f"additional_kwargs.tool_calls[{position}].id"
    content = fields.get("content")
    for position, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind not in BLOCKS:
            continue
        number = block.get("call_id") or block.get("id")
        if isinstance(number, str) and number not in known:
            found.setdefault(number, f"content[{position}].id")
    return list(found.items())
