"""Where the tokens of a conversation go: by kind, tool and file, and waste."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Final

from foldline.frozen import frozen
from foldline.snapshot.file_changes import files
from foldline.snapshot.invocations import signature
from foldline.values.frames import is_summary
from foldline.values.groups import Pairing, Site, pair
from foldline.values.messages import (
    Media,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

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
    "superseded reads": "results of calls that were repeated later",
    "repeated lines": "lines of results that an earlier result has",
    "old reasoning": "reasoning from before the latest user message",
    "media": "images, audio and documents",
    "base64 text": "encoded data in results",
}
"""Description of each kind of waste."""

LINE: Final = 24
"""Minimum length of a repeated line to count as waste; shorter ones repeat in any text."""

ENCODED: Final = 400
"""Minimum length of a run without white space to count as base64."""

SLOTS: Final = 1 << 24
"""Number of distinct lines tracked for a session; beyond it, some are checked twice."""

_BASE64: Final = re.compile(rf"[A-Za-z0-9+/]{{{ENCODED},}}={{0,2}}")


@frozen
class Share:
    """Tokens of one kind, and the number of parts that hold them."""

    name: str
    tokens: int
    count: int


@frozen
class ToolShare:
    """Usage of a tool: its calls, the failed ones, tokens of the calls and of the results."""

    name: str
    calls: int
    errors: int
    call_tokens: int
    result_tokens: int

    @property
    def tokens(self) -> int:
        """Calls and results together, in tokens."""
        return self.call_tokens + self.result_tokens


@frozen
class FileShare:
    """Usage of a file named in tool calls: operations with their number, tokens of all of them."""

    path: str
    operations: dict[str, int]
    tokens: int


@frozen
class Large:
    """A message by its position, with its role and its start."""

    index: int
    what: str
    tokens: int
    text: str


def by_kind(messages: Sequence[Message], counter: TokenCounter) -> tuple[Share, ...]:
    """
    Divide all tokens of a conversation among `KINDS`.

    Returns:
        One share per kind, without empty ones; they add up to all tokens of the messages.
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
    """Yield kinds with their tokens; they add up to the tokens of the message."""
    rest = counter.message(message)
    for part in message.parts:
        taken = min(rest, counter.part(part))
        yield _kind(part, message), taken
        rest -= taken
    yield home_kind(message), rest  # delimiters


def by_tool(
    messages: Sequence[Message], counter: TokenCounter, pairing: Pairing | None = None
) -> tuple[ToolShare, ...]:
    """Add up calls and results by the name of their tool, the most expensive first."""
    found: dict[str, ToolShare] = {}
    for call, result in exchanges(messages, pairing):
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


def by_file(
    messages: Sequence[Message], counter: TokenCounter, pairing: Pairing | None = None
) -> tuple[FileShare, ...]:
    """Add up calls and results by the file that the call names, the most expensive first."""
    operations: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    tokens: dict[str, int] = defaultdict(int)
    for call, result in exchanges(messages, pairing):
        named = files([Message("assistant", (call,))])
        for fact in named:
            operations[fact.path][fact.operation] += fact.times
            whole = counter.part(call) + (counter.part(result) if result else 0)
            tokens[fact.path] += whole // len(named)
    shares = (FileShare(path, dict(done), tokens[path]) for path, done in operations.items())
    return tuple(sorted(shares, key=lambda file: -file.tokens))


def largest(
    messages: Sequence[Message], counter: TokenCounter, most: int, pairing: Pairing | None = None
) -> tuple[Large, ...]:
    """List the largest messages, the largest first."""
    sized = ((-counter.message(message), index) for index, message in enumerate(messages))
    found = nsmallest(most, sized)
    names = _result_names(messages, pairing or pair(messages), {index for _, index in found})
    return tuple(
        Large(index, _what(messages[index], names.get(index, "")), -tokens, _text(messages[index]))
        for tokens, index in found
    )


def waste(
    messages: Sequence[Message], counter: TokenCounter, pairing: Pairing | None = None
) -> tuple[Share, ...]:
    """
    Find content that the model hardly needs any more. Nothing is counted twice.

    Returns:
        Results superseded by a later identical call, lines of results that an earlier one has,
        reasoning from before the latest user message, and media and base64 text.
    """
    stale = find_superseded(messages, pairing)
    old = [messages[site.message].parts[site.part] for site in stale]
    texts = [
        part.text
        for index, message in enumerate(messages)
        for position, part in enumerate(message.parts)
        if isinstance(part, ToolResult) and Site(index, position) not in stale
    ]
    lines = (line for text in texts for line in text.split("\n") if len(line) >= ENCODED)
    encoded = [found for line in lines for found in _BASE64.findall(line)]
    repeated = list(_find_repeated(texts))
    thoughts = list(_old_reasoning(messages))
    media = [part for message in messages for part in _media(message)]
    found = (
        Share("superseded reads", sum(map(counter.part, old)), len(old)),
        Share(
            "repeated lines",
            sum(counter.text("\n".join(held)) for held in repeated),
            sum(map(len, repeated)),
        ),
        Share("old reasoning", sum(map(counter.part, thoughts)), len(thoughts)),
        Share("media", sum(map(counter.part, media)), len(media)),
        Share("base64 text", sum(map(counter.text, encoded)), len(encoded)),
    )
    return tuple(share for share in found if share.tokens)


def exchanges(
    messages: Sequence[Message], pairing: Pairing | None = None
) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Yield every call with its result, or None if it has none."""
    pairing = pairing or pair(messages)
    sites = sorted((*pairing.answers, *pairing.open), key=lambda s: (s.message, s.part))
    for site in sites:
        call = messages[site.message].parts[site.part]
        answer = pairing.answers.get(site)
        result = messages[answer.message].parts[answer.part] if answer else None
        if isinstance(call, ToolCall):
            yield call, result if isinstance(result, ToolResult) else None


def find_superseded(messages: Sequence[Message], pairing: Pairing | None = None) -> set[Site]:
    """Find the results whose call was repeated later with the same arguments."""
    newest: dict[tuple[str, str], Site] = {}
    stale: set[Site] = set()
    for call, result in (pairing or pair(messages)).answers.items():
        part = messages[call.message].parts[call.part]
        if isinstance(part, ToolCall):
            key = signature(part)
            before = newest.get(key)
            newest[key] = result
            if before is not None:
                stale.add(before)
    return stale


_KIND_OF: Final[dict[type[Part], str]] = {
    ToolCall: "tool calls",
    ToolResult: "tool results",
    Thinking: "reasoning",
    Media: "media",
}


def _kind(part: Part, message: Message) -> str:
    return _KIND_OF.get(type(part)) or home_kind(message)


def home_kind(message: Message) -> str:
    """Return the kind of a message's plain texts, and of its overhead beyond its parts."""
    if message.role == "tool" or (message.results and not message.is_from_user()):
        return "tool results"
    is_summarized = message.role == "user" and (is_snapshot(message) or is_summary(message.text))
    return "snapshot" if is_summarized else message.role


def _find_repeated(texts: Sequence[str]) -> Iterator[list[str]]:
    """
    Yield for each text its lines that an earlier text had.

    Lines are stored by hash, and only those that may repeat: all lines of a long
    session would take several times its memory.
    """
    met, twice = bytearray(SLOTS), set[int]()
    for text in texts:
        for number in set(map(hash, _lines(text))):
            if met[number % SLOTS]:
                twice.add(number)
            met[number % SLOTS] = 1
    seen: set[int] = set()
    for text in texts if twice else ():
        known = {hash(line): line for line in _lines(text) if hash(line) in twice}
        held = [line for number, line in known.items() if number in seen]
        seen.update(known)
        if held:
            yield held


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that count when repeated."""
    for line in text.split("\n"):
        bare = line.strip()
        if len(bare) >= LINE:
            bare = _BASE64.sub("", bare).strip() if len(bare) >= ENCODED else bare
            if len(bare) >= LINE:
                yield bare


def _old_reasoning(messages: Sequence[Message]) -> Iterator[Thinking]:
    latest = max((i for i, message in enumerate(messages) if message.is_from_user()), default=0)
    for message in messages[:latest]:
        yield from (part for part in message.parts if isinstance(part, Thinking))


def _media(message: Message) -> Iterator[Media]:
    for part in message.parts:
        pieces = part.content if isinstance(part, ToolResult) else (part,)
        yield from (piece for piece in pieces if isinstance(piece, Media))


def _result_names(
    messages: Sequence[Message], pairing: Pairing, positions: set[int]
) -> dict[int, str]:
    """Return the tools whose results each message holds, by its position."""
    names: dict[int, list[str]] = defaultdict(list)
    for call, result in pairing.answers.items():
        part = messages[call.message].parts[call.part]
        if result.message in positions and isinstance(part, ToolCall):
            names[result.message].append(part.name)
    return {index: ", ".join(dict.fromkeys(found)) for index, found in names.items()}


def _what(message: Message, results: str) -> str:
    if message.results:
        return f"result of {results}" if results else "tool result"
    calls = ", ".join(dict.fromkeys(call.name for call in message.calls))
    return f"{message.role}, calls {calls}" if calls else message.role


def _text(message: Message) -> str:
    """Return the start of the text of a message."""
    for part in message.parts:
        match part:
            case Text() | Thinking() | ToolResult() if part.text.strip():
                return part.text[:1_000]
            case ToolCall():
                return part.arguments[:1_000]
            case Media():
                return f"[{part.kind} {part.media_type}]"
    return ""


@frozen
class TokenStats:
    """
    Statistics of a conversation; numbers are tokens unless they count items.

    ``tokens`` are those of the messages; ``system`` and ``tool_schemas`` are sent in addition.
    ``reported`` is the usage that a provider reported for the newest request.
    """

    tokens: int
    messages: int
    system: int
    tool_schemas: int
    schemas: int
    reported: Usage | None
    kinds: tuple[Share, ...]
    tools: tuple[ToolShare, ...]
    files: tuple[FileShare, ...]
    largest: tuple[Large, ...]
    waste: tuple[Share, ...]


def measure(transcript: Transcript, counter: TokenCounter, top: int) -> TokenStats:
    """Measure a conversation; lists have at most ``top`` entries."""
    messages = transcript.messages
    pairing = pair(messages)
    usage = next((m.usage for m in reversed(messages) if m.usage is not None), None)
    return TokenStats(
        tokens=counter.messages(messages),
        messages=len(messages),
        system=counter.overhead(transcript.system, ()),
        tool_schemas=counter.overhead("", transcript.tools),
        schemas=len(transcript.tools),
        reported=usage,
        kinds=by_kind(messages, counter),
        tools=by_tool(messages, counter, pairing)[:top],
        files=by_file(messages, counter, pairing)[:top],
        largest=largest(messages, counter, top, pairing),
        waste=waste(messages, counter, pairing),
    )
