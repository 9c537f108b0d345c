"""The tools that are offered over MCP: recall, search, stats, compact, notes and memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from foldline.archive import Archive
from foldline.core.config import Config
from foldline.engine.receipt import Receipt
from foldline.errors import FoldlineError, RecallError, StoreError
from foldline.evaluation.breakdown import by_kind, by_tool
from foldline.frozen import replace
from foldline.memory import Memory
from foldline.recall.fitting import cap, clip
from foldline.session import Session
from foldline.stores.protocol import SessionInfo
from foldline.tokens.choose import choose_counter
from foldline.tools import recall as recalling
from foldline.tools.arguments import object_schema, text_schema
from foldline.tools.description import ToolDescription
from foldline.tools.memory import MemoryTool
from foldline.tools.notes import NOTE as NOTES
from foldline.tools.notes import NoteTool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Action, Tool
from foldline.values.tokens import TokenCounter

ArchiveOpener: TypeAlias = Callable[[], AbstractContextManager[Archive]]
"""Opens the archive for one call, so that it may be created, moved or deleted between calls."""

LISTED: Final = 20
"""Maximum number of sessions, and of tools of a session, listed by stats."""

SESSION: Final = text_schema("Its name; the newest one unless given.")

SEARCH: Final = (
    "Search this and all earlier sessions: decisions, errors, commands, file contents. The best "
    "passages come first, each with its session and the handle under which 'recall' returns the "
    "full text."
)

STATS: Final = (
    "Show the sessions of the archive, or the size of one of them: tokens by kind and by tool, "
    "how full its window is, and the savings of every compaction."
)

COMPACT: Final = (
    "Make a session smaller from its next request on: a snapshot of what matters replaces older "
    "messages, which stay recallable. Use it when a piece of work is done and the next one needs "
    "room; name in 'focus' what must be remembered above all."
)


def archive_opener(path: Path) -> ArchiveOpener:
    """
    Return a function that opens an existing archive.

    Raises:
        StoreError: From that function, if there is no archive.
    """

    def open_archive() -> Archive:
        if not path.exists():
            raise StoreError(f"There is no archive {path} yet: nothing was compacted or recorded.")
        return Archive.open(path)

    return open_archive


# --- reading -------------------------------------------------------------------------------


def recall_tool(opens: ArchiveOpener, limit: int) -> Tool:
    """
    Return the tool ``recall`` over all sessions.

    Args:
        opens: Opens the archive.
        limit: Maximum size of an answer, in tokens.
    """
    known = recalling.RECALL.parameters
    more = {"session": text_schema("Only in this session."), "max_tokens": _page_size(limit)}
    parameters = known | {"properties": known["properties"] | more}

    def run(given: dict[str, Any]) -> ToolOutput:
        arguments = _arguments(given)
        searched = "query" in arguments or "grep" in arguments
        if not searched:
            arguments["max_tokens"] -= recalling.NOTE
        with opens() as archive:
            found = archive.recall(**{"handle": "", **arguments})
        note = "" if searched or not found.note else f"\n[{found.note}]"
        return ToolOutput(f"{found.text}{note}" or "[It is empty.]")

    tool = _tool("recall", recalling.RECALL.description, parameters, run)
    return replace(tool, repair=recalling.repair_arguments)


def _page_size(limit: int) -> dict[str, Any]:
    """Return the schema of the maximum answer size in tokens."""
    least, page = min(recalling.LEAST, limit), min(recalling.PAGE, limit)
    return {"type": "integer", "minimum": least, "maximum": limit, "default": page}


def search_tool(opens: ArchiveOpener, limit: int) -> Tool:
    """
    Return the tool ``search`` over past sessions.

    Args:
        opens: Opens the archive.
        limit: Maximum size of an answer, in tokens.
    """
    description = "The question, with names and words that the text may use."
    parameters = object_schema(
        "query",
        query=text_schema(description, maxLength=2_000),
        session=text_schema("Only in this session."),
        before=text_schema("Only sessions before this day, such as 2026-01-31."),
        start=recalling.RECALL.arguments["start"],
        max_tokens=_page_size(limit),
    )

    def run(given: dict[str, Any]) -> ToolOutput:
        arguments = _arguments(given)
        if "before" in arguments:
            arguments["before"] = _day(arguments["before"])
        arguments["max_tokens"] -= recalling.NOTE
        with opens() as archive:
            whole = 1 if "session" in arguments else len(archive.sessions())
            found = archive.search(**{"query": "", **arguments})
        text = found.text or "[Nothing was found.]"
        if found.searched < whole and "before" not in arguments:
            read = f"The newest {found.searched:,} of {whole:,} sessions were searched"
            text += f"\n[{read}; 'before' reaches older ones.]"
        return ToolOutput(text)

    return _tool("search", SEARCH, parameters, run)


def _day(text: str) -> float:
    try:
        return datetime.fromisoformat(text[:40]).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError) as error:
        raise RecallError(f"{text[:40]!r} is not a day.", hint="Write 2026-01-31.") from error


def stats_tool(opens: ArchiveOpener) -> Tool:
    """Return the tool ``stats``, of the archive or of one session."""
    parameters = object_schema(session=text_schema("Its name; all unless given."))

    def run(given: dict[str, Any]) -> ToolOutput:
        with opens() as archive:
            sessions = archive.sessions()
            name = given.get("session", "")
            if not name:
                head = f"{len(sessions):,} sessions, {archive.size():,} bytes; the newest:"
                return ToolOutput("\n".join([head, *map(_line, sessions[:LISTED])]))
            messages, receipts = archive.messages(name), archive.receipts(name)
        info = next(info for info in sessions if info.head.name == name)
        counter = TokenCounter(choose_counter(info.head.model or None))
        kinds = [f"{one.name} {one.tokens:,}" for one in by_kind(messages, counter)]
        tools = [f"{one.name} {one.tokens:,}" for one in by_tool(messages, counter)[:LISTED]]
        lines = [
            _line(info),
            f"All of it takes {counter.messages(messages):,} tokens: {', '.join(kinds)}.",
            f"By tool: {', '.join(tools) or 'none'}.",
            *_compactions(receipts),
        ]
        return ToolOutput("\n".join(lines))

    return _tool("stats", STATS, parameters, run)


def _line(info: SessionInfo) -> str:
    day = datetime.fromtimestamp(min(max(0.0, info.updated), 4e9), UTC)
    window = f", window {info.head.window:,}" if info.head.window else ""
    model = f"{info.head.model or info.head.dialect}{window}"
    counts = f"{info.messages:,} messages, {info.batches:,} compactions"
    return f"{info.head.name} · {model} · {counts} · {day:%Y-%m-%d %H:%M} UTC"


def _compactions(receipts: tuple[Receipt, ...]) -> list[str]:
    done = [receipt for receipt in receipts if receipt.status == "compacted"]
    saved = sum(receipt.tokens_before - receipt.tokens_after for receipt in done)
    head = f"{len(done):,} compactions removed {saved:,} tokens from the view."
    return [head, *(f"- {receipt}" for receipt in done[-LISTED:])]


# --- changing ------------------------------------------------------------------------------


def compact_tool(path: Path, opens: ArchiveOpener, config: Config) -> Tool:
    """
    Return the tool ``compact``, which takes a focus and changes a session in the archive.

    Args:
        path: The archive.
        opens: Opens it.
        config: Settings of the compaction.
    """
    longest = recalling.COMPACT.arguments["focus"]["maxLength"]
    focus = {"type": "string", "maxLength": longest, "default": ""}
    parameters = object_schema(focus=focus, session=SESSION)

    def run(given: dict[str, Any]) -> ToolOutput:
        with opens() as archive:
            newest = next((info.head.name for info in archive.sessions()), "")
            name = given.get("session") or newest
            archive.receipts(name)  # it must exist: opening a session would create it
        with Session.open(path, name, config=config) as session:
            receipt = session.compact(force=True, focus=given["focus"].strip())
        text = f"Session {name}: {receipt}"
        if receipt.status == "failed":
            return ToolOutput.error(ErrorCode.EXECUTION, text)
        return ToolOutput(text)

    return _tool("compact", COMPACT, parameters, run, write=True)


# --- notes and memory ----------------------------------------------------------------------

NOTE_READS: Final = ("read", "search", "list", "summary", "tasks")
MEMORY_READS: Final = ("search", "list", "summary", "stats")
NOTE_WRITES: Final = ("create", "update", "delete", "restore", "task", "progress")


def notes_tool(folder: Path, *, write: bool) -> Tool:
    """
    Return the tool ``note``.

    Args:
        folder: The folder of the notes.
        write: Whether notes may be created and changed.
    """

    def run(given: dict[str, Any]) -> ToolOutput:
        if given["action"] in NOTE_READS and not folder.is_dir():
            return ToolOutput("There are no notes yet.")
        return NoteTool(folder).tool.run(given)

    actions = (*NOTE_READS, *(NOTE_WRITES if write else ()))
    parameters, description = _for_actions(actions, NOTES, write)
    return _tool("note", description, parameters, run, write=write)


def memory_tool(file: Path, user: str, *, write: bool) -> Tool:
    """
    Return the tool ``memory``.

    Args:
        file: The memory database.
        user: The user whose memories are accessed.
        write: Whether memories may be added, changed and forgotten.
    """

    def run(given: dict[str, Any]) -> ToolOutput:
        if given["action"] in MEMORY_READS and not file.exists():
            return ToolOutput("Nothing is remembered yet.")
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with MemoryTool(memory=Memory.open(file, user=user)) as memory:
            return memory.output(**given)

    actions = MemoryTool.described.models if write else MEMORY_READS
    parameters, description = _for_actions(actions, MemoryTool.described, write)
    return _tool("memory", description, parameters, run, write=write)


def _for_actions(
    actions: Collection[str], known: ToolDescription, write: bool
) -> tuple[dict[str, Any], str]:
    """Return parameters and description of a tool restricted to some actions."""
    action = {"type": "string", "enum": list(actions)}
    note = "" if write else f" It is read-only here: {', '.join(actions)}."
    return object_schema("action", action=action, **known.arguments), f"{known.description}{note}"


# --- shared by all tools -------------------------------------------------------------------


def _tool(
    name: str, description: str, parameters: dict[str, Any], run: Action, *, write: bool = False
) -> Tool:
    """Return a tool whose errors are results that the model can act on."""

    def safe(given: dict[str, Any]) -> ToolOutput:
        try:
            return run(given)
        except (FoldlineError, OSError) as error:
            code = ErrorCode.NOT_FOUND if isinstance(error, RecallError) else ErrorCode.UNAVAILABLE
            return ToolOutput.error(code, str(error))

    label = "write" if write else "read"
    return Tool(name, description, parameters, safe, labels=frozenset({label}))


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call without empty strings, which models write for "none"."""
    return {name: value for name, value in given.items() if value != ""}


NOTE: Final = 40
"""Tokens reserved for the note about the cut."""


def limit_answers(tool: Tool, limit: int, counter: TokenCounter) -> Tool:
    """
    Return a tool whose answers are cut if they are too long, with a note about it.

    Args:
        tool: The tool.
        limit: Maximum size of an answer, in tokens.
        counter: Counts the tokens.
    """
    whole, part = cap(limit, None, counter), cap(max(1, limit - NOTE), None, counter)

    def run(given: dict[str, object]) -> ToolOutput:
        output = tool.action(given)
        if whole(output.text):
            return output
        text = clip(output.text, part)
        left = len(output.text) - len(text)
        note = f"[{left:,} more characters were cut: request less, such as with 'limit'.]"
        status = output.status if output.status == "error" else "partial"
        return replace(output, text=f"{text}\n{note}", status=status)

    return replace(tool, action=run)
