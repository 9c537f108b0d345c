"""Reading a Codex rollout: the items between two compactions, and where each of them stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from foldline.formats.arrangement import Places
from foldline.formats.jsonl import Lines, at_line, read_lines
from foldline.formats.openai_responses import OpenAIResponses
from foldline.formats.source import Source
from foldline.values.messages import Message, Usage

DIALECT = OpenAIResponses()

_UNSEEN = ("ghost_snapshot",)
"""Items that Codex keeps for itself."""

_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "<skill>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)
"""How user messages begin that Codex wrote itself; they begin no turn."""


@dataclass(frozen=True, slots=True)
class Segment:
    """
    What the model saw up to a compaction, or sees now.

    ``head`` is how many messages stand in the replacement history of the line ``compacted``;
    ``places`` has the lines of the others.
    """

    messages: tuple[Message, ...] = field(default=(), repr=False)
    places: Places = field(default_factory=dict, repr=False)
    head: int = 0
    compacted: int | None = None


@dataclass(frozen=True, slots=True)
class Rollout:
    """A rollout file, ready to be written again."""

    id: str
    system: str
    tools: tuple[Any, ...]
    lines: Lines
    segments: tuple[Segment, ...]


@dataclass(slots=True)
class _Draft:
    """A segment in the making: items with their lines, and token counts by position."""

    compacted: int | None = None
    items: list[tuple[int, Any]] = field(default_factory=list)
    head: int = 0
    usage: dict[int, Usage] = field(default_factory=dict)
    newest: int = -1

    def follow(self, line: int, item: dict[str, Any]) -> None:
        """Append the item of a line."""
        if _is_of_model(item):
            self.newest = len(self.items)
        self.items.append((line, item))

    def finished(self) -> Segment:
        with at_line([line for line, _ in self.items]):
            decoded = DIALECT.decode([item for _, item in self.items]).messages
        messages = tuple(
            replace(message, usage=self.usage[n]) if n in self.usage else message
            for n, message in enumerate(decoded)
        )
        body = zip(messages[self.head :], self.items[self.head :], strict=True)
        places = {message.id: (line,) for message, (line, _) in body}
        return Segment(messages, places, self.head, self.compacted)

    def count(self, info: Any) -> None:
        """Give the reported tokens to the newest item of the model."""
        usage = _usage(info)
        if usage and self.newest >= 0:
            self.usage[self.newest] = usage

    def roll_back(self, turns: Any) -> None:
        """Leave out the newest turns of the user and everything behind them."""
        starts = [n for n, (_, item) in enumerate(self.items) if _begins_turn(item)]
        if isinstance(turns, int) and turns > 0 and starts:
            cut = starts[-min(turns, len(starts))]
            self.items, self.head = self.items[:cut], min(self.head, cut)
            self.usage = {n: usage for n, usage in self.usage.items() if n < cut}
            self.newest = min(self.newest, cut - 1)


def read(source: Source) -> tuple[Rollout, tuple[str, ...]]:
    """
    Read a rollout file.

    Returns:
        The rollout, its current segment last, and warnings.

    Raises:
        InputError: Naming the line and the field of an item that is malformed.
    """
    lines, values, warnings = read_lines(source)
    meta: dict[str, Any] = {}
    drafts = [_Draft()]
    for number, value in enumerate(values):
        payload = value.get("payload") if value else None
        if not isinstance(payload, dict):
            continue
        if value.get("type") == "session_meta":
            meta = {**payload, **meta}
        elif value.get("type") == "compacted":
            drafts.append(_restarted(number, payload))
        else:
            _follow(drafts[-1], number, value.get("type"), payload)
    kept = [draft for draft in drafts if draft.items] or drafts[-1:]
    segments = tuple(draft.finished() for draft in kept)
    title = meta.get("id")
    number_or_name = title if isinstance(title, str) and title else "rollout"
    return Rollout(number_or_name, _system(meta), _tools(meta), lines, segments), warnings


def _follow(draft: _Draft, number: int, kind: Any, payload: dict[str, Any]) -> None:
    if kind == "response_item":
        if payload.get("type") not in _UNSEEN:
            draft.follow(number, payload)
    elif kind == "event_msg" and payload.get("type") == "token_count":
        draft.count(payload.get("info"))
    elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
        draft.roll_back(payload.get("num_turns"))


def _restarted(number: int, payload: dict[str, Any]) -> _Draft:
    """Begin a segment with what a compaction left; older ones hold nothing but a summary."""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        summary = payload.get("message")
        history = [user_item(summary)] if isinstance(summary, str) and summary else []
    seen = [item for item in history if not _is_unseen(item)]
    return _Draft(number, [(number, item) for item in seen], len(seen))


def user_item(text: str) -> dict[str, Any]:
    """Return an item in which a user says something."""
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def _is_unseen(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") in _UNSEEN


def _is_of_model(item: dict[str, Any]) -> bool:
    kind = str(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or kind.endswith("_call")


def _begins_turn(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") != "user":
        return False
    return not any(text.lstrip().startswith(_CONTEXT) for text in _texts(item.get("content")))


def _texts(content: Any) -> Iterator[str]:
    for block in content if isinstance(content, list) else [{"text": content}]:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text


def _usage(info: Any) -> Usage | None:
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    if not isinstance(last, dict):
        return None
    counts = [last.get(f"{key}_tokens") for key in ("input", "output", "cached_input")]
    given, output, cached = [n if isinstance(n, int) and n > 0 else 0 for n in counts]
    cached = min(cached, given)
    return Usage(given - cached, output, cached) if given or output else None


def _system(meta: dict[str, Any]) -> str:
    base = meta.get("base_instructions")
    text = base.get("text") if isinstance(base, dict) else meta.get("instructions")
    return text if isinstance(text, str) else ""


def _tools(meta: dict[str, Any]) -> tuple[Any, ...]:
    tools = meta.get("dynamic_tools")
    return tuple(tools) if isinstance(tools, list) else ()
