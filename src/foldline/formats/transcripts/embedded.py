"""JSON documents that hold messages of a provider's wire: their location and dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from foldline.errors import InputError
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.arrangement import merge_entries
from foldline.formats.conversion import flat_text
from foldline.formats.dialect import Dialect
from foldline.formats.fields import expect, text_or
from foldline.formats.gemini import GeminiDialect
from foldline.formats.json_document import ConversationPath, JsonFormat, Path, at
from foldline.formats.langchain import LangChainDialect
from foldline.formats.langchain_shapes import CLASSES
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.source import TranscriptSource
from foldline.frozen import replace
from foldline.values.messages import Message, Role, Text
from foldline.values.transcript import Transcript
from foldline.values.usage import read_usage


class EmbeddedWire(JsonFormat):
    """A document with messages of one dialect."""

    wire: ClassVar[Dialect]

    def read(self, wire: Any) -> Transcript:
        """Read a list of messages, or a request body."""
        return self.wire.decode(wire)

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages of the dialect."""
        return self.wire.messages(messages)


def first_path(
    document: Any, paths: Iterable[Path], is_message: Callable[[Any], bool]
) -> Path | None:
    """Return the first path at which a document has a list of only messages."""
    for path in paths:
        items = at(document, path)
        if isinstance(items, list) and items and all(map(is_message, items)):
            return path
    return None


class GeminiContents(EmbeddedWire):
    """Gemini API contents: a bare list, a request body, or a wrapper with ``history``."""

    name = "gemini-contents"
    title = "Gemini API contents (.json)"
    wire = GeminiDialect()

    def recognises(self, source: TranscriptSource) -> float:
        """Look for contents with ``parts``."""
        return float(self._path(source.document) is not None)

    def find(self, document: Any) -> Iterable[tuple[str, Path, Any]]:
        """Yield the one conversation of the document."""
        path = self._path(document)
        if path is None:
            raise InputError("the document holds no Gemini contents", field="contents")
        title = text_or(at(document, ("scenarioId",)), "contents")
        yield title, path, document if path == ("contents",) else at(document, path)

    def _path(self, document: Any) -> Path | None:
        return first_path(document, (("contents",), ("history",), ()), _is_content)


def _is_content(item: Any) -> bool:
    match item:
        case {"kind": _}:  # as the messages of Pydantic AI have
            return False
        case {"parts": list()}:
            return item.get("role", "user") in ("user", "model", "function", "system")
        case _:
            return False


_STATES: tuple[Path, ...] = (
    ("values", "messages"),
    ("channel_values", "messages"),
    ("checkpoint", "channel_values", "messages"),
    ("messages",),
    (),
)


class LangGraph(EmbeddedWire):
    """LangGraph thread states, and lists of LangChain messages, plain or serialized."""

    name = "langgraph"
    title = "LangGraph thread state, LangChain messages (.json)"
    wire = LangChainDialect()

    def recognises(self, source: TranscriptSource) -> float:
        """Look for LangChain messages at the paths used by states and dumps."""
        return float(first_path(source.document, _STATES, _is_chain_message) is not None)

    def find(self, document: Any) -> Iterable[tuple[str, Path, Any]]:
        """Yield the one conversation of the document."""
        path = first_path(document, _STATES, _is_chain_message)
        if path is None:
            raise InputError("the document holds no LangChain messages", field="values.messages")
        yield "thread", path, at(document, path)


def _is_chain_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        return "content" in item["kwargs"]
    return "content" in item and "role" not in item and item.get("type") in (*CLASSES, "developer")


class Moatless(EmbeddedWire):
    """
    Moatless trajectories: a tree of nodes, each with the Anthropic request it was built from.

    The conversation is the request of the newest node, which repeats those before it.
    """

    name = "moatless"
    title = "Moatless trajectory (.json)"
    wire = AnthropicDialect()

    def recognises(self, source: TranscriptSource) -> float:
        """Look for nodes, at least one of which holds a request."""
        return float(bool(self._path(source.document)))

    def find(self, document: Any) -> Iterable[tuple[str, Path, Any]]:
        """Yield the request of the newest node."""
        path = self._path(document)
        if not path:
            raise InputError("the document holds no request of Moatless", field="nodes")
        body = {"messages": at(document, path)}
        system = at(document, ("agent", "system_prompt"))
        if isinstance(system, str):
            body["system"] = system
        yield text_or(at(document, ("metadata", "instance_id")), "trajectory"), path, body

    def _path(self, document: Any) -> Path:
        nodes = at(document, ("nodes",))
        for index in range(len(nodes) - 1, -1, -1) if isinstance(nodes, list) else ():
            path: Path = ("nodes", index, "completions", "build_action", "input")
            if isinstance(at(document, path), list):
                return path
        return ()


class MiniSweAgent(EmbeddedWire):
    """
    mini-swe-agent trajectories: chat completions messages with an ``extra`` field.

    ``extra`` repeats the provider's response and is kept unread, except for its token counts. The
    entry with the role "exit", the outcome of the run, is not a message.
    """

    name = "mini-swe-agent"
    title = "mini-swe-agent trajectory (.traj.json)"
    wire = OpenAIChatDialect()

    def recognises(self, source: TranscriptSource) -> float:
        """Look for ``trajectory_format`` and ``messages``."""
        kind = str(at(source.document, ("trajectory_format",)))
        found = isinstance(at(source.document, ("messages",)), list)
        return float(found and kind.startswith("mini-swe-agent"))

    def find(self, document: Any) -> Iterable[tuple[str, Path, Any]]:
        """Yield the one conversation of the document."""
        whole = expect(document, dict, None, "")
        entries = expect(whole.get("messages"), list, None, "messages")
        messages = [entry for entry in entries if not _is_exit(entry)]
        yield text_or(whole.get("instance_id"), "run"), ("messages",), messages

    def read(self, wire: Any) -> Transcript:
        """Read messages, and the usage recorded with them."""
        transcript = self.wire.decode(wire)
        return transcript.with_messages([_with_usage(m) for m in transcript.messages])

    def rewrite(self, before: Sequence[Any], place: ConversationPath, there: Transcript) -> Any:
        """Write the messages, followed by the outcome if there was one."""
        silent = [index for index, entry in enumerate(before) if _is_exit(entry)]
        positions = (index for index, entry in enumerate(before) if not _is_exit(entry))
        where = {m.id: index for m, index in zip(place.messages, positions, strict=True)}
        after = ((where.get(m.id), self.write([m])) for m in there.messages)
        return merge_entries(before, silent, after)


def _is_exit(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("role") == "exit"


def _with_usage(message: Message) -> Message:
    usage = read_usage(at(message.raw, ("extra", "response", "usage")))
    return replace(message, usage=usage) if usage else message


# --- Magentic-One --------------------------------------------------------------------------

MAGENTIC_ONE = "magentic-one"
HISTORY: Path = ("history",)
_PEOPLE = ("human", "user")
_LEADER = "Orchestrator"


class MagenticOne(JsonFormat):
    """
    Histories of Magentic-One in the format of the Who&When set: a speaker and a text per entry.

    There are no calls and no ids: the statements of the orchestrator and its agents are assistant
    texts.
    """

    name = MAGENTIC_ONE
    title = "Magentic-One history (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for texts of an orchestrator in a ``history``."""
        entries = at(source.document, HISTORY)
        if not isinstance(entries, list) or not all(map(_is_statement, entries)):
            return 0.0
        return float(any(entry["role"].startswith(_LEADER) for entry in entries))

    def find(self, document: Any) -> Iterator[tuple[str, Path, Any]]:
        """Yield the history as one conversation."""
        yield "history", HISTORY, expect(at(document, HISTORY), list, None, "history")

    def read(self, wire: Any) -> Transcript:
        """Read the entries of a history."""
        return Transcript.of(
            [_read_statement(one, index) for index, one in enumerate(wire)], MAGENTIC_ONE
        )

    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write the history."""
        return [
            m.raw if m.intact and m.dialect == MAGENTIC_ONE else _write_statement(m)
            for m in messages
        ]


def _is_statement(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("role"), str)
        and isinstance(entry.get("content"), str)
    )


def _read_statement(entry: Any, index: int) -> Message:
    if not _is_statement(entry):
        raise InputError("an entry has a role and a content", index=index, field="history")
    role: Role = "user" if entry["role"] in _PEOPLE else "assistant"
    return Message(role, (Text(entry["content"]),), entry, MAGENTIC_ONE)


def _write_statement(message: Message) -> dict[str, Any]:
    own = message.raw if message.dialect == MAGENTIC_ONE and isinstance(message.raw, dict) else {}
    role = "human" if message.role == "user" else f"{_LEADER} (thought)"
    return {"role": role, **own, "content": flat_text(message.parts)}
