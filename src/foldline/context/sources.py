"""Sources of packets: tools, stores, folders, functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from foldline.context.packets import ContextPacket
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.values.messages import Message as Recorded
from foldline.values.messages import visible_texts

MOST_HISTORY: Final = 10_000
"""Maximum messages of a conversation, the newest ones."""

MOST_BYTES: Final = 256_000
"""Maximum bytes of a file to read."""

MOST_FILES: Final = 500

IMPORTANT: Final = 5
"""Number of memories that are candidates by importance, for any query."""

IMPORTANCE: Final = 0.7
"""Their minimum importance."""

STANDING: Final = 0.5
"""Their relevance as a fraction of their importance."""

STORES: Final = ("memory", "knowledge", "notes")
"""Attribute names under which a tool may expose its store."""

PEEK: Final = 200
"""Bytes of a file quoted in a reference to it."""


@frozen
class ContextSource:
    """
    A source of information about a query.

    Args:
        name: Its name in reports.
        fetch: Takes the query and returns packets, or anything that
            `foldline.context.gathering.packets_from` reads; a plain function, which runs in a
            thread, or an async one.
        type: The default type of its packets.
        seconds: Its timeout; None for the configured one.
        searches: Whether it returns search results, best first; the rank then counts as a
            reason to include them, even if they share no words with the query.
    """

    name: str
    fetch: Callable[[str], Any] = field(repr=False)
    type: str = "general"
    seconds: float | None = None
    searches: bool = False


def source(thing: Any, name: str = "", kind: str = "") -> ContextSource:
    """
    Make a source from a tool, a store or a function.

    Args:
        thing: A `ContextSource`; an object with ``packets(query)``,
            ``execute("search", query=…)`` or ``search(query)``; or a function of the query.
        name: Its name in reports; default: the name of its class or function.
        kind: The type of its packets.

    Raises:
        InputError: It has no such method.
    """
    if isinstance(thing, ContextSource):
        return thing
    called = name or getattr(thing, "__name__", "") or type(thing).__name__
    for method in ("packets", "search"):
        fetch = getattr(thing, method, None)
        if callable(fetch):
            return ContextSource(called, fetch, kind or "general", searches=True)
    if callable(getattr(thing, "execute", None)):
        return _tool(thing, called, kind or "general")
    if callable(thing):
        return ContextSource(called, thing, kind or "general", searches=True)
    raise InputError(
        f"a {type(thing).__name__} cannot be a source of packets",
        field="sources",
        hint="Give a function of the query, or an object with packets(query) or search(query).",
    )


def memory_source(tool: Any) -> ContextSource:
    """
    Make a source from a memory tool: a search for ten memories of some importance.

    The five most important ones are always candidates as well: the state of the work
    and past decisions seldom share a word with the next question.
    """
    found = _tool(tool, "memory", "memory", limit=10, min_importance=0.3)
    inner = getattr(tool, "memory", tool)
    listing = getattr(inner, "items", None)
    if not callable(listing) or "min_importance" not in inspect.signature(listing).parameters:
        return found

    def fetch(query: str) -> list[Any]:
        hits = list(found.fetch(query))
        known = {getattr(getattr(hit, "item", hit), "id", None) for hit in hits}
        standing = listing(limit=IMPORTANT, min_importance=IMPORTANCE, order="importance")
        return [*hits, *(_standing(item) for item in standing if item.id not in known)]

    return replace(found, fetch=fetch)


def _standing(item: Any) -> ContextPacket:
    """Make a packet from a memory that matters for any question, but less than an answer."""
    metadata = {**item.metadata, "type": "memory", "source": "memory", "id": item.id}
    relevance = item.importance * STANDING
    return ContextPacket(item.content, item.happened, relevance_score=relevance, metadata=metadata)


def knowledge_source(tool: Any) -> ContextSource:
    """Make a source from a knowledge tool: a search for five passages."""
    return _tool(tool, "knowledge", "rag_result", limit=5, min_score=0.3)


def _tool(tool: Any, name: str, kind: str, **settings: Any) -> ContextSource:
    """Make a source from a tool, or from its store if exposed, since text output loses fields."""
    for inner in (getattr(tool, store, None) for store in STORES):
        found = getattr(inner, "packets", None) or getattr(inner, "search", None)
        if callable(found):
            known = inspect.signature(found).parameters
            given = {key: value for key, value in settings.items() if key in known}
            return ContextSource(name, partial(found, **given), kind, searches=True)
    if not callable(getattr(tool, "execute", None)):
        return source(tool, name, kind)

    def fetch(query: str) -> Any:
        return tool.execute("search", query=query, **settings)

    return ContextSource(name, fetch, kind, searches=True)


def history(messages: Iterable[Any]) -> tuple[ContextPacket, ...]:
    """
    Make packets from a conversation, one per non-empty message.

    Args:
        messages: `HistoryMessage` values, messages of a transcript, mappings with "role" and
            "content", or any objects that have these.

    Raises:
        InputError: One of them is not a message; the error names it.
    """
    rows = [(index, *_read_message(message, index)) for index, message in enumerate(messages)]
    return tuple(
        ContextPacket(
            f"{role}: {text}",
            when,
            metadata={"type": "conversation_history", "role": role, "position": index},
        )
        for index, role, text, when in rows[-MOST_HISTORY:]
        if text.strip()
    )


def _read_message(message: Any, index: int) -> tuple[str, str, Any]:
    if isinstance(message, Recorded):
        return message.role, "\n".join(visible_texts(message)), None
    names = ("role", "content", "timestamp")
    if isinstance(message, Mapping):
        role, content, when = map(message.get, names)
    else:
        role, content, when = (getattr(message, name, None) for name in names)
    text = content if isinstance(content, str) else "\n".join(_blocks(content))
    if not isinstance(role, str) or (content is None and not isinstance(message, Mapping)):
        raise InputError("this is not a message: it has no role or no content", index=index)
    return role, text, when


def field_of(value: Any, name: str) -> Any:
    """Return an entry of a mapping, or an attribute of an object; None if it is missing."""
    if isinstance(value, Mapping):
        return value.get(name)
    found = None if isinstance(value, (str, bytes, list, tuple)) else getattr(value, name, None)
    return None if callable(found) else found


def _blocks(content: Any) -> Iterator[str]:
    for block in content if isinstance(content, (list, tuple)) else ():
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def files(paths: Iterable[str | os.PathLike[str]]) -> ContextSource:
    """Make a source that loads whole files, each as a packet; binary files are skipped."""
    chosen = tuple(Path(path) for path in paths)
    return ContextSource("files", lambda _: [*_load(chosen, MOST_BYTES)], "file")


def references(paths: Iterable[str | os.PathLike[str]]) -> ContextSource:
    """
    Make a source of references to files (path, size, first words), for tools to load later.

    This is just-in-time loading: a reference costs about twenty tokens, for a file of any size.
    """
    chosen = tuple(Path(path) for path in paths)

    def list_files(_: str) -> list[ContextPacket]:
        lines = []
        for packet in _load(chosen, PEEK):
            first = next(
                (line.strip() for line in packet.content.splitlines() if line.strip()), ""
            )
            path, size = packet.metadata["path"], packet.metadata["bytes"]
            lines.append(f"{path} ({size:,} bytes): {first[:80]}")
        listed = "\n".join(lines)
        return [ContextPacket(listed, metadata={"type": "references"})] if listed else []

    return ContextSource("references", list_files, "references")


def _load(paths: Iterable[Path], most: int) -> Iterator[ContextPacket]:
    for path in [*_walk(paths)][:MOST_FILES]:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  # a descriptor
            status = os.fstat(file.fileno())
            data = file.read(most)
        if b"\0" in data:
            continue
        yield ContextPacket(
            data.decode("utf-8", "replace"),
            status.st_mtime,
            metadata={"type": "file", "path": str(path), "bytes": status.st_size},
        )


def _walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield regular files, those of folders in order, without hidden files and links in them."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                inside
                for inside in path.rglob("*")
                if inside.is_file()
                and not inside.is_symlink()
                and not any(part.startswith(".") for part in inside.relative_to(path).parts)
            )
        elif path.is_file():
            yield path
        else:
            raise InputError(f"{path} is not a readable file", hint="Name files or folders.")
