"""Codex rollouts: the items between two compactions, and the line of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from foldline.formats.arrangement import Slot
from foldline.formats.fields import text_or, token_counts, usage_of
from foldline.formats.json_document import is_unchanged
from foldline.formats.jsonl import (
    JsonDraft,
    Lines,
    SessionFormat,
    SessionSegment,
    at_line,
    collect_message_lines,
    read_lines,
)
from foldline.formats.openai_responses import OpenAIResponsesDialect
from foldline.formats.source import TranscriptSource
from foldline.frozen import frozen, replace
from foldline.values.messages import Message, Thinking, Usage
from foldline.values.transcript import Transcript

DIALECT = OpenAIResponsesDialect()

_UNSEEN = ("ghost_snapshot",)
"""Items that Codex does not send to the model."""

_CONTEXT = (
    "<environment_context>",
    "<user_instructions>",
    "<skill>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)
"""Prefixes of user messages that Codex itself wrote; these start no turn."""


@frozen
class CodexSegment(SessionSegment):
    """A segment whose first ``head`` messages are in the line ``compacted``, not in their own."""

    head: int = 0
    compacted: int | None = None


@frozen
class Rollout:
    """A parsed rollout file, with all that is needed to write it."""

    id: str
    system: str
    tools: tuple[Any, ...]
    lines: Lines
    segments: tuple[CodexSegment, ...]


@dataclass(slots=True)
class _Draft:
    """A segment under construction: items with their lines, and token counts by position."""

    compacted: int | None = None
    items: list[tuple[int, Any]] = field(default_factory=list)
    head: int = 0
    usage: dict[int, Usage] = field(default_factory=dict)
    newest: int = -1

    def follow(self, line: int, item: dict[str, Any]) -> None:
        """Append the item of a line."""
        kind = str(item.get("type"))
        if item.get("role") == "assistant" or kind == "reasoning" or kind.endswith("_call"):
            self.newest = len(self.items)
        self.items.append((line, item))

    def finish(self) -> CodexSegment:
        with at_line([line for line, _ in self.items]):
            decoded = DIALECT.decode([item for _, item in self.items]).messages
        messages = tuple(
            replace(message, usage=self.usage[n]) if n in self.usage else message
            for n, message in enumerate(decoded)
        )
        body = zip(messages[self.head :], self.items[self.head :], strict=True)
        places = {message.id: (line,) for message, (line, _) in body}
        return CodexSegment(messages, places, self.head, self.compacted)

    def count(self, info: Any) -> None:
        """Assign the reported tokens to the newest item of the model."""
        last = info.get("last_token_usage") if isinstance(info, dict) else None
        keys = ("input_tokens", "output_tokens", "cached_input_tokens")
        given, output, cached = token_counts(last, *keys)
        usage = usage_of(given, output, min(cached, given))
        if usage is not None and self.newest >= 0:
            self.usage[self.newest] = usage

    def roll_back(self, turns: Any) -> None:
        """Remove the newest user turns and everything after them."""
        starts = [n for n, (_, item) in enumerate(self.items) if _begins_turn(item)]
        if isinstance(turns, int) and turns > 0 and starts:
            cut = starts[-min(turns, len(starts))]
            self.items, self.head = self.items[:cut], min(self.head, cut)
            self.usage = {n: usage for n, usage in self.usage.items() if n < cut}
            self.newest = min(self.newest, cut - 1)


_KINDS = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")


class Codex(SessionFormat):
    """
    The rollout files under ``~/.codex/sessions``.

    A changed message changes its record, a new one becomes a ``response_item``. Changes in a
    ``replacement_history`` are written there.
    """

    name = "codex"
    title = "Codex rollout (.jsonl)"
    dialect = DIALECT.name

    def recognises(self, source: TranscriptSource) -> float:
        """Look for records of the known types with a payload."""
        records = [value for value in source.head if isinstance(value, dict)]
        known = [r.get("type") in _KINDS and isinstance(r.get("payload"), dict) for r in records]
        return 1.0 if any(known) else 0.0

    def read(self, source: TranscriptSource) -> tuple[Rollout, tuple[str, ...]]:
        """Read a rollout; see `SessionFormat.read`."""
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
                drafts.append(_restart(number, payload))
            else:
                _follow(drafts[-1], number, value.get("type"), payload)
        kept = [draft for draft in drafts if draft.items] or drafts[-1:]
        segments = tuple(draft.finish() for draft in kept)
        base, tools = meta.get("base_instructions"), meta.get("dynamic_tools")
        system = base.get("text") if isinstance(base, dict) else meta.get("instructions")
        return Rollout(
            text_or(meta.get("id"), "rollout"),
            text_or(system, ""),
            tuple(tools) if isinstance(tools, list) else (),
            lines,
            segments,
        ), warnings

    def transcript(self, session: Rollout, segment: SessionSegment) -> Transcript:
        """Return a segment with the instructions and the tools of the session."""
        return Transcript(
            segment.messages, self.dialect, system=session.system, tools=session.tools
        )

    def draft(self, session: Rollout) -> JsonDraft:
        """Create a draft of the changed file."""
        return _NewLines(session)


def _follow(draft: _Draft, number: int, kind: Any, payload: dict[str, Any]) -> None:
    if kind == "response_item":
        if payload.get("type") not in _UNSEEN:
            draft.follow(number, payload)
    elif kind == "event_msg" and payload.get("type") == "token_count":
        draft.count(payload.get("info"))
    elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
        draft.roll_back(payload.get("num_turns"))


def _restart(number: int, payload: dict[str, Any]) -> _Draft:
    """Start a segment with the result of a compaction; older versions store only a summary."""
    history = payload.get("replacement_history")
    if not isinstance(history, list):
        summary = text_or(payload.get("message"), "")
        content = [{"type": "input_text", "text": summary}]
        history = [{"type": "message", "role": "user", "content": content}] if summary else []
    seen = [i for i in history if not isinstance(i, dict) or i.get("type") not in _UNSEEN]
    return _Draft(number, [(number, item) for item in seen], len(seen))


def _begins_turn(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") != "user":
        return False
    content = item.get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return not any(isinstance(t, str) and t.lstrip().startswith(_CONTEXT) for t in texts)


class _NewLines(JsonDraft):
    """A draft of the file, with changed payloads and the items of new messages."""

    def __init__(self, rollout: Rollout) -> None:
        super().__init__(rollout.lines, collect_message_lines(rollout.segments))
        self.payloads: dict[int, dict[str, Any]] = {}
        self.new: dict[str, list[Any]] = {}

    def apply(self, segment: CodexSegment, messages: Sequence[Message]) -> None:
        """Apply the changes of one segment."""
        items, body = _Items(messages), messages
        if segment.compacted is not None:
            # Messages before the first one with its own line are, or become, history.
            own = (n for n, message in enumerate(messages) if message.id in segment.places)
            start = next(own, len(messages))
            body = messages[start:]
            self._replace_head(segment, segment.compacted, messages[:start], items)
        removed: set[Slot] = set()
        for message in body:
            wires = items.of(message)
            places = segment.places.get(message.id)
            if places is None:
                self.new[message.id] = wires
            elif not message.intact and wires:
                self.payloads[places[0]] = wires[0]
            elif not wires:
                removed.add(places[0])
        self.arrange(segment.places, body)
        self.remove(removed)

    def _replace_head(
        self, segment: CodexSegment, line: int, head: Sequence[Message], items: _Items
    ) -> None:
        if not is_unchanged(segment.messages[: segment.head], head):
            payload = self.old.value(line)["payload"]
            history = [wire for message in head for wire in items.of(message)]
            self.payloads[line] = {**payload, "replacement_history": history}

    def update_line(self, line: int) -> Any:
        """Return the record of a line with a new payload."""
        if line not in self.payloads:
            return None
        return {**self.old.value(line), "payload": self.payloads[line]}

    def new_values(self, message: Message, near: dict[str, Any]) -> Iterator[Any]:
        """Create the records of a new message, with the timestamp of its neighbour."""
        stamp = {"timestamp": near["timestamp"]} if "timestamp" in near else {}
        for wire in self.new[message.id]:
            yield {**stamp, "type": "response_item", "payload": wire}


class _Items:
    """Writes messages one by one, each together with the messages that its form depends on."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.before = dict(zip((m.id for m in messages[1:]), messages, strict=False))
        self.callers = {call.id: message for message in messages for call in message.calls}

    def of(self, message: Message) -> list[Any]:
        """Return the items of a message."""
        if message.intact and message.dialect == DIALECT.name:
            return [message.raw]
        around = [self.callers[r.call_id] for r in message.results if r.call_id in self.callers]
        before = self.before.get(message.id)
        if before is not None and any(isinstance(part, Thinking) for part in before.parts):
            around.append(before)
        return DIALECT.messages([*around, message])[len(DIALECT.messages(around)) :]
