"""The content of messages as text: sections for their parts, each with a heading."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, TypeAlias

from foldline.errors import RecallError
from foldline.frozen import frozen
from foldline.values.groups import Site, group, pair
from foldline.values.handles import part_handle
from foldline.values.identity import canonical_json
from foldline.values.messages import (
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


def message_text(message: Message) -> str:
    """Return the whole text of a message; several parts have headings."""
    if len(message.parts) == 1:
        return part_text(message.parts[0])
    return "\n".join(_add_heading(part) for part in message.parts)


def part_text(part: Part) -> str:
    """Return the text of one part: its text, arguments or result; media are described."""
    match part:
        case Text(text) | Thinking(text):
            return text
        case ToolCall():
            return part.arguments
        case ToolResult():
            return "\n".join(part_text(piece) for piece in part.content)
        case Media():
            size = f", {part.size:,} bytes" if part.size else ""
            return f"[{part.kind} {part.media_type}{size}]"
        case Opaque():
            return part.text or canonical_json(part.raw)
        case Omitted():
            return ""


def part_raw(message: Message, index: int) -> object:
    """Return the wire original of one part; if it has none of its own, that of its message."""
    part = part_of(message, index)
    raw = None if isinstance(part, Omitted) else part.raw
    return message.raw if raw is None else raw


def part_of(message: Message, index: int) -> Part:
    """
    Return a part by its position.

    Raises:
        RecallError: The message has fewer parts.
    """
    if index >= len(message.parts):
        raise RecallError(
            f"The message {message.id[:8]} has no part {index}.",
            hint=f"It has {len(message.parts)}, counted from 0.",
        )
    return message.parts[index]


def _add_heading(part: Part) -> str:
    match part:
        case ToolCall():
            return f"[call {part.name}]\n{part.arguments}"
        case ToolResult():
            return f"[result {part.name or part.call_id or ''}]\n{part_text(part)}"
        case Thinking():
            return f"[reasoning]\n{part.text}"
        case _:
            return part_text(part)


Kind: TypeAlias = Literal["user", "assistant", "system", "reasoning", "call", "result"]

AIM: Final = 90
"""Maximum characters of a path, command or query in a heading."""

READ_AIM: Final = 20_000
"""Maximum characters of arguments that are searched for a path, command or query."""

_AIMS: Final = (
    "file_path", "path", "filename", "command", "cmd", "pattern", "query", "url", "description",
    "subject", "prompt", "input",
)  # fmt: skip

_LONG_PATH: Final = re.compile(
    r"(?<![^\s'\"=])/(?:[\w.@+-]{1,80}/){2,40}(?=(?:[\w.@+-]{1,80}/){2}[\w.@+-])"
)
"""The part of an absolute path before its last three names."""

STEP: Final = 64
"""Number of messages before and after a message that are searched for the rest of its step."""


SHORT_PATH: Final = 60
"""Longer JSON paths, in characters, take too much of an answer to say how a value is recalled."""


@frozen
class MessageSection:
    """
    One part of a message.

    ``handle`` recalls exactly ``text``; ``label`` is the tool and its main argument. If the handle
    recalls more, ``part_of`` names the text whose lines are numbered, and ``first`` is the number
    of the first line.
    """

    handle: str
    kind: Kind
    label: str
    text: str
    part_of: str = ""
    first: int = 1

    @property
    def heading(self) -> str:
        """One line: handle, kind, tool and main argument."""
        return f"[{' '.join(filter(None, (self.handle, self.kind, self.label)))}]"

    @property
    def has_paths(self) -> bool:
        """Whether the paths of its JSON values recall them; they are those of a line."""
        return not self.part_of and "\n" not in self.text.strip()

    def locate(self, first: int, last: int, path: str = "") -> str:
        """
        Say how lines are recalled.

        Args:
            first: The number of the first one, where ``handle`` or ``part_of`` counts them.
            last: That of the last one.
            path: Of the JSON value alone that is meant.
        """
        if path.isascii() and 0 < len(path) <= SHORT_PATH and self.has_paths:
            how = f"path={path}"
        else:
            how = f"lines={first}" if first == last else f"lines={first}:{last}"
        return f"{how} of {self.part_of or self.handle}"


def cut_sections(messages: Sequence[Message], handles: Mapping[str, str]) -> list[MessageSection]:
    """
    Split messages into sections, in order; parts without text are omitted.

    Args:
        messages: The messages, in order.
        handles: Handles by id.
    """
    labels = {
        result: _label(messages[call.message].parts[call.part])
        for call, result in pair(messages).answers.items()
    }
    out = []
    for index, message in enumerate(messages):
        whole = handles.get(message.id, message.id)
        for position, part in enumerate(message.parts):
            text = "" if isinstance(part, Omitted) else part_text(part)
            if not text.strip():
                continue
            handle = part_handle(whole, message, position)
            # The handle of a call's message recalls the whole step.
            if isinstance(part, ToolCall) and handle == whole:
                handle = f"{whole}.{position}"
            label = labels.get(Site(index, position)) or _label(part)
            out.append(MessageSection(handle, _kind(message, part), label, text))
    return out


def step_of(log: Mapping[str, Message], message: Message) -> tuple[Message, ...]:
    """
    Return the step of an assistant message: calls, their results and the reasoning before them.

    Args:
        log: The messages by id, in order; only those that may belong to the step are read.
        message: One of the messages.

    Returns:
        The step; only the message if it is not the assistant's.
    """
    if message.role != "assistant":
        return (message,)
    ids = list(log)
    index = ids.index(message.id)
    before = (log[one] for one in reversed(ids[max(0, index - STEP) : index]))
    near = [*reversed(list(takewhile(lambda one: one.role == "assistant", before))), message]
    at, waiting, answered = len(near) - 1, sum(len(one.calls) for one in near), False
    for one in ids[index + 1 : index + STEP]:
        following = log[one]
        if following.is_from_user() or (
            answered and following.role == "assistant" and waiting <= 0
        ):
            break
        answered = answered or bool(following.results)
        waiting += len(following.calls) - len(following.results)
        near.append(following)
    found = next(one for one in group(near) if at in one.members)
    return tuple(near[member] for member in found.members)


def _kind(message: Message, part: Part) -> Kind:
    match part:
        case ToolCall():
            return "call"
        case ToolResult():
            return "result"
        case Thinking():
            return "reasoning"
        case _:
            return "result" if message.role == "tool" else message.role


def _label(part: Part) -> str:
    match part:
        case ToolCall(name=name):
            return f"{_one_line(name)} {_aim(part.arguments)}".strip()
        case ToolResult(name=name):
            return _one_line(name)
        case _:
            return ""


def _aim(arguments: str) -> str:
    """Return the path, command or query among the arguments of a call, shortened."""
    try:
        value = json.loads(arguments) if len(arguments) <= READ_AIM else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    named = (value.get(key) for key in _AIMS)
    texts = (one for one in (*named, *value.values()) if isinstance(one, str) and one.strip())
    return _one_line(_LONG_PATH.sub("…/", next(texts, "")[: 4 * AIM]))


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * AIM].split())
    return line if len(line) <= AIM else f"{line[: AIM - 1]}…"
