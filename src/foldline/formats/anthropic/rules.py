"""The strict rules of Anthropic Messages, as a server that rejects with status 400 has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foldline.errors import InputError
from foldline.formats.dialect import Violation, body

Place: TypeAlias = tuple[int, str, dict[str, Any]]
"""A block: position of its message, its path there, the block."""

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_CLIENT_SIDE = frozenset({"text", "image", "document", "tool_use", "tool_result", *_THOUGHTS})


def body_violations(wire: Any) -> list[Violation]:
    """Check a list of messages or a request body; a value that is neither is a violation."""
    try:
        messages, around = body(wire, "messages")
    except InputError as error:
        return [Violation(0, error.field, "type", error.message)]
    found = violations(messages)
    system = (around or {}).get("system")
    if not isinstance(system, (str, list, type(None))):
        found.append(Violation(0, "system", "type", "the system prompt is no string or list"))
    return found


def violations(messages: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Users and the assistant speak, a user first, and nobody says nothing (but for a last assistant
    message, which may be empty); a system message may stand between their turns. Neighbouring
    messages of one role are one turn, as the API merges them. All calls of a turn are answered in
    the next one, before anything else there, once each; ids are unique; the last calls may still
    wait. Reasoning is signed and comes first in its turn, but for what follows a tool that ran at
    the provider. Whether signed reasoning is unchanged cannot be seen here: signatures are opaque.
    """
    found = [v for index, message in enumerate(messages) for v in _shape(message, index)]
    if found and any(v.rule == "type" and v.field in ("", "content", "role") for v in found):
        return found
    last = len(messages) - 1
    if messages and messages[-1].get("role") == "assistant" and not messages[-1]["content"]:
        found = [v for v in found if not (v.index == last and v.rule == "empty")]
    turns = _turns(messages)
    if turns and turns[0].role != "user":
        found.append(Violation(turns[0].index, "role", "first", "a user has to speak first"))
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
        yield Violation(index, "content", "empty", "the message says nothing")


def _block(place: Place, role: str) -> Iterator[Violation]:
    index, path, block = place
    match block.get("type"):
        case "text":
            yield from _text(block, index, path)
        case "tool_use":
            yield from _call(block, index, path, role)
        case "tool_result":
            yield from _result(block, index, path, role)
        case "thinking" | "redacted_thinking" as kind:
            proof = block.get("signature" if kind == "thinking" else "data")
            if role != "assistant":
                yield Violation(index, path, "role", "only the assistant thinks")
            elif not isinstance(proof, str) or not proof:
                yield Violation(index, path, "signature", "the reasoning is not signed")
        case "image" | "document":
            if not isinstance(block.get("source"), dict):
                yield Violation(index, f"{path}.source", "type", "the source is not an object")
        case str():
            return
        case _:
            yield Violation(index, f"{path}.type", "type", "the block has no type")


def _text(block: dict[str, Any], index: int, path: str) -> Iterator[Violation]:
    text = block.get("text")
    if not isinstance(text, str):
        yield Violation(index, f"{path}.text", "type", "the text is not a string")
    elif not text.strip():
        yield Violation(index, f"{path}.text", "empty", "the text is blank")


def _call(block: dict[str, Any], index: int, path: str, role: str) -> Iterator[Violation]:
    number = block.get("id")
    if role != "assistant":
        yield Violation(index, path, "role", "only the assistant calls tools")
    if not isinstance(number, str) or not _ID.fullmatch(number):
        yield Violation(index, f"{path}.id", "type", "the id is not made of a-z, 0-9, _ and -")
    if not isinstance(block.get("name"), str) or not block["name"]:
        yield Violation(index, f"{path}.name", "type", "the call names no tool")
    if not isinstance(block.get("input"), dict):
        yield Violation(index, f"{path}.input", "arguments", "the input is not an object")


def _result(block: dict[str, Any], index: int, path: str, role: str) -> Iterator[Violation]:
    content = block.get("content")
    if role != "user":
        yield Violation(index, path, "role", "only a user message holds tool results")
    if not isinstance(block.get("tool_use_id"), str):
        yield Violation(index, f"{path}.tool_use_id", "pairing", "the result names no call")
    if not isinstance(content, (str, list, type(None))):
        yield Violation(index, f"{path}.content", "type", "the content is no string or list")
    if block.get("is_error") and not content:
        yield Violation(index, f"{path}.content", "empty", "a failed result has to say something")
    for position, inner in enumerate(content if isinstance(content, list) else ()):
        inside = f"{path}.content[{position}]"
        if not isinstance(inner, dict):
            yield Violation(index, inside, "type", "the block is not an object")
        elif inner.get("type") == "text":
            yield from _text(inner, index, inside)


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
                yield Violation(index, path, "thinking", "reasoning stands behind a tool call")
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
    """Check the results of a turn and take the calls that they answer out of ``waiting``."""
    spoken = False
    for index, path, block in turn.blocks:
        if block.get("type") != "tool_result":
            spoken = True
            continue
        number = block.get("tool_use_id")
        if not isinstance(number, str):
            continue
        if waiting.pop(number, None) is None:
            text = f"the result of {number[:80]!r} does not follow a turn with that call"
            yield Violation(index, f"{path}.tool_use_id", "pairing", text)
        elif spoken:
            yield Violation(index, path, "order", "tool results have to come first in their turn")
