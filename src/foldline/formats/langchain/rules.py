"""Provider rules for LangChain messages: known types, no empty message, paired calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from foldline.formats.dialect import (
    FieldCheck,
    PairingTurn,
    Violation,
    check_fields,
    check_pairing,
    is_a,
    is_filled,
)
from foldline.formats.langchain.read import BLOCKS, LISTS
from foldline.formats.langchain_shapes import TYPES, fields_of, shape_of

_CONTENT = (("content", is_a(str, list), "type", "the content must be a string or a list"),)
_ENTRY: tuple[FieldCheck, ...] = (
    ("name", is_a(str), "type", "the call names no tool"),
    ("args", is_a(dict), "arguments", "the arguments are not an object"),
)


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Types are known; no message is empty; every AI message with calls is followed directly by
    exactly one tool message for each of its calls (those of the last one may be pending).
    """
    return check_pairing(f for index, one in enumerate(messages) for f in _message(one, index))


def _message(message: Any, index: int) -> Iterator[Violation | PairingTurn]:
    fields = fields_of(message) if shape_of(message) else None
    named = fields.get("type") if fields else None
    kind = TYPES.get(named) if isinstance(named, str) else None
    if fields is None or kind is None or kind == "remove":
        yield Violation(index, "type", "type", f"unknown type {named!r}")
    elif kind == "tool":
        if is_filled(fields.get("tool_call_id")):
            yield PairingTurn(index, answers=fields["tool_call_id"])
            yield from check_fields(fields, _CONTENT, index)
        else:
            yield Violation(index, "tool_call_id", "pairing", "the result names no call")
    else:
        found = list(_calls(fields, index)) if kind == "ai" else []
        yield from (one for one in found if isinstance(one, Violation))
        yield PairingTurn(index, tuple(one for one in found if isinstance(one, tuple)))
        if not found and not _has_content(fields):
            yield Violation(index, "content", "empty", "the message is empty")


def _has_content(fields: dict[str, Any]) -> bool:
    content = fields.get("content")
    if isinstance(content, list):
        return any(not isinstance(block, dict) or block.get("text") != "" for block in content)
    extra = fields.get("additional_kwargs")
    beside = extra if isinstance(extra, dict) else {}
    if beside.get("function_call") or beside.get("reasoning_content"):
        return True
    return isinstance(content, str) and bool(content)


def _calls(fields: dict[str, Any], index: int) -> Iterator[tuple[str, str] | Violation]:
    """Yield the id of each call once, and the violations of the entries."""
    known: set[str] = set()
    for key in LISTS:
        entries = fields.get(key)
        if not isinstance(entries, (list, type(None))):
            yield Violation(index, key, "type", f"{key} is not a list")
            continue
        for position, entry in enumerate(entries or ()):
            field = f"{key}[{position}]"
            number = entry.get("id") if isinstance(entry, dict) else None
            if not isinstance(number, str) or not number:
                yield Violation(index, f"{field}.id", "type", "the call has no id")
                continue
            known.add(number)
            yield number, f"{field}.id"
            if key == "tool_calls":
                yield from islice(check_fields(entry, _ENTRY, index, field), 1)
    yield from _elsewhere(fields, known)


def _elsewhere(fields: dict[str, Any], known: set[str]) -> list[tuple[str, str]]:
    """Return calls found only in content blocks or, if none is parsed, in additional_kwargs."""
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
