"""
Claude Code sessions: JSON Lines with a tree of records, one content block of the model per line.

The model's view is rebuilt as Claude Code does on resume: walk up from the last record, which
skips rewound branches, and start at the last compaction. Each compaction ends a segment; the last
conversation of the recording is the current view. Lines marked ``isMeta`` (skills, caveats, hook
feedback) are part of the prompt. ``attachment`` records, some of which Claude Code turns into
reminders, and ``toolUseResult``, a second copy of each result, are metadata: they stay in the file
and are not counted. Lines of sub-agents are metadata too, except in a file of nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.arrangement import LineTree, Slot, text_column
from foldline.formats.jsonl import (
    JsonDraft,
    Lines,
    SessionFormat,
    SessionSegment,
    at_line,
    collect_message_lines,
    read_lines,
)
from foldline.formats.source import TranscriptSource
from foldline.frozen import field, frozen, replace
from foldline.values.messages import Message
from foldline.values.usage import read_usage

DIALECT = AnthropicDialect()


_KNOWN = ("file-history-snapshot", "queue-operation", "progress", "summary")


@frozen
class ClaudeSegment(SessionSegment):
    """
    A segment that begins at the line ``start``.

    ``path`` are the lines from the newest one up to the root, ``abandoned`` the message lines of
    rewound branches.
    """

    path: frozenset[int] = field(default=frozenset(), repr=False)
    abandoned: frozenset[int] = field(default=frozenset(), repr=False)
    start: int = 0


@frozen
class ClaudeSession:
    """A parsed session file, with all that is needed to write it."""

    id: str
    lines: Lines
    tree: LineTree
    segments: tuple[ClaudeSegment, ...]


class ClaudeCode(SessionFormat):
    """
    The session files under ``~/.claude/projects``.

    A changed message changes the lines whose blocks changed, which lose their ``toolUseResult``.
    A new message becomes its own line in the chain of parents; ``isCompactSummary`` marks those of
    the user.
    """

    name = "claude-code"
    title = "Claude Code session (.jsonl)"
    dialect = DIALECT.name

    def recognises(self, source: TranscriptSource) -> float:
        """Look for lines with an API message and tree links."""
        records = [value for value in source.head if isinstance(value, dict)]
        message_records = [record for record in records if is_message_record(record)]
        if any("parentUuid" in record for record in message_records):
            return 1.0
        known = any(record.get("type") in _KNOWN for record in records)
        return 0.6 if known or message_records else 0.0

    def read(self, source: TranscriptSource) -> tuple[ClaudeSession, tuple[str, ...]]:
        """Read a session; see `SessionFormat.read`."""
        lines, values, unreadable = read_lines(source)
        records = [value or {} for value in values]
        message_lines, main = _main_thread(records)
        tree = LineTree.of(text_column(main, "uuid"), text_column(main, "parentUuid"))
        reader = _Reader(main, tree)
        cuts = [n for n, record in enumerate(main) if _is_system(record, "compact_boundary")]
        found = []
        for start, end in pairwise([0, *cuts, len(records)]):
            between = message_lines[
                bisect_left(message_lines, start) : bisect_left(message_lines, end)
            ]
            found.append(reader.segment(start, end, between))
        segments = tuple(segment for segment in found if segment.messages) or (ClaudeSegment(),)
        named = (name for name in text_column(records, "sessionId") if name)
        session = ClaudeSession(next(named, "session"), lines, tree, segments)
        return session, (*unreadable, *_warnings(main, segments))

    def draft(self, session: ClaudeSession) -> JsonDraft:
        """Create a draft of the changed file."""
        return _Draft(session)


# --- reading -------------------------------------------------------------------------------


def is_message_record(record: dict[str, Any]) -> bool:
    """Return True if a record holds an API message that is sent, not a local error text."""
    match record:
        case {"type": "user" | "assistant", "message": {"content": _}}:
            return not record.get("isApiErrorMessage")
        case _:
            return False


def _main_thread(records: Sequence[dict[str, Any]]) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the message lines, and the records, empty for those of sub-agents."""
    message_lines = [n for n, record in enumerate(records) if is_message_record(record)]
    own = [n for n in message_lines if not records[n].get("isSidechain")]
    if not own:
        return message_lines, list(records)
    return own, [{} if record.get("isSidechain") else record for record in records]


def _is_system(record: dict[str, Any], subtype: str) -> bool:
    return record.get("type") == "system" and record.get("subtype") == subtype


class _Reader:
    """The records of the main thread with their parent links."""

    def __init__(self, records: Sequence[dict[str, Any]], tree: LineTree) -> None:
        self.records, self.tree = records, tree

    def segment(self, start: int, end: int, message_lines: Sequence[int]) -> ClaudeSegment:
        """Read the messages between two compactions."""
        if not message_lines:
            return ClaudeSegment()
        leaf = self._leaf(end, message_lines)
        path, seen = frozenset[int](), list(message_lines)
        if self.tree.keys[leaf] is not None:
            path = self.tree.path(leaf, start)
            seen = self._with_siblings([n for n in message_lines if n in path], message_lines)
        units = list(_merge_lines((n, self.records[n]) for n in self._with_preserved(start, seen)))
        with at_line([lines[0] for lines, _ in units]):
            messages = DIALECT.decode([wire for _, wire in units]).messages
        places = {m.id: lines for m, (lines, _) in zip(messages, units, strict=True)}
        # All lines of a message repeat its one count.
        ends = [self.records[lines[-1]]["message"] for lines, _ in units]
        counted = tuple(
            replace(message, usage=read_usage(end.get("usage")))
            for message, end in zip(messages, ends, strict=True)
        )
        return ClaudeSegment(
            counted, places, path, frozenset(message_lines).difference(seen), start
        )

    def _leaf(self, end: int, message_lines: Sequence[int]) -> int:
        """Return the newest line: the one before the compaction at ``end``, else the last one."""
        if end < len(self.records):
            before = self.records[end].get("logicalParentUuid")
            line = self.tree.lines.get(before, -1) if isinstance(before, str) else -1
            if line >= message_lines[0]:
                return line
        return message_lines[-1]

    def _with_siblings(self, seen: Sequence[int], message_lines: Sequence[int]) -> list[int]:
        """
        Add the lines of parallel calls beside the path.

        Every block of a message has a line, and the parent of each result is the line of its call:
        a path contains only one of them.
        """
        numbers = {_api_id(self.records[n]) for n in seen} - {None}
        calls = {n for n in message_lines if _api_id(self.records[n]) in numbers}
        open_calls = {key for n in calls for key in _ids(self.records[n], "tool_use", "id")}
        results = {n: _ids(self.records[n], "tool_result", "tool_use_id") for n in message_lines}
        open_calls.difference_update(key for n in seen for key in results[n])
        answers = {n for n in message_lines if open_calls.intersection(results[n])}
        return sorted(calls.union(seen, answers))

    def _with_preserved(self, start: int, seen: Sequence[int]) -> list[int]:
        """Insert the messages that a compaction preserved after its summary."""
        metadata = self.records[start].get("compactMetadata")
        kept = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
        if not isinstance(kept, dict) or not isinstance(kept.get("uuids"), list):
            return list(seen)
        numbers = [self.tree.lines.get(key, -1) for key in kept["uuids"] if isinstance(key, str)]
        preserved = [n for n in numbers if 0 <= n < start and is_message_record(self.records[n])]
        return [*seen[:1], *dict.fromkeys(preserved), *seen[1:]]


def _api_id(record: dict[str, Any]) -> str | None:
    number = record["message"].get("id") if record["type"] == "assistant" else None
    return number if isinstance(number, str) and number else None


def _ids(record: dict[str, Any], kind: str, key: str) -> list[str]:
    """Return the value of a key in each block of a kind."""
    content = record["message"]["content"]
    blocks = content if isinstance(content, list) else ()
    numbers = (b.get(key) for b in blocks if isinstance(b, dict) and b.get("type") == kind)
    return [number for number in numbers if isinstance(number, str)]


def _merge_lines(
    numbered: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """Join the lines of one API message, without response fields (id, usage)."""
    units: dict[str | int, list[tuple[int, dict[str, Any]]]] = {}
    for number, record in numbered:
        units.setdefault(_api_id(record) or number, []).append((number, record))
    for pieces in units.values():
        contents = [record["message"]["content"] for _, record in pieces]
        content = (
            contents[0] if len(contents) == 1 else [b for c in contents for b in as_blocks(c)]
        )
        role = pieces[0][1]["type"]
        yield tuple(number for number, _ in pieces), {"role": role, "content": content}


def as_blocks(content: Any) -> list[Any]:
    """Return content as a list of blocks, as many as its message has parts."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _warnings(
    records: Sequence[dict[str, Any]], segments: Sequence[ClaudeSegment]
) -> Iterator[str]:
    for number, record in enumerate(records):
        if _is_system(record, "microcompact_boundary"):
            metadata = record.get("microcompactMetadata")
            ids = metadata.get("compactedToolIds") if isinstance(metadata, dict) else None
            count = len(ids) if isinstance(ids, list) else 0
            yield (
                f"line {number + 1}: the agent cleared {count} tool results from its prompt; "
                "the file still holds them and they are read"
            )
    left = sum(len(segment.abandoned) for segment in segments)
    if left:
        yield f"{left} lines on rewound branches are kept, but not read"


# --- writing -------------------------------------------------------------------------------


_COPIED = (
    "isSidechain",
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
    "agentId",
    "timestamp",
)
"""Fields that a new line copies from its neighbour."""


class _Draft(JsonDraft):
    """A draft of the file, with new message contents."""

    def __init__(self, session: ClaudeSession) -> None:
        super().__init__(session.lines, collect_message_lines(session.segments))
        self.session = session
        self.contents: dict[Slot, Any] = {}
        self.wires: dict[str, dict[str, Any]] = {}

    def apply(self, segment: ClaudeSegment, messages: Sequence[Message]) -> None:
        """Apply the changes of one segment."""
        removed: set[Slot] = set()
        before = {message.id: message for message in segment.messages}
        for message in messages:
            if message.id not in before:
                wires = DIALECT.messages([message])
                self.wires |= {message.id: wires[0]} if wires else {}
            elif not message.intact:
                contents = self._contents(message, before[message.id], segment)
                removed |= {line for line, content in contents.items() if content is None}
                self.contents |= contents
        visible = [m for m in messages if m.id in before or m.id in self.wires]
        moved = self.arrange(segment.places, visible, segment.start).moved
        # Rewound lines must not become the newest ones: they would be read as the current view.
        owned = collect_message_lines([segment])
        last = max(
            (slot for slot in self.slots if isinstance(slot, int) and slot in owned), default=-1
        )
        self.remove(removed.union(line for line in segment.abandoned if line > last))
        if segment.path:
            self.relink(self.session.tree, moved, segment.path, _uuid)

    def _contents(
        self, message: Message, before: Message, segment: ClaudeSegment
    ) -> dict[Slot, Any]:
        """Divide a changed message among its lines; return the content of the changed lines."""
        out: dict[Slot, Any] = {}
        lines, start = segment.places[message.id], 0
        for line in lines:
            content = self.old.value(line)["message"]["content"]
            end = None if line == lines[-1] else start + len(as_blocks(content))
            parts = message.parts[start:end]
            if parts != before.parts[start:end]:
                raw = {"role": message.raw["role"], "content": content}
                wires = DIALECT.messages([replace(message, parts=parts, raw=raw)])
                out[line] = wires[0]["content"] if wires else None
            start += len(as_blocks(content))
        return out

    def update_line(self, line: int) -> Any:
        """Return the record of a line with a new parent or content."""
        if line not in self.contents and line not in self.parents:
            return None
        record = self.old.value(line)
        if line in self.parents:
            record["parentUuid"] = self.parents[line]
        if line in self.contents:
            record["message"]["content"] = self.contents[line]
            record.pop("toolUseResult", None)
        return record

    def new_values(self, message: Message, near: dict[str, Any]) -> Iterator[Any]:
        """Create the record of a new message; its other fields are copied from a neighbour."""
        wire = self.wires[message.id]
        record = {
            "parentUuid": self.parents.get(message.id),
            **{key: near[key] for key in _COPIED if key in near},
            "type": wire["role"],
            "message": wire,
            "uuid": _uuid(message),
        }
        if wire["role"] == "assistant":
            response = {"id": f"msg_{message.id}", "type": "message", "model": "<synthetic>"}
            yield {**record, "message": {**response, **wire}}
        else:
            yield record if message.results else {**record, "isCompactSummary": True}


def _uuid(message: Message) -> str:
    """Derive the id of a new line, deterministically."""
    return str(uuid5(NAMESPACE_OID, message.id))
