"""Where the tokens of a conversation go: by kind, tool and file, and which of them are waste."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from foldline.snapshot.facts import files, signature
from foldline.values.frames import is_summary
from foldline.values.groups import Site, pair
from foldline.values.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter

KINDS: Final = (
    "system",
    "snapshot",
    "user",
    "assistant",
    "reasoning",
    "tool calls",
    "tool results",
    "media",
)

WASTE: Final = {
    "superseded reads": "results of calls that were made again later",
    "repeated lines": "lines of results that stood in an earlier result",
    "old reasoning": "reasoning from before the latest user message",
    "media": "images, sounds and documents",
    "base64 text": "encoded data in results",
}
"""What each kind of waste is."""

LINE: Final = 24
"""Characters from which a repeated line counts as waste; shorter ones repeat in any text."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{400,}={0,2}")


@dataclass(frozen=True, slots=True)
class Share:
    """Tokens of one kind, and how many parts they are in."""

    name: str
    tokens: int
    count: int


@dataclass(frozen=True, slots=True)
class ToolShare:
    """What a tool takes: its calls, how many failed, tokens of the calls and of the results."""

    name: str
    calls: int
    errors: int
    call_tokens: int
    result_tokens: int

    @property
    def tokens(self) -> int:
        """Calls and results together, in tokens."""
        return self.call_tokens + self.result_tokens


@dataclass(frozen=True, slots=True)
class FileShare:
    """What a file takes that tools named: operations with their number, tokens of all of them."""

    path: str
    operations: dict[str, int]
    tokens: int


@dataclass(frozen=True, slots=True)
class Large:
    """A message by its position, with what it is and how it begins."""

    index: int
    what: str
    tokens: int
    text: str


def by_kind(messages: Sequence[Message], counter: TokenCounter) -> tuple[Share, ...]:
    """
    Divide all tokens of a conversation among `KINDS`.

    Returns:
        One share a kind, those without tokens left out; together all that the messages take.
    """
    tokens: dict[str, int] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    for message in messages:
        for kind, taken in kinds_of(message, counter):
            tokens[kind] += taken
        for part in message.parts:
            counts[_kind(part, message)] += 1
    return tuple(Share(kind, tokens[kind], counts[kind]) for kind in KINDS if tokens[kind])


def kinds_of(message: Message, counter: TokenCounter) -> Iterator[tuple[str, int]]:
    """Yield kinds with their tokens; together they are what the message takes."""
    rest = counter.message(message)
    for part in message.parts:
        taken = min(rest, counter.part(part))
        yield _kind(part, message), taken
        rest -= taken
    yield home_kind(message), rest  # delimiters


def by_tool(messages: Sequence[Message], counter: TokenCounter) -> tuple[ToolShare, ...]:
    """Add up calls and results by the name of their tool, the most expensive first."""
    found: dict[str, ToolShare] = {}
    for call, result in exchanges(messages):
        name = call.name or "(unnamed)"
        known = found.get(name, ToolShare(name, 0, 0, 0, 0))
        found[name] = ToolShare(
            name,
            known.calls + 1,
            known.errors + (result is not None and result.is_error),
            known.call_tokens + counter.part(call),
            known.result_tokens + (counter.part(result) if result else 0),
        )
    return tuple(sorted(found.values(), key=lambda tool: -tool.tokens))


def by_file(messages: Sequence[Message], counter: TokenCounter) -> tuple[FileShare, ...]:
    """Add up calls and results by the file that the call names, the most expensive first."""
    operations: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    tokens: dict[str, int] = defaultdict(int)
    for call, result in exchanges(messages):
        named = files([Message("assistant", (call,))])
        for fact in named:
            operations[fact.path][fact.operation] += fact.times
            whole = counter.part(call) + (counter.part(result) if result else 0)
            tokens[fact.path] += whole // len(named)
    shares = (FileShare(path, dict(done), tokens[path]) for path, done in operations.items())
    return tuple(sorted(shares, key=lambda file: -file.tokens))


def largest(messages: Sequence[Message], counter: TokenCounter, most: int) -> tuple[Large, ...]:
    """List the largest messages, the largest first."""
    names = _result_names(messages)
    sized = sorted(
        ((counter.message(message), index) for index, message in enumerate(messages)),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return tuple(
        Large(index, _what(messages[index], names.get(index, "")), tokens, _text(messages[index]))
        for tokens, index in sized[:most]
    )


def waste(messages: Sequence[Message], counter: TokenCounter) -> tuple[Share, ...]:
    """
    Find what the model hardly needs any more. Nothing is counted under two names.

    Returns:
        Results that a later same call superseded, lines of results that stood in an earlier one,
        reasoning from before the latest user message, and media and base64 text.
    """
    stale = superseded(messages)
    repeated: list[str] = []
    encoded: list[str] = []
    seen: set[str] = set()
    old = Share("superseded reads", 0, len(stale))
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if not isinstance(part, ToolResult):
                continue
            if Site(index, position) in stale:
                old = replace(old, tokens=old.tokens + counter.part(part))
                continue
            encoded += _BASE64.findall(part.text)
            repeated += _repeated(_BASE64.sub("", part.text), seen)
    thoughts = list(_old_reasoning(messages))
    media = [part for message in messages for part in _media(message)]
    found = (
        old,
        Share("repeated lines", counter.text("\n".join(repeated)), len(repeated)),
        Share("old reasoning", sum(map(counter.part, thoughts)), len(thoughts)),
        Share("media", sum(map(counter.part, media)), len(media)),
        Share("base64 text", sum(map(counter.text, encoded)), len(encoded)),
    )
    return tuple(share for share in found if share.tokens)


def exchanges(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Yield every call with its result, None where there is none."""
    pairing = pair(messages)
    sites = sorted((*pairing.answers, *pairing.open), key=lambda s: (s.message, s.part))
    for site in sites:
        call = messages[site.message].parts[site.part]
        answer = pairing.answers.get(site)
        result = messages[answer.message].parts[answer.part] if answer else None
        if isinstance(call, ToolCall):
            yield call, result if isinstance(result, ToolResult) else None


def superseded(messages: Sequence[Message]) -> set[Site]:
    """Find the results whose call was made again later with the same arguments."""
    newest: dict[tuple[str, str], Site] = {}
    stale: set[Site] = set()
    for call, result in pair(messages).answers.items():
        part = messages[call.message].parts[call.part]
        if isinstance(part, ToolCall):
            before = newest.get(signature(part))
            newest[signature(part)] = result
            if before is not None:
                stale.add(before)
    return stale


def _kind(part: Part, message: Message) -> str:
    match part:
        case ToolCall():
            return "tool calls"
        case ToolResult():
            return "tool results"
        case Thinking():
            return "reasoning"
        case Media():
            return "media"
        case _:
            return home_kind(message)


def home_kind(message: Message) -> str:
    """Return the kind of what a message takes besides its parts, and of its plain texts."""
    if message.role == "tool" or (message.results and not message.is_spoken()):
        return "tool results"
    told = message.role == "user" and (is_snapshot(message) or is_summary(message.text))
    return "snapshot" if told else message.role


def _repeated(text: str, seen: set[str]) -> Iterator[str]:
    """Yield the lines that an earlier result had; a line repeated within one result counts not."""
    lines = {line.strip() for line in text.split("\n") if len(line.strip()) >= LINE}
    yield from lines & seen
    seen |= lines


def _old_reasoning(messages: Sequence[Message]) -> Iterator[Thinking]:
    latest = max((i for i, message in enumerate(messages) if message.is_spoken()), default=0)
    for message in messages[:latest]:
        yield from (part for part in message.parts if isinstance(part, Thinking))


def _media(message: Message) -> Iterator[Media]:
    for part in message.parts:
        pieces = part.content if isinstance(part, ToolResult) else (part,)
        yield from (piece for piece in pieces if isinstance(piece, Media))


def _result_names(messages: Sequence[Message]) -> dict[int, str]:
    """Name the tools whose results a message holds, by its position."""
    names: dict[int, list[str]] = defaultdict(list)
    for call, result in pair(messages).answers.items():
        part = messages[call.message].parts[call.part]
        if isinstance(part, ToolCall):
            names[result.message].append(part.name)
    return {index: ", ".join(dict.fromkeys(found)) for index, found in names.items()}


def _what(message: Message, results: str) -> str:
    if message.results:
        return f"result of {results}" if results else "tool result"
    calls = ", ".join(dict.fromkeys(call.name for call in message.calls))
    return f"{message.role}, calls {calls}" if calls else message.role


def _text(message: Message) -> str:
    """Return the beginning of what a message says."""
    for part in message.parts:
        match part:
            case Text() | Thinking() | ToolResult() if part.text.strip():
                return part.text[:1_000]
            case ToolCall():
                return part.arguments[:1_000]
            case Media():
                return f"[{part.kind} {part.media_type}]"
    return ""
