"""Reading a Claude Code session: which lines the model sees, and the API messages they make."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.arrangement import LineTree, Places, text_column
from foldline.formats.jsonl import Lines, at_line, read_lines
from foldline.formats.source import TranscriptSource
from foldline.values.messages import Message, Usage
from foldline.values.usage import read_usage

DIALECT = AnthropicDialect()


@dataclass(frozen=True, slots=True)
class ClaudeSegment:
    """
    What the model saw up to a compaction, or sees now.

    It begins at the line ``start``. ``places`` has the lines of each message, ``path`` the lines
    from the newest one up to the root, ``abandoned`` the spoken lines that a rewind left behind.
    """

    messages: tuple[Message, ...] = field(default=(), repr=False)
    places: Places = field(default_factory=dict, repr=False)
    path: frozenset[int] = field(default=frozenset(), repr=False)
    abandoned: frozenset[int] = field(default=frozenset(), repr=False)
    start: int = 0


@dataclass(frozen=True, slots=True)
class ClaudeSession:
    """A session file, ready to be written again."""

    id: str
    lines: Lines
    tree: LineTree
    segments: tuple[ClaudeSegment, ...]


def read(source: TranscriptSource) -> tuple[ClaudeSession, tuple[str, ...]]:
    """
    Read a session file.

    Returns:
        The session, its current segment last, and warnings.

    Raises:
        InputError: Naming the line and the field of a message that is malformed.
    """
    lines, values, unreadable = read_lines(source)
    records = [value or {} for value in values]
    spoken, main = _main_thread(records)
    tree = LineTree.of(text_column(main, "uuid"), text_column(main, "parentUuid"))
    reader = _Reader(main, tree)
    cuts = [n for n, record in enumerate(main) if _is_system(record, "compact_boundary")]
    edges = list(pairwise([0, *cuts, len(records)]))
    found = [reader.segment(start, end, _between(spoken, start, end)) for start, end in edges]
    segments = tuple(segment for segment in found if segment.messages) or (ClaudeSegment(),)
    named = (name for name in text_column(records, "sessionId") if name)
    session = ClaudeSession(next(named, "session"), lines, tree, segments)
    return session, (*unreadable, *_warnings(main, segments))


def is_spoken(record: dict[str, Any]) -> bool:
    """Return True if a record holds an API message that is sent, not a local error text."""
    message = record.get("message")
    return (
        record.get("type") in ("user", "assistant")
        and isinstance(message, dict)
        and "content" in message
        and not record.get("isApiErrorMessage")
    )


def _main_thread(records: Sequence[dict[str, Any]]) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the spoken lines, and the records with those of sub-agents made empty."""
    spoken = [n for n, record in enumerate(records) if is_spoken(record)]
    own = [n for n in spoken if not records[n].get("isSidechain")]
    if not own:
        return spoken, list(records)
    return own, [{} if record.get("isSidechain") else record for record in records]


def _is_system(record: dict[str, Any], subtype: str) -> bool:
    return record.get("type") == "system" and record.get("subtype") == subtype


def _between(numbers: Sequence[int], start: int, end: int) -> Sequence[int]:
    return numbers[bisect_left(numbers, start) : bisect_left(numbers, end)]


class _Reader:
    """The records of the main thread with their links."""

    def __init__(self, records: Sequence[dict[str, Any]], tree: LineTree) -> None:
        self.records, self.tree = records, tree

    def segment(self, start: int, end: int, spoken: Sequence[int]) -> ClaudeSegment:
        """Read the messages between two compactions."""
        if not spoken:
            return ClaudeSegment()
        leaf = self._leaf(end, spoken)
        path, seen = frozenset[int](), list(spoken)
        if self.tree.keys[leaf] is not None:
            path = self.tree.path(leaf, start)
            seen = self._with_siblings([n for n in spoken if n in path], spoken)
        units = list(_merge_lines((n, self.records[n]) for n in self._with_preserved(start, seen)))
        with at_line([lines[0] for lines, _ in units]):
            messages = DIALECT.decode([wire for _, wire in units]).messages
        places = {m.id: lines for m, (lines, _) in zip(messages, units, strict=True)}
        counted = tuple(replace(m, usage=self._usage(places[m.id])) for m in messages)
        return ClaudeSegment(counted, places, path, frozenset(spoken).difference(seen), start)

    def _leaf(self, end: int, spoken: Sequence[int]) -> int:
        """Return the newest line: what the compaction at ``end`` followed, else the last one."""
        if end < len(self.records):
            before = self.records[end].get("logicalParentUuid")
            line = self.tree.lines.get(before, -1) if isinstance(before, str) else -1
            if line >= spoken[0]:
                return line
        return spoken[-1]

    def _with_siblings(self, seen: Sequence[int], spoken: Sequence[int]) -> list[int]:
        """
        Add what parallel calls put beside the path.

        Every block of a message has a line, each result hangs on the line of its call: a path
        meets only one of them.
        """
        numbers = {_api_id(self.records[n]) for n in seen} - {None}
        calls = {n for n in spoken if _api_id(self.records[n]) in numbers}
        call_ids = {key for n in calls for key in _call_ids(self.records[n])}
        open_calls = call_ids.difference(key for n in seen for key in _result_ids(self.records[n]))
        answers = {n for n in spoken if open_calls.intersection(_result_ids(self.records[n]))}
        return sorted(calls.union(seen, answers))

    def _with_preserved(self, start: int, seen: Sequence[int]) -> list[int]:
        """Put the messages that a compaction preserved behind its summary."""
        metadata = self.records[start].get("compactMetadata")
        kept = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
        if not isinstance(kept, dict) or not isinstance(kept.get("uuids"), list):
            return list(seen)
        numbers = [self.tree.lines.get(key, -1) for key in kept["uuids"] if isinstance(key, str)]
        preserved = [n for n in numbers if 0 <= n < start and is_spoken(self.records[n])]
        return [*seen[:1], *dict.fromkeys(preserved), *seen[1:]]

    def _usage(self, lines: Sequence[int]) -> Usage | None:
        """Return what the last line says: all lines of a message repeat its one count."""
        return read_usage(self.records[lines[-1]]["message"].get("usage"))


def _api_id(record: dict[str, Any]) -> str | None:
    number = record["message"].get("id") if record["type"] == "assistant" else None
    return number if isinstance(number, str) and number else None


def _blocks(record: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    content = record["message"]["content"]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def _call_ids(record: dict[str, Any]) -> list[str]:
    numbers = (block.get("id") for block in _blocks(record, "tool_use"))
    return [number for number in numbers if isinstance(number, str)]


def _result_ids(record: dict[str, Any]) -> list[str]:
    numbers = (block.get("tool_use_id") for block in _blocks(record, "tool_result"))
    return [number for number in numbers if isinstance(number, str)]


def _merge_lines(
    numbered: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """Join the lines of one API message; what only a response has (id, usage) is left out."""
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
