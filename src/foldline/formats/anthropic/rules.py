"""The strict rules of Anthropic Messages, whose violation the API rejects with status 400."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foldline.formats.dialect import FieldCheck, Violation, check_fields, is_a, is_filled

Place: TypeAlias = tuple[int, str, dict[str, Any]]
"""A block: the position of its message, its path in the message, the block."""

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PROOFS = {"thinking": "signature", "redacted_thinking": "data"}
"""The field of each reasoning type that holds the signature."""

_THOUGHTS = frozenset(_PROOFS)
_CLIENT_SIDE = frozenset({"text", "image", "document", "tool_use", "tool_result", *_THOUGHTS})


SYSTEM = (("system", is_a(str, list, type(None)), "type", "the prompt is not a string or a list"),)


def _is_not_blank(value: Any) -> bool:
    return not isinstance(value, str) or bool(value.strip())


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


_SOURCE: tuple[FieldCheck, ...] = (("source", is_a(dict), "type", "the source is not an object"),)
_CHECKS: Mapping[str, tuple[FieldCheck, ...]] = {
    "text": (
        ("text", is_a(str), "type", "the text is not a string"),
        ("text", _is_not_blank, "empty", "the text is blank"),
    ),
    "tool_use": (
        ("id", _is_id, "type", "the id is not made of a-z, 0-9, _ and -"),
        ("name", is_filled, "type", "the call names no tool"),
        ("input", is_a(dict), "arguments", "the input is not an object"),
    ),
    "tool_result": (
        ("tool_use_id", is_a(str), "pairing", "the result names no call"),
        ("content", is_a(str, list, type(None)), "type", "it is not a string or a list"),
    ),
    "image": _SOURCE,
    "document": _SOURCE,
}
"""The checks for each block type."""

_SPEAKERS = {
    "tool_use": ("assistant", "only the assistant calls tools"),
    "tool_result": ("user", "only a user message holds tool results"),
    "thinking": ("assistant", "only the assistant may reason"),
    "redacted_thinking": ("assistant", "only the assistant may reason"),
}
"""The role that may send each block type."""


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Roles are user and assistant, the first is user, and no message is empty (except a final
    assistant message); system messages are allowed between turns. Adjacent messages of one role
    are one turn, as the API merges them. Every call of a turn is answered exactly once, at the
    start of the next turn; ids are unique; the last calls may be pending. Reasoning is signed and
    comes first in its turn, except after a tool that ran at the provider. Whether signed reasoning
    is unchanged cannot be checked: signatures are opaque.
    """
    found = [v for index, message in enumerate(messages) for v in _shape(message, index)]
    if found and any(v.rule == "type" and v.field in ("", "content", "role") for v in found):
        return found
    last = len(messages) - 1
    if messages and messages[-1].get("role") == "assistant" and not messages[-1]["content"]:
        found = [v for v in found if not (v.index == last and v.rule == "empty")]
    turns = _turns(messages)
    if turns and turns[0].role != "user":
        text = "the first message must be a user's"
        found.append(Violation(turns[0].index, "role", "first", text))
    for turn in turns:
        found += [v for place in turn.blocks for v in _block(place, turn.role)]
        if turn.role == "assistant":
            found += _thoughts(turn)
    return [*found, *_pairing(turns)]


# --- one message ---------------------------------------------------------------------------


def _shape(message: Any, index: int) -> Iterator[Violation]:
    if not isinstance(message, dict):
        yield Violation(index, "", "type", "the message is not an object")
        return
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str):
        yield Violation(index, "role", "type", "the role is not a string")
    elif role not in ("user", "assistant", "system"):
        yield Violation(index, "role", "role", f"there is no role {role[:40]!r} here")
    if not isinstance(content, (str, list)):
        yield Violation(index, "content", "type", "the content is neither a string nor a list")
    elif not (content.strip() if isinstance(content, str) else content):
        yield Violation(index, "content", "empty", "the message is empty")


def _block(place: Place, role: str) -> Iterator[Violation]:
    index, path, block = place
    kind = block.get("type")
    if not isinstance(kind, str):
        yield Violation(index, f"{path}.type", "type", "the block has no type")
        return
    speaker, problem = _SPEAKERS.get(kind, (role, ""))
    if role != speaker:
        yield Violation(index, path, "role", problem)
    elif kind in _THOUGHTS and not is_filled(block.get(_PROOFS[kind])):
        yield Violation(index, path, "signature", "the reasoning is not signed")
    yield from check_fields(block, _CHECKS.get(kind, ()), index, path)
    content = block.get("content") if kind == "tool_result" else None
    if block.get("is_error") and kind == "tool_result" and not content:
        yield Violation(index, f"{path}.content", "empty", "a failed result must have content")
    for position, inner in enumerate(content if isinstance(content, list) else ()):
        inside = f"{path}.content[{position}]"
        if not isinstance(inner, dict):
            yield Violation(index, inside, "type", "the block is not an object")
        elif inner.get("type") == "text":
            yield from check_fields(inner, _CHECKS["text"], index, inside)


# --- turns ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Turn:
    role: str
    index: int
    blocks: list[Place] = field(default_factory=list)

    def of(self, kind: str) -> list[Place]:
        return [place for place in self.blocks if place[2].get("type") == kind]


def _turns(messages: Sequence[dict[str, Any]]) -> list[_Turn]:
    turns: list[_Turn] = []
    for index, message in enumerate(messages):
        if not turns or turns[-1].role != message["role"]:
            turns.append(_Turn(message["role"], index))
        content = message["content"]
        if isinstance(content, list):
            turns[-1].blocks += [
                (index, f"content[{at}]", block if isinstance(block, dict) else {})
                for at, block in enumerate(content)
            ]
        elif content.strip():
            turns[-1].blocks.append((index, "content", {"type": "text", "text": content}))
    return turns


def _thoughts(turn: _Turn) -> Iterator[Violation]:
    before: set[str] = set()
    for index, path, block in turn.blocks:
        kind = block.get("type")
        if not isinstance(kind, str):
            continue
        if kind in _THOUGHTS:
            if "tool_use" in before:
                yield Violation(index, path, "thinking", "reasoning follows a tool call")
            elif before and before <= _CLIENT_SIDE and before.isdisjoint(_THOUGHTS):
                yield Violation(index, path, "thinking", "reasoning is not first in its turn")
        before.add(kind)


def _pairing(turns: Sequence[_Turn]) -> Iterator[Violation]:
    seen: set[str] = set()
    waiting: dict[str, Place] = {}
    for turn in turns:
        yield from _answers(turn, waiting)
        only_results = len(turn.of("tool_result")) == len(turn.blocks) > 0
        if waiting and not (turn is turns[-1] and only_results):
            for unanswered, (index, path, _) in waiting.items():
                text = f"the call {unanswered[:80]!r} has no result in the next turn"
                yield Violation(index, f"{path}.id", "pairing", text)
        waiting = {}
        for place in turn.of("tool_use") if turn.role == "assistant" else ():
            number = place[2].get("id")
            if not isinstance(number, str):
                continue
            if number in seen:
                text = f"the id {number[:80]!r} occurs twice"
                yield Violation(place[0], f"{place[1]}.id", "duplicate", text)
            seen.add(number)
            waiting[number] = place


def _answers(turn: _Turn, waiting: dict[str, Place]) -> Iterator[Violation]:
    """Check the results of a turn and remove the calls that they answer from ``waiting``."""
    has_content = False
    for index, path, block in turn.blocks:
        if block.get("type") != "tool_result":
            has_content = True
            continue
        number = block.get("tool_use_id")
        if not isinstance(number, str):
            continue
        if waiting.pop(number, None) is None:
            text = f"the result of {number[:80]!r} does not follow a turn with that call"
            yield Violation(index, f"{path}.tool_use_id", "pairing", text)
        elif has_content:
            yield Violation(index, path, "order", "tool results must come first in their turn")
